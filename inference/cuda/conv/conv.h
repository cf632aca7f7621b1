// SPDX-License-Identifier: Apache-2.0
// The network's convolutions on the GPU as implicit GEMM (Chetlur et al., "cuDNN", 2014): the problem (ConvShape), the
// kernel and its tiling (ConvConfig), the weights in that kernel's layout (PackedFilter), and a launch prepared once
// and repeated (ConvLaunch). Depthwise and strided convolutions (ConvShape::direct()) use an untiled direct kernel. One
// thread at a time per object.
//
// Activations are [N, H, W, paddedChannels(C)] halves, or floats for ConvKernel::fp32. Padding channels are zero in
// every input and output.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "inference/cuda/device/cuda.h"
#include "inference/model/unet.h"

namespace matte {

/// mma: mma.sync, sm_80 and newer. sm90: wgmma and TMA, sm_90 only. fp32: single precision, without tensor cores.
enum class ConvKernel { mma = 1, sm90, fp32 };

constexpr int ceilDiv(int value, int by) {
    return (value + by - 1) / by;
}

/// Bytes per value of an activation.
constexpr int valueBytes(ConvKernel kernel) {
    return kernel == ConvKernel::fp32 ? 4 : 2;
}

/// Channels of a tensor in device memory, padded so that each pixel is 16-byte aligned.
constexpr int paddedChannels(int channels) {
    return (channels + 7) / 8 * 8;
}

/// conv3x3 (padding 1, ReLU unless linear), up2x2, pointwise or depthwise (padding side / 2, ReLU) of `batch` inputs of
/// [height, width].
struct ConvShape {
    ConvKind kind = ConvKind::conv3x3;
    int batch = 1, height = 0, width = 0;
    int in0Channels = 0, in1Channels = 0;  ///< in1Channels 0: one input
    int outChannels = 0;
    bool pooled = false;    ///< also writes 2x2 max pooling; height and width are even
    bool head = false;      ///< writes alpha in place of the output: fused 1x1 head and sigmoid; only if fusesHead()
    int widthMultiple = 1;  ///< divides the width at every input size of the network
    int stride = 1;         ///< 2: depthwise, or the stem, a conv3x3 of up to 3 channels; height and width are even
    int side = 3;           ///< depthwise: filter size, 3 or 5
    bool linear = false;    ///< pointwise, or a conv3x3 of a ConvGRU cell: no ReLU
    bool added = false;     ///< pointwise: adds a residual of the output's shape

    /// Whether the direct kernel computes it rather than a GEMM.
    [[nodiscard]] bool direct() const { return kind == ConvKind::depthwise || stride == 2; }
    [[nodiscard]] bool relu() const { return kind != ConvKind::up2x2 && !linear; }
    [[nodiscard]] int outHeight() const { return kind == ConvKind::up2x2 ? height * 2 : height / stride; }
    [[nodiscard]] int outWidth() const { return kind == ConvKind::up2x2 ? width * 2 : width / stride; }
    [[nodiscard]] int taps() const { return kind == ConvKind::conv3x3 ? 9 : 1; }
    /// Output rows per input row: 2 for up2x2, in each of which an input pixel becomes two.
    [[nodiscard]] int rows() const { return kind == ConvKind::up2x2 ? 2 : 1; }
    [[nodiscard]] int rowChannels() const { return paddedChannels(outChannels) * rows(); }
    [[nodiscard]] int rowTiles() const { return (rowChannels() + 63) / 64; }
    /// Steps of `chunk` channels over both inputs.
    [[nodiscard]] int chunks(int chunk) const { return ceilDiv(in0Channels, chunk) + ceilDiv(in1Channels, chunk); }
    /// The same layer with `by` neighbouring pixels of a row treated as one; see PackedFilter.
    [[nodiscard]] ConvShape folded(int by) const;
    [[nodiscard]] double flops() const;
};

/// Whether `kernel` can fuse the network's head into a layer of that shape: one tile must hold all channels.
constexpr bool fusesHead(const ConvShape& shape, ConvKernel kernel) {
    return kernel != ConvKernel::fp32 && shape.kind == ConvKind::conv3x3 && paddedChannels(shape.outChannels) <= 64;
}

/// How the two consumer warp groups of the sm90 kernel divide the work: by a tile's output channels, its pixels or its
/// depth (K), or by taking tiles in turn, so that one stores while the other multiplies. mma: `depth` uses two groups
/// of warps, `channels` one.
enum class Split { channels = 1, pixels, depth, tiles };

struct ConvConfig {
    ConvKernel kernel = ConvKernel::mma;
    int chunk = 32;      ///< input channels per step: 64, 32 or 16 (mma: 32, fp32: 8)
    int pixels = 128;    ///< output pixels of a tile (sm90: per warp group)
    int channels = 64;   ///< output channels of a tile (sm90: 64 per warp group)
    int tileWidth = 16;  ///< width of the tile in pixels; sm90: 8 or 16
    Split split = Split::channels;
    bool halo = false;      ///< sm90: one load with a halo serves nine taps rather than three
    bool gathered = false;  ///< mma: one chunk holds all nine taps of up to three channels (im2col)
    int fold = 1;           ///< sm90: number of neighbouring pixels treated as one; see PackedFilter
    int stageTaps = 1;      ///< sm90: taps per stage of weights: 1 or 3
    int cluster = 1;        ///< sm90: blocks of a cluster that split a tile's depth: 1, 2 or 4

