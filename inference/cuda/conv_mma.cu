// SPDX-License-Identifier: Apache-2.0
// Convolution by mma.sync for sm_80 and newer. A block owns rows of 16 output pixels and 64 or 128 output channels. For
// each chunk of 32 input channels it loads its pixels with their border once and multiplies them by the chunk's nine
// taps, whose weights stream through a ring, one column of taps a step. Pixels and weights are rows of 64 bytes,
// swizzled, so that ldmatrix meets no bank conflict at any tap; a pixel's swizzle depends on its column alone, so that
// all rows of the tile are at fixed distances and their addresses cost nothing.
#include <algorithm>

#include "inference/cuda/conv.h"
#include "inference/cuda/ptx.cuh"

namespace matte {
namespace {

constexpr int kGroupThreads = 128, kTileWidth = 16, kChunk = 32, kRowBytes = kChunk * 2, kPieces = kRowBytes / 16;
constexpr int kTileChannels = 64, kTileBytes = kTileChannels * kRowBytes;
constexpr int kSharedLimit = 96 * 1024;  // below what a block can have on every architecture

/// What a tile reads: its pixels and the eight around each; its pixels alone; or, gathered in one chunk, nine taps of
/// up to three channels.
enum class Reads { window = 1, pixels, gathered };

struct MmaArgs {
    const std::byte* in[2];
    std::byte* out;
    std::byte* pooled;
    const std::byte* weights;
    const float* bias;
    bool relu;
    int height, width;
    int inChannels[2];
    int chunks0, chunks;
    int blocks;  // of weights, for each tile of channels: chunks times taps
    int rows, rowTiles, rowChannels;
    int tilesX, tilesY, tilesC;
};

struct Tile {
    int x, y, batch, channelTile;
};

/// A block's geometry: warps stand as warpsM x warpsN over the tile, each on 16 tilesM pixels by 8 tilesN channels. Two
/// groups of such warps take half of each chunk's channels each and add up their sums in the end: where a layer has few
/// tiles, more warps hide the latencies.
template <int pixels, int channels, Reads kind, int groupCount>
struct Shape {
    static constexpr int groups = groupCount, threads = groups * kGroupThreads;
    static constexpr Reads reads = kind;
    static constexpr int height = pixels / kTileWidth;
    static constexpr int warpsN = pixels >= 2 * channels ? 1 : 2, warpsM = 4 / warpsN;
    static constexpr int tilesM = pixels / warpsM / 16, tilesN = channels / warpsN / 8;
    static constexpr int border = reads == Reads::window ? 1 : 0;
    static constexpr int pitch = kTileWidth + 2 * border, columnRows = height + 2 * border;
    static constexpr int pixelBytes = columnRows * pitch * kRowBytes;  // of a chunk
    // A step multiplies this many blocks of 64 x 32 weights for each tile of channels: a column of taps, or chunks.
    static constexpr int blocks = reads == Reads::window ? 3 : reads == Reads::pixels ? 2 : 1;
    static constexpr int chunksOfStep = reads == Reads::pixels ? 2 : 1;
    static constexpr int weightBytes = channels / kTileChannels * blocks * kTileBytes;
    // Small tiles finish a step sooner than its successor's weights arrive: these are two steps ahead.
    static constexpr int stages = reads == Reads::gathered ? 1 : pixels * channels <= 64 * 64 ? 3 : 2;
    static constexpr int lead = std::max(stages - 1, 1);
    static constexpr int pixelStages = reads == Reads::window ? 2 : stages;
    static constexpr int stagedRow = channels * 2 + 16;  // bytes; the 16 spread the rows over the banks
    static constexpr int ringBytes = stages * weightBytes + pixelStages * chunksOfStep * pixelBytes;
    static constexpr int sumBytes = (groups - 1) * pixels * channels * 4;  // that one group hands to the other
    static constexpr int sharedBytes = std::max({ringBytes, pixels* stagedRow, sumBytes});
};

/// Chunk `k` of the tile's pixels with their border; zeros outside the picture and past the channels.
template <typename S>
__device__ void loadChunk(const MmaArgs& args, const Tile& tile, int k, std::uint32_t to) {
    const bool second = k >= args.chunks0;
    const int channels = args.inChannels[second], first = (second ? k - args.chunks0 : k) * kChunk;
    const std::byte* image = args.in[second] + std::size_t(tile.batch) * args.height * args.width * channels * 2;
    for (int i = threadIdx.x; i < S::columnRows * S::pitch * kPieces; i += S::threads) {
        const int pixel = i / kPieces, piece = i % kPieces, column = pixel % S::pitch;
        const int y = tile.y - S::border + pixel / S::pitch, x = tile.x - S::border + column;
        const int channel = first + piece * 8;
        const bool valid = y >= 0 && y < args.height && x >= 0 && x < args.width && channel < channels;
        const std::size_t at = valid ? (std::size_t(y) * args.width + x) * channels + channel : 0;
        ptx::copyAsync16(to + pixel * kRowBytes + swizzledPiece(column, piece, kRowBytes) * 16, image + at * 2, valid);
    }
}

/// A row of 32 halves for each of the tile's pixels: tap t of channel c at 3 t + c, taps down each column first.
template <typename S>
__device__ void gatherPixels(const MmaArgs& args, const Tile& tile, std::byte* to) {
    const std::byte* image = args.in[0] + std::size_t(tile.batch) * args.height * args.width * args.inChannels[0] * 2;
    for (int pixel = threadIdx.x; pixel < S::height * kTileWidth; pixel += S::threads) {
        const int column = pixel % kTileWidth;
        std::uint32_t halves[32] = {};
#pragma unroll
        for (int tap = 0; tap < 9; ++tap) {
            const int y = tile.y + pixel / kTileWidth + tap % 3 - 1, x = tile.x + column + tap / 3 - 1;
            if (y < 0 || y >= args.height || x < 0 || x >= args.width) continue;
            const std::size_t at = (std::size_t(y) * args.width + x) * args.inChannels[0];
            const uint2 four = *reinterpret_cast<const uint2*>(image + at * 2);
            halves[3 * tap] = four.x & 0xFFFF;
            halves[3 * tap + 1] = four.x >> 16;
            halves[3 * tap + 2] = four.y & 0xFFFF;
        }
#pragma unroll
        for (int piece = 0; piece < kPieces; ++piece) {
            const std::uint32_t* h = halves + piece * 8;
            *reinterpret_cast<uint4*>(to + pixel * kRowBytes + swizzledPiece(column, piece, kRowBytes) * 16) =
                make_uint4(h[0] | h[1] << 16, h[2] | h[3] << 16, h[4] | h[5] << 16, h[6] | h[7] << 16);
        }
    }
}

/// The pixels that step `step` needs first.
template <typename S>
__device__ void loadPixels(const MmaArgs& args, const Tile& tile, int index, std::byte* shared) {
    std::byte* const to =
        shared + S::stages * S::weightBytes + index % S::pixelStages * S::chunksOfStep * S::pixelBytes;
    if constexpr (S::reads == Reads::gathered) {
        gatherPixels<S>(args, tile, to);
    } else {
#pragma unroll
        for (int i = 0; i < S::chunksOfStep; ++i) {
            // A chunk past the last has no channels: zeros.
            loadChunk<S>(args, tile, index * S::chunksOfStep + i, ptx::sharedAddress(to) + i * S::pixelBytes);
        }
    }
}

template <typename S>
__device__ void loadWeights(const MmaArgs& args, const Tile& tile, int step, std::byte* shared) {
    constexpr int kStepBytes = S::blocks * kTileBytes;
    const std::uint32_t to = ptx::sharedAddress(shared) + step % S::stages * S::weightBytes;
#pragma unroll
    for (int i = threadIdx.x * 16; i < S::weightBytes; i += S::threads * 16) {
        const int block = step * S::blocks + i % kStepBytes / kTileBytes;
        const std::size_t tileBlock = std::size_t(tile.channelTile + i / kStepBytes) * args.blocks;
        const bool valid = block < args.blocks;
        ptx::copyAsync16(to + i, args.weights + (tileBlock + (valid ? block : 0)) * kTileBytes + i % kTileBytes, valid);
    }
}

/// The products of one step. `pixels` and `weights`: the addresses of this lane's first row of each, without the
/// distance of the blocks that follow.
template <typename S>
__device__ void multiply(float (&sums)[S::tilesM][S::tilesN][4], std::uint32_t pixels, std::uint32_t weights) {
    constexpr int kBlockStride = S::reads == Reads::window ? S::pitch * kRowBytes : S::pixelBytes;
#pragma unroll
    for (int block = 0; block < S::blocks; ++block) {
#pragma unroll
        for (int k = 0; k < kChunk / 16 / S::groups; ++k) {
            // The second half of a chunk is the piece whose bit 1 differs, and the swizzle keeps that difference.
            const std::uint32_t half = k * 32;
            std::uint32_t a[S::tilesM][4], b[S::tilesN / 2][4];
#pragma unroll
            for (int i = 0; i < S::tilesM; ++i) {
                ptx::loadMatrix4(a[i], (pixels ^ half) + block * kBlockStride + i * S::pitch * kRowBytes);
            }
#pragma unroll
            for (int j = 0; j < S::tilesN / 2; ++j) {
                ptx::loadMatrix4(b[j], (weights ^ half) + block * kTileBytes + j * 16 * kRowBytes);
            }
#pragma unroll
            for (int i = 0; i < S::tilesM; ++i) {
#pragma unroll
                for (int j = 0; j < S::tilesN; ++j) {
                    ptx::mma16816(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
                }
            }
        }
    }
}

/// All steps of a tile.
template <typename S>
__device__ void accumulate(float (&sums)[S::tilesM][S::tilesN][4],
                           const MmaArgs& args,
                           const Tile& tile,
                           std::byte* shared) {
    constexpr int kColumns = S::reads == Reads::window ? 3 : 1;  // steps that share their pixels
    const int steps = (args.blocks + S::blocks - 1) / S::blocks, groups = steps / kColumns;
    // Weights never change: only the pixels come from the kernel before this one.
    for (int i = 0; i < S::lead && i < steps; ++i) loadWeights<S>(args, tile, i, shared);
    ptx::waitForPrevious();
    for (int i = 0; i < (kColumns > 1 ? 1 : S::lead) && i < groups; ++i) loadPixels<S>(args, tile, i, shared);
    for (int i = 0; i < S::lead; ++i) ptx::copyAsyncCommit();

    const int lane = threadIdx.x % 32, warp = threadIdx.x % kGroupThreads / 32;
    const std::uint32_t groupHalf = threadIdx.x / kGroupThreads * 32;  // bytes, as in multiply()
    const int firstRow = warp / S::warpsN * S::tilesM, firstChannel = warp % S::warpsN * S::tilesN * 8;
    const int weightRow = lane % 8 + lane / 16 * 8;
    const std::uint32_t ring = ptx::sharedAddress(shared), pixelRing = ring + S::stages * S::weightBytes;
    const std::uint32_t laneWeights = ring + firstChannel / kTileChannels * S::blocks * kTileBytes +
                                      (firstChannel % kTileChannels + weightRow) * kRowBytes +
                                      swizzledPiece(weightRow, lane / 8 % 2, kRowBytes) * 16;
    for (int step = 0; step < steps; ++step) {
        ptx::copyAsyncWait<S::lead - 1>();
        __syncthreads();
        if (step + S::lead < steps) loadWeights<S>(args, tile, step + S::lead, shared);
        const int group = kColumns > 1 ? step / kColumns : step, next = group + (kColumns > 1 ? 1 : S::lead);
        if (step % kColumns == 0 && next < groups) loadPixels<S>(args, tile, next, shared);
        ptx::copyAsyncCommit();
        const int column = step % kColumns + lane % 16;
        const std::uint32_t lanePixels = pixelRing + group % S::pixelStages * S::chunksOfStep * S::pixelBytes +
                                         (firstRow * S::pitch + column) * kRowBytes +
                                         swizzledPiece(column, lane / 16, kRowBytes) * 16;
        multiply<S>(sums, lanePixels ^ groupHalf, (laneWeights + step % S::stages * S::weightBytes) ^ groupHalf);
    }
    ptx::copyAsyncWait<0>();
    __syncthreads();
}

/// Adds the second group's sums to the first's.
template <typename S>
__device__ void addGroups(float (&sums)[S::tilesM][S::tilesN][4], float* scratch) {
    const bool first = threadIdx.x < kGroupThreads;
    float* const mine = scratch + threadIdx.x % kGroupThreads;
    const auto each = [&](auto&& visit) {
#pragma unroll
        for (int i = 0; i < S::tilesM * S::tilesN * 4; ++i) {
            visit(sums[i / 4 / S::tilesN][i / 4 % S::tilesN][i % 4], mine[i * kGroupThreads]);
        }
    };
    if (!first) each([](float sum, float& other) { other = sum; });
    __syncthreads();
    if (first) each([](float& sum, float other) { sum += other; });
    __syncthreads();
}

/// Sums plus bias, through ReLU, as halves in shared memory: [pixel][channel].
template <typename S>
__device__ void stage(const float (&sums)[S::tilesM][S::tilesN][4],
                      const MmaArgs& args,
                      const Tile& tile,
                      std::byte* staged) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (warp >= kGroupThreads / 32) return;
    const int firstPixel = warp / S::warpsN * S::tilesM * 16, firstChannel = warp % S::warpsN * S::tilesN * 8;
#pragma unroll
    for (int j = 0; j < S::tilesN; ++j) {
        const int channel = firstChannel + j * 8 + lane % 4 * 2;
        const float2 bias = *reinterpret_cast<const float2*>(args.bias + tile.channelTile * kTileChannels + channel);
#pragma unroll
        for (int i = 0; i < S::tilesM; ++i) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                float low = sums[i][j][2 * half] + bias.x, high = sums[i][j][2 * half + 1] + bias.y;
                if (args.relu) {
                    low = fmaxf(low, 0.0F);
                    high = fmaxf(high, 0.0F);
                }
                const int pixel = firstPixel + i * 16 + half * 8 + lane / 4;
                *reinterpret_cast<__half2*>(staged + pixel * S::stagedRow + channel * 2) = __floats2half2_rn(low, high);
            }
        }
    }
}

