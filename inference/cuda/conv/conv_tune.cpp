// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/conv/conv_tune.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "inference/cuda/device/devices.h"

// A hash of the kernels' sources, so that a choice that was measured with other kernels is measured again.
#ifndef MATTE_KERNEL_VERSION
#error "Define MATTE_KERNEL_VERSION: inference/cuda/CMakeLists.txt does."
#endif

namespace matte {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kCandidates = 8;
constexpr auto kLimit = std::chrono::milliseconds(1500);  // of one size; a layer under way is finished
constexpr double kRunMs = 0.25;                           // of one measurement, as far as kMaxCalls go
constexpr int kMaxCalls = 10, kRuns = 5;

/// Everything besides the problem that a time depends on.
std::string deviceText(const DeviceFacts& facts) {
    int index = 0;
    CUDA_CHECK(cudaGetDevice(&index));
    const CudaStatus status = queryCuda();
    const std::string name = std::size_t(index) < status.devices.size() ? status.devices[std::size_t(index)].name : "";
    return name + ", " + std::to_string(facts.major) + "." + std::to_string(facts.minor) + ", " +
           std::to_string(facts.multiprocessors) + " multiprocessors, driver " + status.driverVersion + ", kernels " +
           MATTE_KERNEL_VERSION;
}

std::string problemText(const ConvShape& shape, ConvKernel kernel) {
    const std::array<const char*, 3> kernels{"mma", "sm90", "fp32"};
    const char* const kind = shape.kind == ConvKind::up2x2       ? " up2x2 "
                             : shape.kind == ConvKind::pointwise ? " pointwise "
                                                                 : " conv3x3 ";
    return std::string(kernels[std::size_t(kernel) - 1]) + kind + std::to_string(shape.batch) + "x" +
           std::to_string(shape.height) + "x" + std::to_string(shape.width) + " " + std::to_string(shape.in0Channels) +
           "+" + std::to_string(shape.in1Channels) + "->" + std::to_string(shape.outChannels) +
           (shape.pooled ? " pooled" : "") + (shape.head ? " head" : "") + (shape.added ? " added" : "");
}

std::vector<std::string> textsOf(const std::vector<ConvConfig>& configs) {
    std::vector<std::string> texts;
    texts.reserve(configs.size());
    for (const ConvConfig& config : configs) texts.push_back(config.text());
    return texts;
}

bool matches(const UNet& unet, const Conv& layer, const ConvShape& shape) {
    const auto channels = [&](int tensor) {
        return tensor == kNoTensor ? 0 : unet.tensors()[std::size_t(tensor)].channels;
    };
    return layer.kind == shape.kind && layer.stride == shape.stride && channels(layer.in0) == shape.in0Channels &&
           channels(layer.in1) == shape.in1Channels && channels(layer.out) == shape.outChannels &&
           (layer.pooled != kNoTensor) == shape.pooled && (layer.added != kNoTensor) == shape.added &&
           1 << (unet.levels() - 1 - unet.tensors()[std::size_t(layer.in0)].level) == shape.widthMultiple;
}

}  // namespace

