// SPDX-License-Identifier: Apache-2.0
// Convolution by mma.sync for sm_80 and newer. A block owns rows of 16 output pixels and 64 or 128 output channels. For
// each chunk of 32 input channels it loads its pixels with their border once and multiplies them by the chunk's nine
// taps, whose weights stream through a ring, one column of taps a step. Pixels and weights are rows of 64 bytes,
// swizzled, so that ldmatrix meets no bank conflict at any tap; a pixel's swizzle depends on its column alone, so that
// all rows of the tile are at fixed distances and their addresses cost nothing.
//
// conv_mma_load.cuh has the loads, conv_mma_multiply.cuh the products, conv_mma_store.cuh the tile's end.
#include "inference/cuda/conv/conv_mma_multiply.cuh"
#include "inference/cuda/conv/conv_mma_store.cuh"

namespace matte {
namespace mma {
namespace {

constexpr int kSharedLimit = 96 * 1024;  // below what a block can have on every architecture

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
    if constexpr (reads == Reads::pixels) {
        if (args.added) addTensor<S>(sums, args, tile);
    }
    stage<S>(sums, args, tile, shared);
    __syncthreads();
    if (args.head.alpha) return storeAlpha<S>(args, tile, shared);
    store<S, channels>(args, tile, shared);
    if (args.pooled) storePooled<S, channels>(args, tile, shared);
}

template <int pixels, int channels, Reads reads, int groups = 1>
ConvLaunch::Call callOf() {
    using S = Shape<pixels, channels, reads, groups>;
    void (*const kernel)(MmaArgs) = convMmaKernel<pixels, channels, reads, groups>;
    return {.kernel = reinterpret_cast<const void*>(kernel), .threads = S::threads, .sharedBytes = S::sharedBytes};
}

template <Reads reads>
ConvLaunch::Call callFor(const ConvConfig& config) {
    if constexpr (reads != Reads::gathered) {
        if (config.channels == 128) return callOf<128, 128, reads>();
    }
    if constexpr (reads == Reads::window) {
        if (config.split == Split::depth) {
            return config.pixels == 128 ? callOf<128, 64, reads, 2>() : callOf<64, 64, reads, 2>();
        }
    }
    switch (config.pixels) {
        case 256: return callOf<256, 64, reads>();
        case 128: return callOf<128, 64, reads>();
        default: return callOf<64, 64, reads>();
    }
}

ConvLaunch::Call callFor(const ConvShape& shape, const ConvConfig& config) {
    if (config.gathered) return callFor<Reads::gathered>(config);
    return shape.taps() == 9 ? callFor<Reads::window>(config) : callFor<Reads::pixels>(config);
}

}  // namespace
}  // namespace mma

ConvLaunch::Call prepareMma(const ConvShape& shape,
                            const ConvConfig& config,
                            const ConvBuffers& buffers,
                            const DeviceFacts& device) {
    using namespace mma;
    MmaArgs args{};
    args.in[0] = static_cast<const std::byte*>(buffers.in0);
    args.in[1] = static_cast<const std::byte*>(shape.in1Channels > 0 ? buffers.in1 : buffers.in0);
    args.out = static_cast<std::byte*>(buffers.out);
    args.pooled = shape.pooled ? static_cast<std::byte*>(buffers.pooled) : nullptr;
    args.weights = static_cast<const std::byte*>(buffers.weights);
    args.bias = buffers.bias;
    args.added = shape.added ? static_cast<const std::byte*>(buffers.added) : nullptr;
    if (shape.head) args.head = buffers.head;
    args.relu = shape.relu();
    args.height = shape.height;
    args.width = shape.width;
    args.inChannels[0] = paddedChannels(shape.in0Channels);
    args.inChannels[1] = paddedChannels(shape.in1Channels);
    args.chunks0 = ceilDiv(shape.in0Channels, kChunk);
    args.chunks = shape.chunks(kChunk);
    args.blocks = config.gathered ? 1 : args.chunks * shape.taps();
    args.rows = shape.rows();
    args.rowTiles = shape.rowTiles();
    args.rowChannels = shape.rowChannels();
    args.tilesX = ceilDiv(shape.width, kTileWidth);
    args.tilesY = ceilDiv(shape.height, config.pixels / kTileWidth);
    args.tilesC = ceilDiv(shape.rowTiles() * shape.rows() * kTileChannels, config.channels);
    ConvLaunch::Call call = callFor(shape, config);
    CUDA_CHECK(cudaFuncSetAttribute(call.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedLimit));
    call.argument = std::make_shared<MmaArgs>(args);
    call.blocks = shape.batch * args.tilesC * args.tilesX * args.tilesY;
    call.canOverlap = device.major >= 9;
    return call;
}

}  // namespace matte
