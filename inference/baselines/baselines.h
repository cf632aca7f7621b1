// SPDX-License-Identifier: Apache-2.0
// The baselines: a function that makes the layers of each. implementation.h finds them by name. Any thread; each layer
// belongs to one thread at a time.
#pragma once

#include <array>
#include <type_traits>
#include <utility>

#include "inference/baselines/implementation.h"

namespace matte::baselines {

template <typename Run>
class FunctionLayer final : public Layer {
public:
    explicit FunctionLayer(Run run) : run_(std::move(run)) {}
    void run(int, const float* in, float* out, StreamHandle stream) override { run_(in, out, stream); }

private:
    Run run_;
};

/// A layer of one step, which is `run(in, out, stream)`.
template <typename Run>
std::unique_ptr<Layer> layerOf(Run&& run) {
    return std::make_unique<FunctionLayer<std::decay_t<Run>>>(std::forward<Run>(run));
}

/// The layers of a network of bottlenecks that other networks lack.
struct BottleneckLayers {
    /// Depthwise, pointwise, and the stem's 3x3 of stride 2; with the ReLU, if there is one.
    std::unique_ptr<Layer> (*conv)(const Conv& layer, const Shape& in) = nullptr;
    std::unique_ptr<Layer> (*add)(const Shape& in) = nullptr;  ///< out += in
};

/// The plain layers of a device: each a loop or a kernel of its own.
struct PlainLayers {
    std::unique_ptr<Layer> (*conv)(const Filter& filter, const Shape& in);  ///< 3x3, padding 1
    std::unique_ptr<Layer> (*batchNorm)(const BatchNorm& norm, const Shape& in);
    std::unique_ptr<Layer> (*relu)(const Shape& in);
    std::unique_ptr<Layer> (*maxPool)(const Shape& in);                       ///< 2x2, stride 2
    std::unique_ptr<Layer> (*upConv)(const Filter& filter, const Shape& in);  ///< transposed, 2x2, stride 2
    std::unique_ptr<Layer> (*head)(const Filter& filter, const Shape& in);    ///< 1x1 to one channel, sigmoid
    BottleneckLayers bottleneck;
};
PlainLayers sequentialLayers();
PlainLayers parallelLayers();
PlainLayers gpuLayers();  ///< conv: direct
/// Summed as by parallelLayers(), on one thread.
BottleneckLayers sequentialBottlenecks();

/// Convolution, batch norm and ReLU as three steps.
std::unique_ptr<Layer> makeSeparate(std::unique_ptr<Layer> conv,
                                    const PlainLayers& layers,
                                    const Block& block,
                                    const Shape& in);

/// A network that runs layer by layer: its 3x3 convolutions by `block`, the rest by the plain layers of `where`. Keeps
/// every tensor. Without `resident`, each step copies its input to the device and its output back; the report counts.
std::unique_ptr<NetworkImplementation> makeLayeredNetwork(
    const ModelPointer& model, Where where, MakeBlock block, const PlainLayers& layers, bool resident);

// CPU
std::unique_ptr<Layer> makeSequential(const Block& block, const Shape& in);
std::unique_ptr<Layer> makeParallel(const Block& block, const Shape& in);
std::unique_ptr<Layer> makeCpuIm2col(const Block& block, const Shape& in);
std::unique_ptr<NetworkImplementation> makeOneDnn(const ModelPointer& model);
/// Why this build lacks oneDNN; empty when it has it.
std::string whyNoOneDnn();

// GPU
/// Makes the first GPU, on which the baselines run, the calling thread's current device. Throws Error(engine).
void useFirstDevice();
std::unique_ptr<Layer> makeDirect(const Block& block, const Shape& in);
std::unique_ptr<Layer> makeTiledPlain(const Block& block, const Shape& in);
std::unique_ptr<Layer> makeTiled(const Block& block, const Shape& in);
std::unique_ptr<Layer> makeFused(const Block& block, const Shape& in);
std::unique_ptr<Layer> makeIm2col(const Block& block, const Shape& in);
std::unique_ptr<Layer> makeWinograd(const Block& block, const Shape& in);
std::unique_ptr<Layer> makeImplicitFp32(const Block& block, const Shape& in);
std::unique_ptr<Layer> makeImplicitMma(const Block& block, const Shape& in);
std::unique_ptr<Layer> makeImplicitSm90(const Block& block, const Shape& in);
std::unique_ptr<NetworkImplementation> makeProductFp32(const ModelPointer& model);
std::unique_ptr<NetworkImplementation> makeProductMma(const ModelPointer& model);
std::unique_ptr<NetworkImplementation> makeProductSm90(const ModelPointer& model);
/// cuDNN's, to compare with; loaded from the system on demand.
std::unique_ptr<Layer> makeCudnn(const Block& block, const Shape& in);
std::string whyNoCudnn();

// For a picture of one channel and one 3x3 filter, as in the course's second half

using Filter3x3 = std::array<float, 9>;  ///< row by row

/// `in` {1, 1, H, W}, zeros outside; the output has the same size.
std::unique_ptr<Layer> makeStencilCpu(const Filter3x3& filter, const Shape& in);
/// One thread a pixel, as in the course.
std::unique_ptr<Layer> makeStencilGpu(const Filter3x3& filter, const Shape& in);
/// One thread eight pixels below each other: each value is read three times instead of nine.
std::unique_ptr<Layer> makeStencilColumns(const Filter3x3& filter, const Shape& in);

/// I * W ~ (sign(I) x sign(W)) K a: the convolution of the signs, times K, the mean of |I| under the filter, times a,
/// the mean of |W| (Rastegari et al., "XNOR-Net", 2016); a value above zero counts as 1 and any other as -1. `in`
/// {1, 1, H + 2, W + 2} has its border with it; the output is H x W. Three steps: signs to bits; K; XNOR, popcount and
/// scale.
std::unique_ptr<Layer> makeXnorCpu(const Filter3x3& filter, const Shape& in);
std::unique_ptr<Layer> makeXnorGpu(const Filter3x3& filter, const Shape& in);

/// The nine signs of a filter, bit 3 ky + kx, and its scale a.
struct SignFilter {
    unsigned bits = 0;
    float scale = 0;
    explicit SignFilter(const Filter3x3& filter) {
        for (unsigned i = 0; i < 9; ++i) {
            bits |= (filter[i] > 0 ? 1U : 0U) << i;
            scale += filter[i] < 0 ? -filter[i] : filter[i];
        }
        scale /= 9;
    }
};

}  // namespace matte::baselines