__device__ uint4 max8(uint4 a, uint4 b) {
    uint4 result;
    const __half2 *x = reinterpret_cast<const __half2*>(&a), *y = reinterpret_cast<const __half2*>(&b);
    __half2* z = reinterpret_cast<__half2*>(&result);
#pragma unroll
    for (int i = 0; i < 4; ++i) z[i] = __hmax2(x[i], y[i]);
    return result;
}

/// Where 8 channels of an output row go, or null when they are past its end. `tileChannel` counts from the block's.
__device__ std::byte* outputAt(const MmaArgs& args, const Tile& tile, int x, int y, int tileChannel) {
    const int channelTile = tile.channelTile + tileChannel / kTileChannels;
    const int row = channelTile / args.rowTiles;
    const int channel = channelTile % args.rowTiles * kTileChannels + tileChannel % kTileChannels;
    if (row >= args.rows || channel >= args.rowChannels) return nullptr;
    const std::size_t line = (std::size_t(tile.batch) * args.height + y) * args.rows + row;
    return args.out + ((line * args.width + x) * args.rowChannels + channel) * 2;
}

template <typename S, int channels>
__device__ void store(const MmaArgs& args, const Tile& tile, const std::byte* staged) {
    constexpr int kRowPieces = channels / 8;
    for (int i = threadIdx.x; i < S::height * kTileWidth * kRowPieces; i += S::threads) {
        const int pixel = i / kRowPieces, piece = i % kRowPieces;
        const int x = tile.x + pixel % kTileWidth, y = tile.y + pixel / kTileWidth;
        if (x >= args.width || y >= args.height) continue;
        std::byte* const to = outputAt(args, tile, x, y, piece * 8);
        if (to)
            *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(staged + pixel * S::stagedRow + piece * 16);
    }
}

