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
        args_.added = shape.added ? static_cast<const std::byte*>(buffers.added) : nullptr;
        if (shape.head) args_.head = buffers.head;
        args_.relu = shape.relu();
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
}  // namespace mma

std::unique_ptr<ConvLaunch::Prepared> prepareMma(const ConvShape& shape,
                                                 const ConvConfig& config,
                                                 const ConvBuffers& buffers,
                                                 const DeviceFacts& device) {
    return std::make_unique<mma::MmaLaunch>(shape, config, buffers, device);
}

}  // namespace matte
