// SPDX-License-Identifier: Apache-2.0
// Convolution in single precision, for comparisons: every product and every sum an FMA, no tensor cores. A block owns
// rows of 16 output pixels and 64 output channels; a thread 8 pixels beside each other and 8 channels. For each chunk
// of 8 input channels the block copies its pixels with their border, one plane a channel, and the chunk's weights; a
// thread then reads a row of 10 pixels once for the three taps along it.
#include "inference/cuda/conv/conv.h"
#include "inference/cuda/device/ptx.cuh"

namespace matte {
namespace {

constexpr int kTileWidth = 16, kTileChannels = 64, kChunk = 8, kRun = 8, kStages = 2;
constexpr int kPitch =
    20;  // floats from a row of a plane to the next: a run and its border are three pieces of 16 bytes
constexpr int kSharedLimit = 96 * 1024;

struct Fp32Args {
    const float* in[2];
    float* out;
    float* pooled;
    const float* weights;
    const float* bias;
    const float* added;  // null: nothing
    bool relu;
    int height, width;
    int inChannels[2];
    int chunks0, chunks;
    int rows, rowTiles, rowChannels;
    int tilesX, tilesY, tilesC;
};

struct Tile {
    int x, y, batch, channelTile;
};

/// A block of as many threads as pixels.
template <int pixelCount, int tapCount>
struct Shape {
    static constexpr int pixels = pixelCount, taps = tapCount, height = pixels / kTileWidth;
    static constexpr int side = taps == 9 ? 3 : 1, border = side / 2;
    static constexpr int columns = kTileWidth + 2 * border, planeRows = height + 2 * border;
    // Four floats more than its rows: the eight channels that a warp copies of one pixel then lie in different banks.
    static constexpr int plane = planeRows * kPitch + 4;
    static constexpr int pixelFloats = kChunk * plane, weightFloats = kChunk * taps * kTileChannels;
    static constexpr int sharedBytes = kStages * (pixelFloats + weightFloats) * 4;
};

/// Where a thread's 8 x 8 results lie: 8 pixels from (x, y) of the tile, channels 4 lane + {0…3} and 32 more.
struct Place {
    int x, y, lane;
    __device__ Place() {
        const int inWarp = threadIdx.x % 32, run = inWarp / 8;
        lane = inWarp % 8;
        x = run % 2 * kRun;
        y = int(threadIdx.x) / 32 * 2 + run / 2;
    }
};

template <typename S>
__device__ void loadChunk(const Fp32Args& args, const Tile& tile, int k, float* pixels, float* weights) {
    const bool second = k >= args.chunks0;
    const int channels = args.inChannels[second], first = (second ? k - args.chunks0 : k) * kChunk;
    const float* image = args.in[second] + std::size_t(tile.batch) * args.height * args.width * channels;
    const std::uint32_t pixelsTo = ptx::sharedAddress(pixels), weightsTo = ptx::sharedAddress(weights);
    for (int i = threadIdx.x; i < S::planeRows * S::columns * kChunk; i += S::pixels) {
        const int channel = i % kChunk, pixel = i / kChunk, row = pixel / S::columns, column = pixel % S::columns;
        const int y = tile.y - S::border + row, x = tile.x - S::border + column;
        const bool valid = y >= 0 && y < args.height && x >= 0 && x < args.width;
        const std::size_t at = valid ? (std::size_t(y) * args.width + x) * channels + first + channel : 0;
        ptx::copyAsync4(pixelsTo + (channel * S::plane + row * kPitch + column) * 4, image + at, valid);
    }
    const float* source = args.weights + (std::size_t(tile.channelTile) * args.chunks + k) * S::weightFloats;
    for (int i = threadIdx.x * 4; i < S::weightFloats; i += S::pixels * 4) {
        ptx::copyAsync16(weightsTo + i * 4, source + i, true);
    }
    ptx::copyAsyncCommit();
}

__device__ void read4(float* to, const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}

/// The products of one chunk. `pixels`: the thread's first pixel, its border included; `weights`: its first channel.
template <typename S>
__device__ void multiply(float (&sums)[kRun][8], const float* pixels, const float* weights) {
#pragma unroll 1
    for (int channel = 0; channel < kChunk; ++channel) {
#pragma unroll
        for (int ky = 0; ky < S::side; ++ky) {
            float row[12], filter[8];
#pragma unroll
            for (int i = 0; i < (S::side == 3 ? 12 : 8); i += 4) read4(row + i, pixels + ky * kPitch + i);
#pragma unroll
            for (int kx = 0; kx < S::side; ++kx) {
                const float* tap = weights + (ky * S::side + kx) * kTileChannels;
                read4(filter, tap);
                read4(filter + 4, tap + 32);
#pragma unroll
                for (int i = 0; i < kRun; ++i) {
#pragma unroll
                    for (int j = 0; j < 8; ++j) sums[i][j] = fmaf(row[i + kx], filter[j], sums[i][j]);
                }
            }
        }
        pixels += S::plane;
        weights += S::taps * kTileChannels;
    }
}

__device__ float4 max4(float4 a, float4 b) {
    return make_float4(fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z), fmaxf(a.w, b.w));
}

__device__ float4 fromLane(float4 value, int lanesAway) {
    return make_float4(__shfl_xor_sync(~0U, value.x, lanesAway), __shfl_xor_sync(~0U, value.y, lanesAway),
                       __shfl_xor_sync(~0U, value.z, lanesAway), __shfl_xor_sync(~0U, value.w, lanesAway));
}

/// Bias, another tensor, ReLU, the output and its 2x2 maxima, for channels 4 lane + {0…3} (`half` 0) or 32 more (1).
__device__ void finish(
    const float (&sums)[kRun][8], const Fp32Args& args, const Tile& tile, const Place& at, int half) {
    const int inTile = half * 32 + at.lane * 4, row = tile.channelTile / args.rowTiles;
    const int channel = tile.channelTile % args.rowTiles * kTileChannels + inTile;
    const bool used = row < args.rows && channel < args.rowChannels;
    const int y = tile.y + at.y;
    float bias[4];
    read4(bias, args.bias + tile.channelTile * kTileChannels + inTile);
    const auto inside = [&](int i) { return used && y < args.height && tile.x + at.x + i < args.width; };
    const std::size_t line = (std::size_t(tile.batch) * args.height + y) * args.rows + row;
    const auto offset = [&](int i) { return (line * args.width + tile.x + at.x + i) * args.rowChannels + channel; };
    float4 results[kRun];
#pragma unroll
    for (int i = 0; i < kRun; ++i) {
        const float* s = sums[i] + half * 4;
        const float floor = args.relu ? 0.0F : -INFINITY;
        float4 added{};
        if (args.added && inside(i)) added = *reinterpret_cast<const float4*>(args.added + offset(i));
        results[i] = make_float4(fmaxf(s[0] + bias[0] + added.x, floor), fmaxf(s[1] + bias[1] + added.y, floor),
                                 fmaxf(s[2] + bias[2] + added.z, floor), fmaxf(s[3] + bias[3] + added.w, floor));
    }
#pragma unroll
    for (int i = 0; i < kRun; ++i) {
        if (inside(i)) *reinterpret_cast<float4*>(args.out + offset(i)) = results[i];
    }
    if (!args.pooled) return;
#pragma unroll
    for (int i = 0; i < kRun; i += 2) {
        const float4 along = max4(results[i], results[i + 1]);
        const float4 maximum = max4(along, fromLane(along, 16));  // the thread 16 lanes on has the row below
        const int x = (tile.x + at.x + i) / 2;
        if (at.y % 2 == 1 || !used || y >= args.height || x >= args.width / 2) continue;
        const std::size_t pooledLine = std::size_t(tile.batch) * (args.height / 2) + y / 2;
        *reinterpret_cast<float4*>(args.pooled + (pooledLine * (args.width / 2) + x) * args.rowChannels + channel) =
            maximum;
    }
}

template <int pixels, int taps>
__global__ void __launch_bounds__(pixels, 512 / pixels) convFp32Kernel(const __grid_constant__ Fp32Args args) {
    using S = Shape<pixels, taps>;
    extern __shared__ __align__(16) float ring[];
    int index = blockIdx.x;
    Tile tile;
    tile.channelTile = index % args.tilesC;
    index /= args.tilesC;
    tile.x = index % args.tilesX * kTileWidth;
    index /= args.tilesX;
    tile.y = index % args.tilesY * S::height;
    tile.batch = index / args.tilesY;
    const auto load = [&](int k) {
        float* stage = ring + k % kStages * (S::pixelFloats + S::weightFloats);
        loadChunk<S>(args, tile, k, stage, stage + S::pixelFloats);
    };
    const Place at;
    float sums[kRun][8] = {};
    load(0);
    for (int k = 0; k < args.chunks; ++k) {
        ptx::copyAsyncWait<0>();
        __syncthreads();
        if (k + 1 < args.chunks) load(k + 1);
        const float* stage = ring + k % kStages * (S::pixelFloats + S::weightFloats);
        multiply<S>(sums, stage + at.y * kPitch + at.x, stage + S::pixelFloats + at.lane * 4);
    }
    finish(sums, args, tile, at, 0);
    finish(sums, args, tile, at, 1);
}

template <int pixels, int taps>
ConvLaunch::Call callOf() {
    void (*const kernel)(Fp32Args) = convFp32Kernel<pixels, taps>;
    return {.kernel = reinterpret_cast<const void*>(kernel),
            .threads = pixels,
            .sharedBytes = Shape<pixels, taps>::sharedBytes};
}

template <int taps>
ConvLaunch::Call callFor(const ConvConfig& config) {
    switch (config.pixels) {
        case 256: return callOf<256, taps>();
        case 128: return callOf<128, taps>();
        default: return callOf<64, taps>();
    }
}

}  // namespace