template <typename S, int channels>
__device__ void storePooled(const MmaArgs& args, const Tile& tile, const std::byte* staged) {
    constexpr int kRowPieces = channels / 8, kWidth = kTileWidth / 2;
    for (int i = threadIdx.x; i < S::height / 2 * kWidth * kRowPieces; i += S::threads) {
        const int pixel = i / kRowPieces, piece = i % kRowPieces;
        const int px = pixel % kWidth, py = pixel / kWidth, x = tile.x / 2 + px, y = tile.y / 2 + py;
        const int channel = tile.channelTile * kTileChannels + piece * 8;
        if (x >= args.width / 2 || y >= args.height / 2 || channel >= args.rowChannels) continue;
        const auto at = [&](int dx, int dy) {
            const int from = (2 * py + dy) * kTileWidth + 2 * px + dx;
            return *reinterpret_cast<const uint4*>(staged + from * S::stagedRow + piece * 16);
        };
        const std::size_t line = std::size_t(tile.batch) * (args.height / 2) + y;
        *reinterpret_cast<uint4*>(args.pooled + ((line * (args.width / 2) + x) * args.rowChannels + channel) * 2) =
            max8(max8(at(0, 0), at(1, 0)), max8(at(0, 1), at(1, 1)));
    }
}

template <int pixels, int channels, Reads reads, int groups>
__global__ void __launch_bounds__(groups* kGroupThreads, 2) convMmaKernel(const __grid_constant__ MmaArgs args) {
    using S = Shape<pixels, channels, reads, groups>;
    extern __shared__ __align__(128) std::byte shared[];
    int index = blockIdx.x;
    Tile tile;
    tile.channelTile = index % args.tilesC * (channels / kTileChannels);
    index /= args.tilesC;
    tile.x = index % args.tilesX * kTileWidth;
    index /= args.tilesX;
    tile.y = index % args.tilesY * S::height;
    tile.batch = index / args.tilesY;
    ptx::launchDependents();
    float sums[S::tilesM][S::tilesN][4] = {};
    accumulate<S>(sums, args, tile, shared);
    if constexpr (groups > 1) addGroups<S>(sums, reinterpret_cast<float*>(shared));
    stage<S>(sums, args, tile, shared);
    __syncthreads();
    store<S, channels>(args, tile, shared);
    if (args.pooled) storePooled<S, channels>(args, tile, shared);
}

