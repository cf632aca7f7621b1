// SPDX-License-Identifier: Apache-2.0
// The convolutions of the network on the GPU as implicit matrix products: what to compute (ConvShape), by which kernel
// and tiles (ConvConfig), the weights in that kernel's order (PackedFilter), and a launch prepared once and repeated
// (ConvLaunch). Those that make no matrix product (ConvShape::direct()) have a kernel without tiles, for halves or
// floats. One thread at a time for each object.
//
// Activations are [N, H, W, paddedChannels(C)] halves, or floats for the kernel fp32. Channels past C are zero in every
// input and are written as zero in every output.
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

/// mma: mma.sync, sm_80 and newer. sm90: wgmma and TMA, only that architecture. fp32: no tensor cores, every value and
/// every product a float.
enum class ConvKernel { mma = 1, sm90, fp32 };

constexpr int ceilDiv(int value, int by) {
    return (value + by - 1) / by;
}

/// Bytes of an activation's value.
constexpr int valueBytes(ConvKernel kernel) {
    return kernel == ConvKernel::fp32 ? 4 : 2;
}

/// Channels of a tensor in device memory: each pixel starts at a multiple of 16 bytes.
constexpr int paddedChannels(int channels) {
    return (channels + 7) / 8 * 8;
}

/// conv3x3 (padding 1, ReLU), up2x2, pointwise or depthwise (padding side / 2, ReLU) of `batch` inputs of [height,
/// width].
struct ConvShape {
    ConvKind kind = ConvKind::conv3x3;
    int batch = 1, height = 0, width = 0;
    int in0Channels = 0, in1Channels = 0;  ///< in1Channels 0: one input
    int outChannels = 0;
    bool pooled = false;    ///< also writes 2x2 maxima; height and width are even
    bool head = false;      ///< writes alpha instead: the 1x1 head and the sigmoid; only where fusesHead()
    int widthMultiple = 1;  ///< what divides the width at every size that the layer's network can run at
    int stride = 1;         ///< 2: depthwise, and the stem: conv3x3 of up to three channels; height and width are even
    int side = 3;           ///< depthwise: of the filter, 3 or 5
    bool linear = false;    ///< pointwise: without ReLU
    bool added = false;     ///< pointwise: a tensor of the output's shape is added to the sums

    /// Whether it is computed as it is defined and by no matrix product.
    [[nodiscard]] bool direct() const { return kind == ConvKind::depthwise || stride == 2; }
    [[nodiscard]] bool relu() const { return kind != ConvKind::up2x2 && !linear; }
    [[nodiscard]] int outHeight() const { return kind == ConvKind::up2x2 ? height * 2 : height / stride; }
    [[nodiscard]] int outWidth() const { return kind == ConvKind::up2x2 ? width * 2 : width / stride; }
    [[nodiscard]] int taps() const { return kind == ConvKind::conv3x3 ? 9 : 1; }
    /// An output pixel's rows: up2x2 makes two, each of which holds two pixels.
    [[nodiscard]] int rows() const { return kind == ConvKind::up2x2 ? 2 : 1; }
    [[nodiscard]] int rowChannels() const { return paddedChannels(outChannels) * rows(); }
    [[nodiscard]] int rowTiles() const { return (rowChannels() + 63) / 64; }
    /// The same memory with `by` neighbouring pixels as one.
    [[nodiscard]] ConvShape folded(int by) const;
    [[nodiscard]] double flops() const;
};

/// Whether `kernel` can end a layer of that shape with the network's head: one tile must hold all of its channels.
constexpr bool fusesHead(const ConvShape& shape, ConvKernel kernel) {
    return kernel != ConvKernel::fp32 && shape.kind == ConvKind::conv3x3 && paddedChannels(shape.outChannels) <= 64;
}

/// What the two consumer warp groups of the sm90 kernel share out among themselves: a tile's output channels, its
/// pixels, its steps, or whole tiles in turn, so that one stores while the other multiplies. mma: depth has two groups
/// as well, channels only one.
enum class Split { channels = 1, pixels, depth, tiles };

struct ConvConfig {
    ConvKernel kernel = ConvKernel::mma;
    int chunk = 32;      ///< input channels of one step: 64, 32 or 16 (mma: 32, fp32: 8)
    int pixels = 128;    ///< output pixels of a tile (sm90: of a warp group's)
    int channels = 64;   ///< output channels of a tile (sm90: 64 for each warp group)
    int tileWidth = 16;  ///< of those pixels; sm90: 8 or 16
    Split split = Split::channels;
    bool halo = false;      ///< sm90: one load serves nine taps instead of three
    bool gathered = false;  ///< mma: the nine taps of up to three channels stand side by side in one chunk
    int fold = 1;           ///< sm90: as many neighbouring pixels count as one, with their channels side by side
    int stageTaps = 1;      ///< sm90: taps whose weights arrive at once: 1 or 3
    int cluster = 1;        ///< sm90: blocks that share a tile's depth: 1, 2 or 4