    [[nodiscard]] std::string text() const;
    bool operator==(const ConvConfig&) const = default;
};

struct DeviceFacts {
    int major = 0, minor = 0, multiprocessors = 0;
    static DeviceFacts current();
};

/// All configurations that can run `shape` on the device in a network of `kernel`, by estimated time, fastest first.
/// Pointwise layers of sm90 networks use mma.
std::vector<ConvConfig> rankedConfigs(const ConvShape& shape, const DeviceFacts& device, ConvKernel kernel);

/// Weights in a kernel's layout and one bias per row of the GEMM. A row is an output channel; for up2x2 the tiles of
/// output row 0 come before those of output row 1, with row dx * channels + c in each. Layouts:
///   halves: [tile of 64 rows][chunk][tap][64][config.chunk], swizzled, taps in column-major order, an even number of
///   tiles (padded with zeros); gathered: [tile][64][32], swizzled, with tap t of channel c at 3 t + c
///   fp32: [tile][chunk][channel of the chunk][tap][64], taps in row-major order
///   direct: [tap][input channel][padded output channels], taps in row-major order, one input channel if depthwise,
///   one bias per padded channel
///
/// Folding reads [H, W, C] as [H, W / fold, fold * C], the same bytes: a layer of 32 channels becomes one of 64 on
/// pairs of pixels and fills the 64 rows of the tensor cores. A tap left of a pair needs only the left neighbour's last
/// pixel, a tap right of it only the right neighbour's first; other weights are zero. The 8-channel groups of the
/// folded pixels alternate along the rows, so that each thread holds the sums that max pooling compares.
struct PackedFilter {
    std::vector<std::byte> weights;
    std::vector<float> bias;
};
/// Packs a layer's weights. Depends only on the config's kernel, chunk, fold and gathered, which are the same for all
/// configurations of a kernel for `shape` and follow from its kind, channels and widthMultiple: a layer is packed once
/// for all sizes.
PackedFilter packFilter(const Filter& filter, const ConvShape& shape, const ConvConfig& config);

/// The swizzled position of 16-byte piece `piece` in a row of `rowBytes` (32, 64 or 128) bytes, as in TMA's swizzle
/// modes.
constexpr int swizzledPiece(int row, int piece, int rowBytes) {
    return piece ^ (rowBytes == 128 ? row & 7 : rowBytes == 64 ? (row >> 1) & 3 : (row >> 2) & 1);
}

/// The network's last layer, for ConvShape::head; pointers to device memory.
struct Head {
    const float* weights = nullptr;  ///< kHeadWeights, padded with zeros
    const float* bias = nullptr;     ///< one
    float* alpha = nullptr;          ///< [N, H, W]
};
constexpr int kHeadWeights = 64;

/// Which group of 8 among a folded pixel's 64 channels belongs to the first or second 8 (`half`) of warp `warp`'s 16
/// rows. `units`: fold * rows().
constexpr int foldedPiece(int warp, int half, int units) {
    const int pieces = 8 / units;
    return (warp / pieces * 2 + half) * pieces + warp % pieces;
}

struct ConvBuffers {
    const void* in0 = nullptr;
    const void* in1 = nullptr;
    void* out = nullptr;
    void* pooled = nullptr;
    const void* weights = nullptr;  ///< PackedFilter::weights on the device, 16-byte aligned
    const float* bias = nullptr;
    Head head;
    const void* added = nullptr;  ///< as out
};

/// One layer, prepared for repeated launches. Throws Error(engine).
class ConvLaunch {
public:
    /// A kernel, its one argument and the size of its launch.
    struct Call {
        const void* kernel = nullptr;
        int threads = 0;  ///< of a block
        int sharedBytes = 0;
        std::shared_ptr<void> argument{};
        int blocks = 0;
        bool canOverlap = false;
        int cluster = 1;  ///< blocks of a cluster
    };
    explicit ConvLaunch(Call call) : call_(std::move(call)) {}
    ConvLaunch(const ConvShape& shape, const ConvConfig& config, const ConvBuffers& buffers, const DeviceFacts& device);
    /// `overlap`: programmatic dependent launch: may start before the stream's previous kernel has finished, and waits
    /// for it on the device.
    void operator()(cudaStream_t stream, bool overlap = true) const;

private:
    Call call_;
};

ConvLaunch::Call prepareMma(const ConvShape& shape,
                            const ConvConfig& config,
                            const ConvBuffers& buffers,
                            const DeviceFacts& device);
ConvLaunch::Call prepareFp32(const ConvShape& shape, const ConvConfig& config, const ConvBuffers& buffers);
ConvLaunch::Call prepareSm90(const ConvShape& shape,
                             const ConvConfig& config,
                             const ConvBuffers& buffers,
                             const DeviceFacts& device);
ConvLaunch::Call prepareDirect(const ConvShape& shape,
                               const ConvConfig& config,
                               const ConvBuffers& buffers,
                               const DeviceFacts& device);

/// The network's head, if it is not fused into the previous layer: a 1x1 convolution to one channel and the sigmoid.
/// `in`: [pixels, channels] halves, or floats if `inFloats`; channels are a multiple of 8, with as many weights.
ConvLaunch::Call prepareHead(
    const void* in, bool inFloats, const Head& head, int pixels, int channels, const DeviceFacts& device);

}  // namespace matte
