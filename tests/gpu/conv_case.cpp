// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/conv_case.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/gpu/reference_conv.h"
#include "tests/support/oracle.h"

namespace matte::test {
namespace {

constexpr std::size_t kGuardBytes = 4096;
constexpr int kPoison = 0xFF;  // a NaN in every type

std::vector<__half> randomHalves(std::size_t count, unsigned seed) {
    const oracle::Activation noise = oracle::noise(1, 1, int(count), seed);
    std::vector<__half> halves(count);
    std::ranges::transform(noise.values, halves.begin(), [](float value) { return __float2half_rn(value); });
    return halves;
}

template <typename T>
DeviceBuffer upload(const std::vector<T>& values) {
    DeviceBuffer buffer(values.size() * sizeof(T));
    CUDA_CHECK(cudaMemcpy(buffer.data(), values.data(), buffer.bytes(), cudaMemcpyHostToDevice));
    return buffer;
}

/// Dense pixels of `channels` as pixels of paddedChannels, zeros behind.
std::vector<__half> padded(const std::vector<__half>& dense, int channels) {
    const std::size_t stride = std::size_t(paddedChannels(channels)), pixels = dense.size() / std::size_t(channels);
    std::vector<__half> result(pixels * stride, __float2half_rn(0.0F));
    for (std::size_t i = 0; i < pixels; ++i) {
        std::copy_n(dense.begin() + std::ptrdiff_t(i * channels), channels,
                    result.begin() + std::ptrdiff_t(i * stride));
    }
    return result;
}

/// An output buffer back on the host, its guard checked and its padding stripped.
struct Fetched {
    std::vector<float> values;
    bool paddingZero = true, guardIntact = true;
};

Fetched fetch(const DeviceBuffer& buffer, int channels) {
    std::vector<__half> raw(buffer.bytes() / sizeof(__half));
    CUDA_CHECK(cudaMemcpy(raw.data(), buffer.data(), buffer.bytes(), cudaMemcpyDeviceToHost));
    const std::size_t count = raw.size() - kGuardBytes / sizeof(__half), stride = std::size_t(paddedChannels(channels));
    Fetched fetched;
    for (std::size_t i = 0; i < count; ++i) {
        const float value = __half2float(raw[i]);
        if (int(i % stride) < channels) {
            fetched.values.push_back(value);
        } else {
            fetched.paddingZero = fetched.paddingZero && value == 0;
        }
    }
    const auto* guard = reinterpret_cast<const unsigned char*>(raw.data() + count);
    fetched.guardIntact = std::all_of(guard, guard + kGuardBytes, [](unsigned char b) { return b == kPoison; });
    return fetched;
}

std::vector<float> maxPooled(const std::vector<float>& values, const ConvShape& shape) {
    std::vector<float> pooled;
    const int channels = shape.outChannels;
    const auto at = [&](int n, int y, int x, int c) {
        return values[((std::size_t(n) * shape.height + y) * shape.width + x) * channels + c];
    };
    for (int n = 0; n < shape.batch; ++n) {
        for (int y = 0; y + 1 < shape.height; y += 2) {
            for (int x = 0; x + 1 < shape.width; x += 2) {
                for (int c = 0; c < channels; ++c) {
                    pooled.push_back(
                        std::max({at(n, y, x, c), at(n, y, x + 1, c), at(n, y + 1, x, c), at(n, y + 1, x + 1, c)}));
                }
            }
        }
    }
    return pooled;
}

}  // namespace

ConvCase::ConvCase(const ConvShape& shape, unsigned seed) : shape_(shape), device_(DeviceFacts::current()) {
    const int inputs = shape.in0Channels + shape.in1Channels;
    filter_ = oracle::randomFilter(shape.outChannels, inputs, shape.kind == ConvKind::up2x2 ? 2 : 3, seed);
    for (float& weight : filter_.weights) weight = __half2float(__float2half_rn(weight));
    const std::size_t pixels = std::size_t(shape.batch) * shape.height * shape.width;
    for (int i = 0; i < 2; ++i) {
        const int channels = i == 0 ? shape.in0Channels : shape.in1Channels;
        if (channels == 0) continue;
        host_[i] = randomHalves(pixels * std::size_t(channels), seed + 1 + unsigned(i));
        in_[i] = upload(padded(host_[i], channels));
    }
    const std::size_t perPixel = std::size_t(paddedChannels(shape.outChannels)) * sizeof(__half);
    out_ = DeviceBuffer(pixels * perPixel * (shape.kind == ConvKind::up2x2 ? 4 : 1) + kGuardBytes);
    if (shape.pooled) pooled_ = DeviceBuffer(pixels / 4 * perPixel + kGuardBytes);
}

const ConvCase::Weights& ConvCase::weightsFor(int chunk) {
    auto found = packed_.find(chunk);
    if (found == packed_.end()) {
        const PackedFilter packed = packFilter(filter_, shape_, chunk);
        found = packed_.emplace(chunk, Weights{upload(packed.weights), upload(packed.bias)}).first;
    }
    return found->second;
}

ConvLaunch ConvCase::launch(const ConvConfig& config) {
    const Weights& packed = weightsFor(config.chunk);
    const ConvBuffers buffers{in_[0].data(),  in_[1].data(),         out_.data(),
                              pooled_.data(), packed.weights.data(), packed.bias.as<float>()};
    return ConvLaunch(shape_, config, buffers, device_);
}

void ConvCase::computeReference() {
    const DeviceBuffer in0 = upload(host_[0]), in1 = upload(host_[1]);
    const DeviceBuffer weights = upload(filter_.weights), bias = upload(filter_.bias);
    const int scale = shape_.kind == ConvKind::up2x2 ? 4 : 1;
    expected_.resize(std::size_t(shape_.batch) * shape_.height * shape_.width * shape_.outChannels * scale);
    const DeviceBuffer out(expected_.size() * sizeof(float));
    referenceConv(shape_, in0.as<__half>(), in1.as<__half>(), weights.as<float>(), bias.as<float>(), out.as<float>());
    CUDA_CHECK(cudaMemcpy(expected_.data(), out.data(), out.bytes(), cudaMemcpyDeviceToHost));
}

CheckResult ConvCase::check(const ConvConfig& config) {
    if (expected_.empty()) computeReference();
    CUDA_CHECK(cudaMemset(out_.data(), kPoison, out_.bytes()));
    if (shape_.pooled) CUDA_CHECK(cudaMemset(pooled_.data(), kPoison, pooled_.bytes()));
    CUDA_CHECK(cudaDeviceSynchronize());
    const Stream stream;
    launch(config)(stream.get());
    stream.wait();
    CheckResult result;
    const Fetched out = fetch(out_, shape_.outChannels);
    result.nmse = oracle::nmse(expected_, out.values);
    result.paddingZero = out.paddingZero;
    result.guardIntact = out.guardIntact;
    if (shape_.pooled) {
        const Fetched pooled = fetch(pooled_, shape_.outChannels);
        result.pooledNmse = oracle::nmse(maxPooled(expected_, shape_), pooled.values);
        result.paddingZero = result.paddingZero && pooled.paddingZero;
        result.guardIntact = result.guardIntact && pooled.guardIntact;
    }
    return result;
}

std::string text(const ConvShape& shape) {
    const std::string inputs =
        std::to_string(shape.in0Channels) + (shape.in1Channels > 0 ? "+" + std::to_string(shape.in1Channels) : "");
    return std::string(shape.kind == ConvKind::up2x2 ? "up2x2 " : "conv3x3 ") + std::to_string(shape.batch) + "x" +
           std::to_string(shape.height) + "x" + std::to_string(shape.width) + " " + inputs + "->" +
           std::to_string(shape.outChannels) + (shape.pooled ? " pool" : "");
}

}  // namespace matte::test