    [[nodiscard]] std::string text() const;
    bool operator==(const ConvConfig&) const = default;
};

struct DeviceFacts {
    int major = 0, minor = 0, multiprocessors = 0;
    static DeviceFacts current();
};

/// Every configuration that can run `shape` on the device in a network of `kernel`, the one that should be fastest
/// first; pointwise layers of sm90 networks run by mma.
std::vector<ConvConfig> rankedConfigs(const ConvShape& shape, const DeviceFacts& device, ConvKernel kernel);

/// Weights in a kernel's order and one bias for each row. A row is an output channel; up2x2: row tiles of output row 0,
/// then 1; row dx * channels + c within. Halves: [tile of 64 rows][chunk][tap][64][config.chunk], swizzled as the
/// kernels read them, taps down each column of the filter first, one tile more of zeros where their number is odd;
/// gathered: [tile][64][32] with tap t of channel c at 3 t + c. Floats (fp32): [tile][chunk][channel of the
/// chunk][tap][64], taps along each row first. Direct, halves or floats: [tap][input channel][padded output channels],
/// taps along each row first, one input channel where it is depthwise, and a bias for each padded channel.
///
/// Folded, [H, W, C] is read as [H, W / fold, fold * C], the same bytes: a layer of 32 channels becomes one of 64 on
/// pairs of pixels and fills the tensor cores' 64 rows. A tap to the left of a pair needs only its neighbour's last
/// pixel, one to the right only the first; what they don't need has zero weights. The 8-channel groups of two pixels
/// alternate along the rows, so that a thread's sums hold what max-pooling compares.
struct PackedFilter {
    std::vector<std::byte> weights;
    std::vector<float> bias;
};
/// Weights as the kernels read them. Of `config` only kernel, chunk, fold and gathered matter. These are the same in
/// all configurations of a kernel for `shape`, and follow from its kind, channels and widthMultiple: a layer is packed
/// once and runs at every size.
PackedFilter packFilter(const Filter& filter, const ConvShape& shape, const ConvConfig& config);

/// Where a row of `rowBytes` (32, 64, 128) bytes keeps its 16-byte piece: the layout that TMA calls a swizzle.
constexpr int swizzledPiece(int row, int piece, int rowBytes) {
    return piece ^ (rowBytes == 128 ? row & 7 : rowBytes == 64 ? (row >> 1) & 3 : (row >> 2) & 1);
}

/// The network's last layer, for ConvShape::head; everything on the device.
struct Head {
    const float* weights = nullptr;  ///< kHeadWeights, zeros past the channels
    const float* bias = nullptr;     ///< one
    float* alpha = nullptr;          ///< [N, H, W]
};
constexpr int kHeadWeights = 64;

/// Where in a folded pixel's 64 channels the 8 lie whose rows are the first or second half (`half`) of warp `warp`'s
/// 16; `units`: pixels of the folded output row.
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

/// One layer, ready to run again and again. Throws Error(engine).
class ConvLaunch {
public:
    ConvLaunch(const ConvShape& shape, const ConvConfig& config, const ConvBuffers& buffers, const DeviceFacts& device);
    ~ConvLaunch();
    ConvLaunch(ConvLaunch&&) noexcept;
    /// `overlap`: may start while the kernel before it in the stream still runs, and waits for it on the device.
    void operator()(cudaStream_t stream, bool overlap = true) const;

    /// A kernel's prepared arguments; each kernel's file derives its own.
    struct Prepared {
        virtual ~Prepared() = default;
        virtual void launch(cudaStream_t stream, bool overlap) const = 0;
    };

private:
    std::unique_ptr<Prepared> prepared_;
};

std::unique_ptr<ConvLaunch::Prepared> prepareMma(const ConvShape& shape,
                                                 const ConvConfig& config,
                                                 const ConvBuffers& buffers,
                                                 const DeviceFacts& device);
std::unique_ptr<ConvLaunch::Prepared> prepareFp32(const ConvShape& shape,
                                                  const ConvConfig& config,
                                                  const ConvBuffers& buffers,
                                                  const DeviceFacts& device);
std::unique_ptr<ConvLaunch::Prepared> prepareSm90(const ConvShape& shape,
                                                  const ConvConfig& config,
                                                  const ConvBuffers& buffers,
                                                  const DeviceFacts& device);
std::unique_ptr<ConvLaunch::Prepared> prepareDirect(const ConvShape& shape,
                                                    const ConvConfig& config,
                                                    const ConvBuffers& buffers,
                                                    const DeviceFacts& device);

}  // namespace matte