struct Kernel {
    void (*function)(MmaArgs);
    int threads, sharedBytes;
};

template <int pixels, int channels, Reads reads, int groups = 1>
Kernel kernelOf() {
    using S = Shape<pixels, channels, reads, groups>;
    return {convMmaKernel<pixels, channels, reads, groups>, S::threads, S::sharedBytes};
}

template <Reads reads>
Kernel kernelFor(const ConvConfig& config) {
    if constexpr (reads != Reads::gathered) {
        if (config.channels == 128) return kernelOf<128, 128, reads>();
    }
    if constexpr (reads == Reads::window) {
        if (config.split == Split::depth) {
            return config.pixels == 128 ? kernelOf<128, 64, reads, 2>() : kernelOf<64, 64, reads, 2>();
        }
    }
    switch (config.pixels) {
        case 256: return kernelOf<256, 64, reads>();
        case 128: return kernelOf<128, 64, reads>();
        default: return kernelOf<64, 64, reads>();
    }
}

Kernel kernelFor(const ConvShape& shape, const ConvConfig& config) {
    if (config.gathered) return kernelFor<Reads::gathered>(config);
    return shape.taps() == 9 ? kernelFor<Reads::window>(config) : kernelFor<Reads::pixels>(config);
}

int ceilDiv(int value, int by) {
    return (value + by - 1) / by;
}