/// Never overlaps: each layer takes far longer than a launch.
ConvLaunch::Call prepareFp32(const ConvShape& shape, const ConvConfig& config, const ConvBuffers& buffers) {
    Fp32Args args{};
    args.in[0] = static_cast<const float*>(buffers.in0);
    args.in[1] = static_cast<const float*>(buffers.in1);
    args.out = static_cast<float*>(buffers.out);
    args.pooled = shape.pooled ? static_cast<float*>(buffers.pooled) : nullptr;
    args.weights = static_cast<const float*>(buffers.weights);
    args.bias = buffers.bias;
    args.added = shape.added ? static_cast<const float*>(buffers.added) : nullptr;
    args.relu = shape.relu();
    args.height = shape.height;
    args.width = shape.width;
    args.inChannels[0] = paddedChannels(shape.in0Channels);
    args.inChannels[1] = paddedChannels(shape.in1Channels);
    args.chunks0 = args.inChannels[0] / kChunk;
    args.chunks = args.chunks0 + args.inChannels[1] / kChunk;
    args.rows = shape.rows();
    args.rowTiles = shape.rowTiles();
    args.rowChannels = shape.rowChannels();
    args.tilesX = ceilDiv(shape.width, kTileWidth);
    args.tilesY = ceilDiv(shape.height, config.pixels / kTileWidth);
    args.tilesC = shape.rowTiles() * shape.rows();
    ConvLaunch::Call call = shape.taps() == 9 ? callFor<9>(config) : callFor<1>(config);
    CUDA_CHECK(cudaFuncSetAttribute(call.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedLimit));
    call.argument = std::make_shared<Fp32Args>(args);
    call.blocks = shape.batch * args.tilesC * args.tilesX * args.tilesY;
    return call;
}

}  // namespace matte
