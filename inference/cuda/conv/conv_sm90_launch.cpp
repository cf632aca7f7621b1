// SPDX-License-Identifier: Apache-2.0
// The sm90 kernel's host side: its arguments for a layer, among them the tensor maps of Hopper's Tensor Memory
// Accelerator (TMA).
#include <algorithm>
#include <array>
#include <string>

#include "inference/cuda/conv/conv_sm90.h"

namespace matte {
namespace {

constexpr int kTileChannels = 64, kRoundPixels = 64;

int tileHeight(const ConvConfig& config) {
    return config.pixels * (config.split == Split::pixels ? 2 : 1) / config.tileWidth;
}

int boxWidth(const ConvConfig& config) {
    return config.tileWidth + (config.halo ? 2 : 0);
}

using Encode = CUresult (*)(CUtensorMap*,
                            CUtensorMapDataType,
                            cuuint32_t,
                            void*,
                            const cuuint64_t*,
                            const cuuint64_t*,
                            const cuuint32_t*,
                            const cuuint32_t*,
                            CUtensorMapInterleave,
                            CUtensorMapSwizzle,
                            CUtensorMapL2promotion,
                            CUtensorMapFloatOOBfill);

/// The driver's function, found at run time: a program linked against the driver would not start without one.
Encode encodeFunction() {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found));
    if (found != cudaDriverEntryPointSuccess || function == nullptr) {
        throw Error(ErrorCategory::engine,
                    "The NVIDIA driver can't describe tensors: update it to one for CUDA 12 or newer.");
    }
    return reinterpret_cast<Encode>(function);
}

/// A box of halves in a dense tensor, innermost dimension first. Box sides are at most 256. The first is at most 64; it
/// forms a row in shared memory, with the swizzle of its length (32, 64 or 128 bytes). Unused dimensions are 1.
struct TensorBox {
    std::array<int, 5> size{1, 1, 1, 1, 1};
    std::array<int, 5> box{1, 1, 1, 1, 1};
    int dimensions = 4;
};

/// The TMA's map of a tensor in device memory. `data` is 16-byte aligned and size[0] a multiple of 8.
CUtensorMap makeTensorMap(const void* data, const TensorBox& box) {
    static const Encode encode = encodeFunction();
    constexpr int kMax = 5;
    std::array<cuuint64_t, kMax> sizes{}, strides{};
    std::array<cuuint32_t, kMax> boxes{}, ones{};
    std::uint64_t bytes = 2;
    for (int i = 0; i < kMax; ++i) {
        sizes[i] = cuuint64_t(box.size[i]);
        boxes[i] = cuuint32_t(box.box[i]);
        ones[i] = 1;
        bytes *= sizes[i];
        strides[i] = bytes;  // of dimension i + 1
    }
    const CUtensorMapSwizzle swizzle = box.box[0] == 64   ? CU_TENSOR_MAP_SWIZZLE_128B
                                       : box.box[0] == 32 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                          : CU_TENSOR_MAP_SWIZZLE_32B;
    CUtensorMap map{};
    const CUresult result =
        encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, cuuint32_t(box.dimensions), const_cast<void*>(data), sizes.data(),
               strides.data(), boxes.data(), ones.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) {
        throw Error(ErrorCategory::engine, "The GPU can't address a layer's tensor (driver error " +
                                               std::to_string(int(result)) + "): choose the CPU engine.");
    }
    return map;
}

/// Which products a tile consists of, and where their operands lie.
void setProducts(Sm90Args& args, const ConvShape& shape, const ConvConfig& config) {
    const bool up = shape.kind == ConvKind::up2x2;
    const int rowBytes = config.chunk * 2, pitch = boxWidth(config);
    args.split = config.split;
    args.cluster = config.cluster;
    args.chunks0 = ceilDiv(shape.in0Channels, config.chunk);
    args.loadsOfChunk = up || config.halo ? 1 : 3;
    args.loads = shape.chunks(config.chunk) * args.loadsOfChunk;
    args.stageTaps = config.stageTaps;
    args.stagesOfLoad = shape.taps() / args.loadsOfChunk / config.stageTaps;
    args.firstX = args.firstY = up ? 0 : -1;
    args.groupStride = config.halo ? pitch * rowBytes : 8 * rowBytes;
    args.secondGroupBytes = config.pixels / config.tileWidth * pitch * rowBytes;
    for (int tap = 0; tap < shape.taps() / args.loadsOfChunk; ++tap) {
        args.tapUnits[tap] = (tap % 3 * pitch + tap / 3) * rowBytes / kDescriptorUnit;
    }
    const auto oneChunk = [&](int channels) { return channels == 0 || channels == config.chunk; };
    if (config.fold > 1 && !up && oneChunk(shape.in0Channels) && oneChunk(shape.in1Channels)) {
        args.neighbourSteps = std::max(config.chunk / config.fold / 16, 1);
    }
}

