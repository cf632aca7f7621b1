// SPDX-License-Identifier: Apache-2.0
// Baselines 7 to 9 of the GPU: the product's own convolutions, called as they are: the matrix product of baseline 5
// whose columns are never written, in single precision, on tensor cores by mma.sync, and on Hopper's by wgmma and TMA.
// Their layout is [N, H, W, C] with channels padded to eight, halves on tensor cores; the whole network never leaves
// it. See inference/cuda/conv/conv.h. These convolutions always end in a ReLU.
#include <cuda_fp16.h>

#include <vector>

#include "inference/baselines/gpu/for_each.cuh"
#include "inference/core/stopwatch.h"
#include "inference/cuda/cuda_network.h"

namespace matte::baselines {
namespace {

/// [N, C, H, W] floats to [N, H, W, padded] values; what is past C becomes zero. One thread a value of `to`.
template <typename Value>
void pack(const float* from, void* to, const Shape& shape, cudaStream_t stream) {
    const int padded = paddedChannels(shape.channels);
    const auto one = [from, values = static_cast<Value*>(to), channels = shape.channels, padded,
                      pixels = shape.pixels()] __device__(std::size_t i) {
        const std::size_t c = i % padded, pixel = i / padded;
        values[i] = c < channels ? Value(from[(pixel / pixels * channels + c) * pixels + pixel % pixels]) : Value(0.0F);
    };
    launchEach(std::size_t(shape.batch) * shape.pixels() * padded, one, stream);
}

template <typename Value>
void unpack(const void* from, float* to, const Shape& shape, cudaStream_t stream) {
    const auto one = [values = static_cast<const Value*>(from), to, channels = shape.channels,
                      padded = paddedChannels(shape.channels), pixels = shape.pixels()] __device__(std::size_t i) {
        const std::size_t pixel = i % pixels, c = i / pixels % channels, image = i / pixels / channels;
        to[i] = float(values[(image * pixels + pixel) * padded + c]);
    };
    launchEach(shape.floats(), one, stream);
}

class Implicit final : public Layer {
public:
    Implicit(const Block& block, const Shape& in, ConvKernel kernel)
        : in_(in), out_{in.batch, block.filter.outChannels, in.height, in.width}, kernel_(kernel) {
        const ConvShape shape{ConvKind::conv3x3, in.batch, in.height, in.width, in.channels, 0, out_.channels, false};
        const DeviceFacts device = DeviceFacts::current();
        const ConvConfig config = rankedConfigs(shape, device, kernel).front();
        const PackedFilter packed = packFilter(folded(block), shape, config);
        weights_ = DeviceBuffer(packed.weights.size());
        CUDA_CHECK(cudaMemcpy(weights_.data(), packed.weights.data(), weights_.bytes(), cudaMemcpyHostToDevice));
        bias_ = uploaded(packed.bias);
        const auto bytes = [&](const Shape& s) {
            return std::size_t(s.batch) * s.pixels() * paddedChannels(s.channels) * valueBytes(kernel);
        };
        packedIn_ = DeviceBuffer(bytes(in_));
        packedOut_ = DeviceBuffer(bytes(out_));
        launch_ = std::make_unique<ConvLaunch>(
            shape, config,
            ConvBuffers{packedIn_.data(), nullptr, packedOut_.data(), nullptr, weights_.data(), bias_.as<float>()},
            device);
    }
    void load(const float* in, StreamHandle stream) override {
        (kernel_ == ConvKernel::fp32 ? pack<float> : pack<__half>)(in, packedIn_.data(), in_, stream);
    }
    void run(int, const float*, float*, StreamHandle stream) override { (*launch_)(stream, false); }
    void store(float* out, StreamHandle stream) override {
        (kernel_ == ConvKernel::fp32 ? unpack<float> : unpack<__half>)(packedOut_.data(), out, out_, stream);
    }

private:
    Shape in_, out_;
    ConvKernel kernel_;
    DeviceBuffer weights_, bias_, packedIn_, packedOut_;
    std::unique_ptr<ConvLaunch> launch_;
};

class Product final : public NetworkImplementation {
public:
    Product(const ModelPointer& model, ConvKernel kernel) : network_(model->unet, kernel), kernel_(kernel) {}

    void configure(Size size) override {
        network_.configure(size);
        input_ = DeviceBuffer(size.pixels() * 3 * sizeof(float));
    }
    RunReport run(std::span<const float> input, std::span<float> alpha) override {
        const Stopwatch watch;
        CUDA_CHECK(cudaMemcpyAsync(input_.data(), input.data(), input_.bytes(), cudaMemcpyHostToDevice, stream_.get()));
        start_.record(stream_.get());
        // A picture of one row of pixels, each an "image" of three channels: [H, W, 3] as it comes.
        const Shape shape{int(network_.size().pixels()), 3, 1, 1};
        const auto packed = kernel_ == ConvKernel::fp32 ? pack<float> : pack<__half>;
        packed(input_.as<float>(), network_.input(), shape, stream_.get());
        network_.forward(stream_.get());
        end_.record(stream_.get());
        CUDA_CHECK(
            cudaMemcpyAsync(alpha.data(), network_.alpha(), alpha.size_bytes(), cudaMemcpyDeviceToHost, stream_.get()));
        stream_.wait();
        return {watch.ms(), double(end_.msSince(start_)), {{"down1", 1, 0}}, input_.bytes(), alpha.size_bytes()};
    }
    [[nodiscard]] std::vector<float> activation(int) const override { return {}; }  // their memory is used again

private:
    CudaNetwork network_;
    ConvKernel kernel_;
    Stream stream_;
    Event start_, end_;
    DeviceBuffer input_;
};

}  // namespace

std::unique_ptr<Layer> makeImplicitFp32(const Block& block, const Shape& in) {
    return std::make_unique<Implicit>(block, in, ConvKernel::fp32);
}
std::unique_ptr<Layer> makeImplicitMma(const Block& block, const Shape& in) {
    return std::make_unique<Implicit>(block, in, ConvKernel::mma);
}
std::unique_ptr<Layer> makeImplicitSm90(const Block& block, const Shape& in) {
    return std::make_unique<Implicit>(block, in, ConvKernel::sm90);
}
std::unique_ptr<NetworkImplementation> makeProductFp32(const ModelPointer& model) {
    return std::make_unique<Product>(model, ConvKernel::fp32);
}
std::unique_ptr<NetworkImplementation> makeProductMma(const ModelPointer& model) {
    return std::make_unique<Product>(model, ConvKernel::mma);
}
std::unique_ptr<NetworkImplementation> makeProductSm90(const ModelPointer& model) {
    return std::make_unique<Product>(model, ConvKernel::sm90);
}

}  // namespace matte::baselines
