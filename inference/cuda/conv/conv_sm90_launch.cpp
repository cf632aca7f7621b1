// SPDX-License-Identifier: Apache-2.0
// The sm90 kernel's host side: its arguments for a layer, and the launch.
#include <algorithm>
#include <array>

#include "inference/cuda/conv/conv_sm90.h"
#include "inference/cuda/device/tensor_map.h"

namespace matte {
namespace {

constexpr int kTileChannels = 64, kRoundPixels = 64;

int tileHeight(const ConvConfig& config) {
    return config.pixels * (config.split == Split::pixels ? 2 : 1) / config.tileWidth;
}

int boxWidth(const ConvConfig& config) {
    return config.tileWidth + (config.halo ? 2 : 0);
}

/// Which products a tile consists of, and where their operands lie.
void setProducts(Sm90Args& args, const ConvShape& shape, const ConvConfig& config) {
    const bool up = shape.kind == ConvKind::up2x2;
    const int rowBytes = config.chunk * 2, pitch = boxWidth(config);
    args.split = config.split;
    args.cluster = config.cluster;
    args.chunks0 = ceilDiv(shape.in0Channels, config.chunk);
    args.loadsOfChunk = up || config.halo ? 1 : 3;
    args.loads = (args.chunks0 + ceilDiv(shape.in1Channels, config.chunk)) * args.loadsOfChunk;
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

class Sm90Launch : public ConvLaunch::Prepared {
public:
    /// `shape` is folded.
    Sm90Launch(const ConvShape& shape, const ConvConfig& config, const ConvBuffers& buffers, const DeviceFacts& device)
        : kernel_(sm90KernelFor(config)), threads_(sm90Threads(config.pixels)) {
        const Sm90Memory memory = sm90Memory(shape, config);
        if (!memory.fits()) {
            throw Error(ErrorCategory::engine,
                        "A layer's tile is too large for the GPU's shared memory: report this model.");
        }
        setProducts(args_, shape, config);
        setTiles(args_, shape, config);
        args_.weights = static_cast<const std::byte*>(buffers.weights);
        args_.bias = buffers.bias;
        if (shape.head) args_.head = buffers.head;
        args_.pixelBytes = memory.pixelBytes;
        args_.pixelStride = memory.pixelStride;
        args_.pixelStages = memory.pixelStages;
        args_.weightStages = memory.weightStages;
        args_.scratchBytes = memory.scratchBytes;
        describeInputs(shape, config, buffers);
        describeOutputs(shape, config, buffers);
        sharedBytes_ = memory.sharedBytes;
        // A cluster holds one tile: the slices of the next could arrive before those of the last were read.
        grid_ = config.cluster > 1 ? args_.tiles * config.cluster
                                   : std::min(args_.tiles, device.multiprocessors * memory.blocks);
        CUDA_CHECK(cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize, Sm90Memory::kMostBytes));
    }

    void launch(cudaStream_t stream, bool overlap) const override {
        std::array<cudaLaunchAttribute, 2> attributes{};
        unsigned count = 0;
        if (args_.cluster > 1) {
            attributes[count].id = cudaLaunchAttributeClusterDimension;
            attributes[count++].val.clusterDim = {unsigned(args_.cluster), 1, 1};
        }
        if (overlap) {
            attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
            attributes[count++].val.programmaticStreamSerializationAllowed = 1;
        }
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(unsigned(grid_));
        config.blockDim = dim3(unsigned(threads_));
        config.dynamicSmemBytes = std::size_t(sharedBytes_);
        config.stream = stream;
        config.attrs = attributes.data();
        config.numAttrs = count;
        void* arguments[] = {const_cast<Sm90Args*>(&args_)};
        CUDA_CHECK(cudaLaunchKernelExC(&config, kernel_, arguments));
    }

private:
    void describeInputs(const ConvShape& shape, const ConvConfig& config, const ConvBuffers& buffers) {
        const auto map = [&](const void* data, int channels) {
            return makeTensorMap(
                data, {{paddedChannels(channels), shape.width, shape.height, shape.batch, 1},
                       {config.chunk, boxWidth(config), args_.tileHeight + (shape.taps() == 9 ? 2 : 0), 1, 1},
                       4});
        };
        args_.in[0] = map(buffers.in0, shape.in0Channels);
        args_.in[1] = shape.in1Channels > 0 ? map(buffers.in1, shape.in1Channels) : args_.in[0];
    }

    void describeOutputs(const ConvShape& shape, const ConvConfig& config, const ConvBuffers& buffers) {
        if (shape.head) return;
        const int rows = kRoundPixels / config.tileWidth / config.cluster;  // of pixels that are stored at once
        args_.out =
            makeTensorMap(buffers.out, {{shape.rowChannels(), shape.width, shape.rows(), shape.height, shape.batch},
                                        {kTileChannels, config.tileWidth, 1, rows, 1},
                                        5});
        if (!shape.pooled) return;
        // Of folded pixels the maxima are half as many channels, of others half as many columns.
        const int ofChannels = config.fold > 1 ? 2 : 1, ofColumns = 2 / ofChannels;
        args_.pooled = makeTensorMap(
            buffers.pooled,
            {{shape.rowChannels() / ofChannels, shape.width / ofColumns, 1, shape.height / 2, shape.batch},
             {kTileChannels / ofChannels, config.tileWidth / ofColumns, 1, rows / 2, 1},
             5});
    }

    Sm90Args args_{};
    const void* kernel_;
    int threads_ = 0, grid_ = 0, sharedBytes_ = 0;
};

}  // namespace

std::unique_ptr<ConvLaunch::Prepared> prepareSm90(const ConvShape& shape,
                                                  const ConvConfig& config,
                                                  const ConvBuffers& buffers,
                                                  const DeviceFacts& device) {
    return std::make_unique<Sm90Launch>(shape.folded(config.fold), config, buffers, device);
}

}  // namespace matte