/// Which tiles there are.
void setTiles(Sm90Args& args, const ConvShape& shape, const ConvConfig& config) {
    args.width = shape.width;
    args.height = shape.height;
    args.fold = config.fold;
    args.units = config.fold > 1 ? config.fold * shape.rows() : 1;
    args.relu = shape.relu();
    args.pool = shape.pooled;
    args.tileWidth = config.tileWidth;
    args.tileHeight = tileHeight(config);
    args.tilesX = ceilDiv(shape.width, args.tileWidth);
    args.tilesY = ceilDiv(shape.height, args.tileHeight);
    args.rowTiles = shape.rowTiles();
    args.weightTiles = config.split == Split::channels ? 2 : 1;
    args.tilesC = ceilDiv(shape.rowTiles() * shape.rows(), args.weightTiles);
    args.tiles = shape.batch * args.tilesC * args.tilesX * args.tilesY;
}

void setInputs(Sm90Args& args, const ConvShape& shape, const ConvConfig& config, const ConvBuffers& buffers) {
    const auto map = [&](const void* data, int channels) {
        return makeTensorMap(data,
                             {{paddedChannels(channels), shape.width, shape.height, shape.batch, 1},
                              {config.chunk, boxWidth(config), args.tileHeight + (shape.taps() == 9 ? 2 : 0), 1, 1},
                              4});
    };
    args.in[0] = map(buffers.in0, shape.in0Channels);
    args.in[1] = shape.in1Channels > 0 ? map(buffers.in1, shape.in1Channels) : args.in[0];
}

void setOutputs(Sm90Args& args, const ConvShape& shape, const ConvConfig& config, const ConvBuffers& buffers) {
    if (shape.head) return;
    const int rows = kRoundPixels / config.tileWidth / config.cluster;  // of pixels that are stored at once
    args.out = makeTensorMap(buffers.out, {{shape.rowChannels(), shape.width, shape.rows(), shape.height, shape.batch},
                                           {kTileChannels, config.tileWidth, 1, rows, 1},
                                           5});
    if (!shape.pooled) return;
    // Of folded pixels the maxima are half as many channels, of others half as many columns.
    const int ofChannels = config.fold > 1 ? 2 : 1, ofColumns = 2 / ofChannels;
    args.pooled = makeTensorMap(
        buffers.pooled, {{shape.rowChannels() / ofChannels, shape.width / ofColumns, 1, shape.height / 2, shape.batch},
                         {kTileChannels / ofChannels, config.tileWidth / ofColumns, 1, rows / 2, 1},
                         5});
}

}  // namespace

ConvLaunch::Call prepareSm90(const ConvShape& unfolded,
                             const ConvConfig& config,
                             const ConvBuffers& buffers,
                             const DeviceFacts& device) {
    const ConvShape shape = unfolded.folded(config.fold);
    const Sm90Memory memory = sm90Memory(shape, config);
    if (!memory.fits()) {
        throw Error(ErrorCategory::engine,
                    "A layer's tile is too large for the GPU's shared memory: report this model.");
    }
    Sm90Args args{};
    setProducts(args, shape, config);
    setTiles(args, shape, config);
    setInputs(args, shape, config, buffers);
    setOutputs(args, shape, config, buffers);
    args.weights = static_cast<const std::byte*>(buffers.weights);
    args.bias = buffers.bias;
    if (shape.head) args.head = buffers.head;
    args.pixelBytes = memory.pixelBytes;
    args.pixelStride = memory.pixelStride;
    args.pixelStages = memory.pixelStages;
    args.weightStages = memory.weightStages;
    args.scratchBytes = memory.scratchBytes;
    // A cluster holds one tile: the slices of the next could arrive before those of the last were read.
    const int blocks =
        config.cluster > 1 ? args.tiles * config.cluster : std::min(args.tiles, device.multiprocessors * memory.blocks);
    const void* const kernel = sm90KernelFor(config);
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Sm90Memory::kMostBytes));
    return {
        kernel,        sm90Threads(config.pixels), memory.sharedBytes, std::make_shared<Sm90Args>(args), blocks, true,
        config.cluster};
}

}  // namespace matte
