// SPDX-License-Identifier: Apache-2.0
// Convolution by mma.sync for sm_80 and newer. A block owns rows of 16 output pixels and 64 or 128 output channels. For
// each chunk of 32 input channels it loads its pixels with their border once and multiplies them by the chunk's nine
// taps, whose weights stream through a ring of three stages. Pixels and weights are rows of 64 bytes, swizzled, so that
// ldmatrix meets no bank conflict at any tap.
#include <algorithm>

#include "inference/cuda/conv.h"
#include "inference/cuda/ptx.cuh"

namespace matte {
namespace {

constexpr int kThreads = 128, kTileWidth = 16, kChunk = 32, kRowBytes = kChunk * 2, kPieces = kRowBytes / 16;
constexpr int kTileChannels = 64, kWeightStages = 3, kLead = kWeightStages - 1;
constexpr int kSharedLimit = 96 * 1024;  // below what a block can have on every architecture

struct MmaArgs {
    const std::byte* in[2];
    std::byte* out;
    std::byte* pooled;
    const std::byte* weights;
    const float* bias;
    bool relu;
    int height, width;
    int inChannels[2];
    int chunks0, chunks, taps;
    int border;                    // pixels on each side that a tile needs: 1 or 0
    int pixelStages, pixelStride;  // of the pixels' ring, in bytes
    int rows, rowTiles, rowChannels;
    int tilesX, tilesY, tilesC;
};

struct Tile {
    int x, y, batch, channelTile;
};

/// A block's geometry: warps stand as warpsM x warpsN over the tile, each on 16 tilesM pixels by 8 tilesN channels.
template <int pixels, int channels>
struct Shape {
    static constexpr int height = pixels / kTileWidth;
    static constexpr int warpsN = pixels >= 2 * channels ? 1 : 2, warpsM = 4 / warpsN;
    static constexpr int tilesM = pixels / warpsM / 16, tilesN = channels / warpsN / 8;
    static constexpr int weightBytes = channels * kRowBytes;
    static constexpr int stagedRow = channels * 2 + 16;  // bytes; the 16 spread the rows over the banks
};

/// Chunk `k` of the tile's pixels with their border; zeros outside the picture and past the channels.
template <typename S>
__device__ void loadPixels(const MmaArgs& args, const Tile& tile, int k, std::uint32_t to) {
    const bool second = k >= args.chunks0;
    const int channels = args.inChannels[second], first = (second ? k - args.chunks0 : k) * kChunk;
    const int pitch = kTileWidth + 2 * args.border, count = (S::height + 2 * args.border) * pitch;
    const std::byte* image = args.in[second] + std::size_t(tile.batch) * args.height * args.width * channels * 2;
    for (int i = threadIdx.x; i < count * kPieces; i += kThreads) {
        const int pixel = i / kPieces, piece = i % kPieces;
        const int y = tile.y - args.border + pixel / pitch, x = tile.x - args.border + pixel % pitch;
        const int channel = first + piece * 8;
        const bool valid = y >= 0 && y < args.height && x >= 0 && x < args.width && channel < channels;
        const std::size_t at = valid ? (std::size_t(y) * args.width + x) * channels + channel : 0;
        ptx::copyAsync16(to + pixel * kRowBytes + swizzledPiece(pixel, piece, kRowBytes) * 16, image + at * 2, valid);
    }
}

template <typename S>
__device__ void loadWeights(const MmaArgs& args, const Tile& tile, int step, std::uint32_t to) {
    constexpr int kTileBytes = kTileChannels * kRowBytes;
    const int steps = args.chunks * args.taps;
#pragma unroll
    for (int i = threadIdx.x * 16; i < S::weightBytes; i += kThreads * 16) {
        const int channelTile = tile.channelTile + i / kTileBytes;
        const std::size_t at = (std::size_t(channelTile) * steps + step) * kTileBytes + i % kTileBytes;
        ptx::copyAsync16(to + i, args.weights + at, true);
    }
}

/// The products of one tap with one chunk. `corner`: the tile's pixel that meets the warp's first pixel at this tap.
template <typename S>
__device__ void multiply(
    float (&sums)[S::tilesM][S::tilesN][4], std::uint32_t pixels, std::uint32_t weights, int corner, int pitch) {
    const int lane = threadIdx.x % 32;
    const int row = lane % 8 + lane / 16 * 8, rowPiece = lane / 8 % 2;
#pragma unroll
    for (int k = 0; k < kChunk / 16; ++k) {
        std::uint32_t a[S::tilesM][4], b[S::tilesN / 2][4];
#pragma unroll
        for (int i = 0; i < S::tilesM; ++i) {
            const int pixel = corner + i * pitch + lane % 16;
            ptx::loadMatrix4(a[i],
                             pixels + pixel * kRowBytes + swizzledPiece(pixel, 2 * k + lane / 16, kRowBytes) * 16);
        }
#pragma unroll
        for (int j = 0; j < S::tilesN / 2; ++j) {
            ptx::loadMatrix4(
                b[j], weights + (j * 16 + row) * kRowBytes + swizzledPiece(row, 2 * k + rowPiece, kRowBytes) * 16);
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

/// Sums plus bias, through ReLU, as halves in shared memory: [pixel][channel].
template <typename S>
__device__ void stage(const float (&sums)[S::tilesM][S::tilesN][4],
                      const MmaArgs& args,
                      const Tile& tile,
                      std::byte* staged) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
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
    for (int i = threadIdx.x; i < S::height * kTileWidth * kRowPieces; i += kThreads) {
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
    for (int i = threadIdx.x; i < S::height / 2 * kWidth * kRowPieces; i += kThreads) {
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

template <int pixels, int channels>
__global__ void __launch_bounds__(kThreads, 2) convMmaKernel(const __grid_constant__ MmaArgs args) {
    using S = Shape<pixels, channels>;
    extern __shared__ __align__(128) std::byte shared[];
    int index = blockIdx.x;
    Tile tile;
    tile.channelTile = index % args.tilesC * (channels / kTileChannels);
    index /= args.tilesC;
    tile.x = index % args.tilesX * kTileWidth;
    index /= args.tilesX;
    tile.y = index % args.tilesY * S::height;
    tile.batch = index / args.tilesY;

    const std::uint32_t weightRing = ptx::sharedAddress(shared),
                        pixelRing = weightRing + kWeightStages * S::weightBytes;
    const int pitch = kTileWidth + 2 * args.border, steps = args.chunks * args.taps, pixelLead = args.pixelStages - 1;
    const auto load = [&](int step, int chunk) {
        if (step < steps) loadWeights<S>(args, tile, step, weightRing + step % kWeightStages * S::weightBytes);
        if (chunk >= 0 && chunk < args.chunks) {
            loadPixels<S>(args, tile, chunk, pixelRing + chunk % args.pixelStages * args.pixelStride);
        }
        ptx::copyAsyncCommit();
    };
    ptx::launchDependents();
    ptx::waitForPrevious();
    for (int i = 0; i < kLead; ++i) load(i, i < pixelLead ? i : -1);

    const int warp = threadIdx.x / 32;
    const int firstRow = warp / S::warpsN * S::tilesM, firstChannel = warp % S::warpsN * S::tilesN * 8;
    float sums[S::tilesM][S::tilesN][4] = {};
    int step = 0;
    for (int chunk = 0; chunk < args.chunks; ++chunk) {
        const std::uint32_t tilePixels = pixelRing + chunk % args.pixelStages * args.pixelStride;
        for (int tap = 0; tap < args.taps; ++tap, ++step) {
            ptx::copyAsyncWait<kLead - 1>();
            __syncthreads();
            load(step + kLead, tap == 0 ? chunk + pixelLead : -1);
            const int corner = (firstRow + tap % 3) * pitch + tap / 3;
            const std::uint32_t weights = weightRing + step % kWeightStages * S::weightBytes + firstChannel * kRowBytes;
            multiply<S>(sums, tilePixels, weights, corner, pitch);
        }
    }
    ptx::copyAsyncWait<0>();
    __syncthreads();
    stage<S>(sums, args, tile, shared);
    __syncthreads();
    store<S, channels>(args, tile, shared);
    if (args.pooled) storePooled<S, channels>(args, tile, shared);
}

using Kernel = void (*)(MmaArgs);

Kernel kernelFor(const ConvConfig& config) {
    if (config.channels == 128) return convMmaKernel<128, 128>;
    switch (config.pixels) {
        case 256: return convMmaKernel<256, 64>;
        case 128: return convMmaKernel<128, 64>;
        default: return convMmaKernel<64, 64>;
    }
}

int ceilDiv(int value, int by) {
    return (value + by - 1) / by;
}

class MmaLaunch : public ConvLaunch::Prepared {
public:
    MmaLaunch(const ConvShape& shape, const ConvConfig& config, const ConvBuffers& buffers, const DeviceFacts& device)
        : kernel_(kernelFor(config)), canOverlap_(device.major >= 9) {
        const bool up = shape.kind == ConvKind::up2x2;
        const int tileHeight = config.pixels / kTileWidth, border = up ? 0 : 1;
        args_.in[0] = static_cast<const std::byte*>(buffers.in0);
        args_.in[1] = static_cast<const std::byte*>(buffers.in1);
        args_.out = static_cast<std::byte*>(buffers.out);
        args_.pooled = shape.pooled ? static_cast<std::byte*>(buffers.pooled) : nullptr;
        args_.weights = static_cast<const std::byte*>(buffers.weights);
        args_.bias = buffers.bias;
        args_.relu = !up;
        args_.height = shape.height;
        args_.width = shape.width;
        args_.inChannels[0] = paddedChannels(shape.in0Channels);
        args_.inChannels[1] = paddedChannels(shape.in1Channels);
        args_.chunks0 = ceilDiv(shape.in0Channels, kChunk);
        args_.chunks = args_.chunks0 + ceilDiv(shape.in1Channels, kChunk);
        args_.taps = shape.taps();
        args_.border = border;
        args_.pixelStages = up ? 3 : 2;
        args_.pixelStride = (tileHeight + 2 * border) * (kTileWidth + 2 * border) * kRowBytes;
        args_.rows = shape.rows();
        args_.rowTiles = shape.rowTiles();
        args_.rowChannels = shape.rowChannels();
        args_.tilesX = ceilDiv(shape.width, kTileWidth);
        args_.tilesY = ceilDiv(shape.height, tileHeight);
        args_.tilesC = ceilDiv(shape.rowTiles() * shape.rows() * kTileChannels, config.channels);
        grid_ = unsigned(shape.batch * args_.tilesC * args_.tilesX * args_.tilesY);
        const int rings = kWeightStages * config.channels * kRowBytes + args_.pixelStages * args_.pixelStride;
        sharedBytes_ = std::max(rings, config.pixels * (config.channels * 2 + 16));
        // One limit for all: layers share a kernel, and the last one's own would forbid an earlier one's launch.
        CUDA_CHECK(cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedLimit));
    }

    void launch(cudaStream_t stream, bool overlap) const override {
        cudaLaunchAttribute attribute{};
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(grid_);
        config.blockDim = dim3(kThreads);
        config.dynamicSmemBytes = std::size_t(sharedBytes_);
        config.stream = stream;
        config.attrs = &attribute;
        config.numAttrs = overlap && canOverlap_ ? 1 : 0;
        CUDA_CHECK(cudaLaunchKernelEx(&config, kernel_, args_));
    }

private:
    MmaArgs args_{};
    Kernel kernel_;
    bool canOverlap_;
    unsigned grid_ = 0;
    int sharedBytes_ = 0;
};

}  // namespace

std::unique_ptr<ConvLaunch::Prepared> prepareMma(const ConvShape& shape,
                                                 const ConvConfig& config,
                                                 const ConvBuffers& buffers,
                                                 const DeviceFacts& device) {
    return std::make_unique<MmaLaunch>(shape, config, buffers, device);
}

}  // namespace matte