class MmaLaunch : public ConvLaunch::Prepared {
public:
    MmaLaunch(const ConvShape& shape, const ConvConfig& config, const ConvBuffers& buffers, const DeviceFacts& device)
        : kernel_(kernelFor(shape, config)), canOverlap_(device.major >= 9) {
        args_.in[0] = static_cast<const std::byte*>(buffers.in0);
        args_.in[1] = static_cast<const std::byte*>(shape.in1Channels > 0 ? buffers.in1 : buffers.in0);
        args_.out = static_cast<std::byte*>(buffers.out);
        args_.pooled = shape.pooled ? static_cast<std::byte*>(buffers.pooled) : nullptr;
        args_.weights = static_cast<const std::byte*>(buffers.weights);
        args_.bias = buffers.bias;
        args_.relu = shape.kind != ConvKind::up2x2;
        args_.height = shape.height;
        args_.width = shape.width;
        args_.inChannels[0] = paddedChannels(shape.in0Channels);
        args_.inChannels[1] = paddedChannels(shape.in1Channels);
        args_.chunks0 = ceilDiv(shape.in0Channels, kChunk);
        args_.chunks = args_.chunks0 + ceilDiv(shape.in1Channels, kChunk);
        args_.blocks = config.gathered ? 1 : args_.chunks * shape.taps();
        args_.rows = shape.rows();
        args_.rowTiles = shape.rowTiles();
        args_.rowChannels = shape.rowChannels();
        args_.tilesX = ceilDiv(shape.width, kTileWidth);
        args_.tilesY = ceilDiv(shape.height, config.pixels / kTileWidth);
        args_.tilesC = ceilDiv(shape.rowTiles() * shape.rows() * kTileChannels, config.channels);
        grid_ = unsigned(shape.batch * args_.tilesC * args_.tilesX * args_.tilesY);
        CUDA_CHECK(cudaFuncSetAttribute(kernel_.function, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedLimit));
    }

    void launch(cudaStream_t stream, bool overlap) const override {
        cudaLaunchAttribute attribute{};
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(grid_);
        config.blockDim = dim3(unsigned(kernel_.threads));
        config.dynamicSmemBytes = std::size_t(kernel_.sharedBytes);
        config.stream = stream;
        config.attrs = &attribute;
        config.numAttrs = overlap && canOverlap_ ? 1 : 0;
        CUDA_CHECK(cudaLaunchKernelEx(&config, kernel_.function, args_));
    }

private:
    MmaArgs args_{};
    Kernel kernel_;
    bool canOverlap_;
    unsigned grid_ = 0;
};

}  // namespace

std::unique_ptr<ConvLaunch::Prepared> prepareMma(const ConvShape& shape,
                                                 const ConvConfig& config,
                                                 const ConvBuffers& buffers,
                                                 const DeviceFacts& device) {
    return std::make_unique<MmaLaunch>(shape, config, buffers, device);
}

}  // namespace matte