/// One layer alone, with its own inputs and the model's weights: operand values affect the power draw, and so the
/// clock.
class ConvTuner::Bench {
public:
    Bench(const CudaWeights& weights, const CudaWeights::Layer& layer, const ConvShape& shape)
        : shape_(shape), device_(weights.device()) {
        const std::size_t pixels = std::size_t(shape.batch) * shape.height * shape.width;
        const auto bytes = [&](int channels) {
            return pixels * std::size_t(paddedChannels(channels)) * std::size_t(valueBytes(weights.kernel()));
        };
        in0_ = filled(bytes(shape.in0Channels));
        in1_ = filled(bytes(shape.in1Channels));
        out_ = DeviceBuffer(bytes(shape.outChannels) * (shape.kind == ConvKind::up2x2 ? 4 : 1));
        if (shape.pooled) pooled_ = DeviceBuffer(bytes(shape.outChannels) / 4);
        if (shape.added) added_ = filled(bytes(shape.outChannels));
        buffers_ = {
            in0_.data(), in1_.data(),  out_.data(), pooled_.data(), layer.weights.data(), layer.bias.as<float>(),
            {},          added_.data()};
        if (shape.head) {
            alpha_ = DeviceBuffer(pixels * sizeof(float));
            const CudaWeights::Layer& head = weights.layers().back();
            buffers_.head = {head.weights.as<float>(), head.bias.as<float>(), alpha_.as<float>()};
        }
        CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));
    }

    /// Milliseconds of one run among others of the same layer: the median of a few.
    [[nodiscard]] double medianMs(const ConvConfig& config) const {
        const ConvLaunch launch(shape_, config, buffers_, device_);
        launch(stream_.get());  // loads the kernel
        start_.record(stream_.get());
        launch(stream_.get());
        end_.record(stream_.get());
        end_.wait();
        const double once = std::max(1e-3, double(end_.msSince(start_)));
        const int calls = std::clamp(int(kRunMs / once), 1, kMaxCalls);
        const Graph graph(stream_.get(), [&] {
            for (int i = 0; i < calls; ++i) launch(stream_.get());
        });
        std::array<double, kRuns> times{};
        for (double& ms : times) {
            start_.record(stream_.get());
            graph.launch(stream_.get());
            end_.record(stream_.get());
            end_.wait();
            ms = double(end_.msSince(start_)) / calls;
        }
        std::ranges::nth_element(times, times.begin() + kRuns / 2);
        return times[kRuns / 2];
    }

private:
    static DeviceBuffer filled(std::size_t bytes) {
        DeviceBuffer buffer(bytes);
        if (bytes > 0) CUDA_CHECK(cudaMemset(buffer.data(), 0x2c, bytes));  // 0.065 as a half, 2.4e-12 as a float
        return buffer;
    }

    ConvShape shape_;
    DeviceFacts device_;
    Stream stream_;
    Event start_, end_;
    DeviceBuffer in0_, in1_, out_, pooled_, added_, alpha_;
    ConvBuffers buffers_;
};

ConvTuner::ConvTuner(std::shared_ptr<const CudaWeights> weights, std::filesystem::path file)
    : weights_(std::move(weights)), cache_(std::move(file), deviceText(weights_->device())) {}

ConvTuner::~ConvTuner() {
    cache_.save();
}

ConvConfig ConvTuner::operator()(const ConvShape& shape, const std::vector<ConvConfig>& ranked) {
    const std::vector<Conv>& layers = weights_->unet().layers();
    const auto isThis = [&](const Conv& layer) { return matches(weights_->unet(), layer, shape); };
    const auto found = std::ranges::find_if(layers, isThis);
    if (found == layers.end() || ranked.size() < 2) return ranked.front();
    const std::string problem = problemText(shape, ranked.front().kernel);
    const std::vector<std::string> texts = textsOf(ranked);
    // A size ends with the last layer before the head.
    const bool last = layers.size() > 1 && isThis(layers[layers.size() - 2]);
    std::size_t best = 0;
    if (const auto known = cache_.find(problem, texts)) {
        best = *known;
    } else if (spent_ < kLimit) {
        const auto start = Clock::now();
        fitsMemory([&] {
            const Bench bench(*weights_, weights_->layers()[std::size_t(found - layers.begin())], shape);
            best =
                fastest(std::min(ranked.size(), kCandidates), [&](std::size_t i) { return bench.medianMs(ranked[i]); });
            cache_.remember(problem, texts[best]);
        });
        spent_ += Clock::now() - start;
    }
    if (last) {
        cache_.save();
        spent_ = {};
    }
    return ranked[best];
}

CudaNetwork::Choose ConvTuner::choose(std::shared_ptr<const CudaWeights> weights) {
    return [tuner = std::make_shared<ConvTuner>(std::move(weights))](
               const ConvShape& shape, const std::vector<ConvConfig>& ranked) { return (*tuner)(shape, ranked); };
}

}  // namespace matte
