// SPDX-License-Identifier: Apache-2.0
// Convolution for sm_90a: D[64 output channels x pixels] += W[64 x K] * X[K x pixels] by wgmma, with the pixels as the
// wide side: a layer of 64 channels then still fills an instruction of 64 x 256. One warp loads pixels by TMA (a box of
// rows, whose outside is zero: the padding), one loads weights, two warp groups multiply, and each block goes on to its
// next tile while the stores of the last one are under way. Shared memory: pixel ring, weight ring, each warp group's
// scratch, barriers.
//
// The tile is 8 or 16 pixels wide, so that the 8-pixel groups that wgmma reads lie at one stride. A load holds the
// tile's columns shifted by one tap column and two rows more, and serves the three taps of that column; with `halo` it
// holds two columns more and serves all nine.
#include <algorithm>
#include <array>

#include "inference/cuda/conv.h"
#include "inference/cuda/epilogue.cuh"
#include "inference/cuda/ptx.cuh"
#include "inference/cuda/tensor_map.h"
#include "inference/cuda/wgmma.cuh"

namespace matte {
namespace {

constexpr int kThreads = 384, kGroupThreads = 128, kGroupWarps = 4;
constexpr int kTileChannels = 64;
constexpr int kMaxStages = 12;
constexpr int kSharedLimit = 227 * 1024, kAlignment = 1024;
constexpr int kScratchBytes = 2 * kRoundBytes, kPooledScratchBytes = 2 * kPooledRoundBytes;
constexpr int kBarrierBytes = 4 * kMaxStages * 8;

struct Sm90Args {
    CUtensorMap in[2], out, pooled;
    const std::byte* weights;
    const float* bias;
    Split split;
    bool relu, pool;
    int chunks0, chunks, taps;
    int loads;       // of one chunk
    int tapsOfLoad;  // taps that a load serves
    int firstX, firstY;
    int tileWidth, tileHeight, tilesX, tilesY, tilesC, tiles;
    int rowTiles;     // channel tiles in an output row
    int weightTiles;  // channel tiles of a block: 1 or 2
    int pixelStages, pixelStride, pixelBytes, weightStages;
    int groupStride;       // bytes between groups of 8 pixels
    int secondGroupBytes;  // where the second warp group's pixels begin
    int scratchBytes;      // of a warp group
    int tapBytes[9];       // where a tap's pixels begin in a load
};

struct Tile {
    int channelTile, x, y, batch;
};

__device__ Tile tileAt(const Sm90Args& args, int index) {
    Tile tile;
    tile.channelTile = index % args.tilesC * args.weightTiles;
    index /= args.tilesC;
    tile.x = index % args.tilesX * args.tileWidth;
    index /= args.tilesX;
    tile.y = index % args.tilesY * args.tileHeight;
    tile.batch = index / args.tilesY;
    return tile;
}

/// A position in a ring of stages, and which time round it is.
struct Turn {
    int stage = 0;
    std::uint32_t phase = 0;
    __device__ void next(int stages) {
        if (++stage == stages) {
            stage = 0;
            phase ^= 1;
        }
    }
};

/// Addresses in shared memory.
struct Shared {
    std::uint32_t pixels, weights, scratch, barriers;
    __device__ std::uint32_t pixelFull(int stage) const { return barriers + stage * 8; }
    __device__ std::uint32_t pixelEmpty(int stage) const { return barriers + (kMaxStages + stage) * 8; }
    __device__ std::uint32_t weightFull(int stage) const { return barriers + (2 * kMaxStages + stage) * 8; }
    __device__ std::uint32_t weightEmpty(int stage) const { return barriers + (3 * kMaxStages + stage) * 8; }
};

#if __CUDA_ARCH_FEAT_SM90_ALL

template <int chunk>
__device__ Shared sharedLayout(const Sm90Args& args, std::uint32_t raw) {
    Shared at;
    at.pixels = (raw + kAlignment - 1) / kAlignment * kAlignment;
    at.weights = at.pixels + args.pixelStages * args.pixelStride;
    at.scratch = at.weights + args.weightStages * args.weightTiles * kTileChannels * chunk * 2;
    at.barriers = at.scratch + 2 * args.scratchBytes;
    return at;
}

__device__ void initBarriers(const Sm90Args& args, const Shared& shared) {
    for (int i = 0; i < args.pixelStages; ++i) {
        ptx::barrierInit(shared.pixelFull(i), 1);
        ptx::barrierInit(shared.pixelEmpty(i), 2 * kGroupWarps);
    }
    for (int i = 0; i < args.weightStages; ++i) {
        ptx::barrierInit(shared.weightFull(i), 1);
        ptx::barrierInit(shared.weightEmpty(i), args.split == Split::depth ? kGroupWarps : 2 * kGroupWarps);
    }
    ptx::barrierInitFence();
}

/// One thread: every load of every tile, in the order in which the warp groups use them.
template <int chunk>
__device__ void loadPixels(const Sm90Args& args, const Shared& shared) {
    Turn turn;
    for (int index = blockIdx.x; index < args.tiles; index += gridDim.x) {
        const Tile tile = tileAt(args, index);
        for (int k = 0; k < args.chunks; ++k) {
            const bool second = k >= args.chunks0;
            const int channel = (second ? k - args.chunks0 : k) * chunk;
            for (int load = 0; load < args.loads; ++load) {
                ptx::barrierWait(shared.pixelEmpty(turn.stage), turn.phase ^ 1);
                const std::uint32_t full = shared.pixelFull(turn.stage);
                ptx::barrierArriveExpect(full, args.pixelBytes);
                ptx::tmaLoad4d(shared.pixels + turn.stage * args.pixelStride, &args.in[second], full, channel,
                               tile.x + args.firstX + load, tile.y + args.firstY, tile.batch);
                turn.next(args.pixelStages);
            }
        }
    }
}

template <int chunk>
__device__ void loadWeights(const Sm90Args& args, const Shared& shared) {
    constexpr std::uint32_t kTileBytes = kTileChannels * chunk * 2;
    const int steps = args.chunks * args.taps;
    const std::uint32_t stageBytes = args.weightTiles * kTileBytes;
    Turn turn;
    for (int index = blockIdx.x; index < args.tiles; index += gridDim.x) {
        const int channelTile = tileAt(args, index).channelTile;
        const std::byte* source = args.weights + std::size_t(channelTile) * steps * kTileBytes;
        for (int step = 0; step < steps; ++step, source += kTileBytes) {
            ptx::barrierWait(shared.weightEmpty(turn.stage), turn.phase ^ 1);
            const std::uint32_t full = shared.weightFull(turn.stage), to = shared.weights + turn.stage * stageBytes;
            ptx::barrierArriveExpect(full, stageBytes);
            ptx::bulkLoad(to, source, kTileBytes, full);
            if (args.weightTiles == 2) {
                ptx::bulkLoad(to + kTileBytes, source + std::size_t(steps) * kTileBytes, kTileBytes, full);
            }
            turn.next(args.weightStages);
        }
    }
}

/// One warp group's products for one tile. Its last step's operands are given back only after the step that follows
/// was issued, so that the tensor cores never wait for an instruction.
template <int pixels, int chunk>
__device__ void multiply(float (&sums)[pixels / 2],
                         const Sm90Args& args,
                         const Shared& shared,
                         Turn& pixelTurn,
                         Turn& weightTurn,
                         int group) {
    constexpr int kRowBytes = chunk * 2, kTileBytes = kTileChannels * kRowBytes;
    const bool depth = args.split == Split::depth;
    const bool elected = threadIdx.x % 32 == 0;
    const std::uint32_t groupWeights = args.split == Split::channels ? group * kTileBytes : 0;
    const std::uint32_t groupPixels = args.split == Split::pixels ? group * args.secondGroupBytes : 0;
    const int loads = args.chunks * args.loads;
    int step = 0, usedWeights = -1, usedPixels = -1;
    const auto release = [&] {
        if (elected && usedWeights >= 0) ptx::barrierArrive(shared.weightEmpty(usedWeights));
        if (elected && usedPixels >= 0) ptx::barrierArrive(shared.pixelEmpty(usedPixels));
        usedWeights = usedPixels = -1;
    };
    for (int load = 0; load < loads; ++load) {
        bool used = false;
        for (int tap = 0; tap < args.tapsOfLoad; ++tap, ++step) {
            if (!depth || (step & 1) == group) {
                if (!used) ptx::barrierWait(shared.pixelFull(pixelTurn.stage), pixelTurn.phase);
                used = true;
                ptx::barrierWait(shared.weightFull(weightTurn.stage), weightTurn.phase);
                const std::uint64_t a = ptx::wgmmaDescriptor(
                    shared.weights + weightTurn.stage * args.weightTiles * kTileBytes + groupWeights, 8 * kRowBytes,
                    kRowBytes);
                const std::uint64_t b = ptx::wgmmaDescriptor(
                    shared.pixels + pixelTurn.stage * args.pixelStride + groupPixels + args.tapBytes[tap],
                    args.groupStride, kRowBytes);
                ptx::wgmmaFence();
#pragma unroll
                for (int k = 0; k < chunk / 16; ++k) ptx::wgmma(sums, a + 2 * k, b + 2 * k);
                ptx::wgmmaCommit();
                ptx::wgmmaWait<1>();
                release();
                usedWeights = weightTurn.stage;
            }
            weightTurn.next(args.weightStages);
        }
        if (used) {
            usedPixels = pixelTurn.stage;
        } else {
            // Without the wait a group could pass the same stage twice before the other has passed it once.
            ptx::barrierWait(shared.pixelFull(pixelTurn.stage), pixelTurn.phase);
            if (elected) ptx::barrierArrive(shared.pixelEmpty(pixelTurn.stage));
        }
        pixelTurn.next(args.pixelStages);
    }
    ptx::wgmmaWait<0>();
    release();
}

/// Both warp groups hold sums over half of the depth: each sends the other the rounds that the other will store.
template <int first, int size>
__device__ void send(const float (&sums)[size], float* scratch, int thread) {
#pragma unroll
    for (int i = 0; i < kRoundRegisters; ++i) scratch[i * kGroupThreads + thread] = sums[first + i];
}
template <int first, int size>
__device__ void receive(float (&sums)[size], const float* scratch, int thread) {
#pragma unroll
    for (int i = 0; i < kRoundRegisters; ++i) sums[first + i] += scratch[i * kGroupThreads + thread];
}

template <int pixels, int round>
__device__ void exchangeRounds(float (&sums)[pixels / 2], float* mine, const float* other, int group, int thread) {
    constexpr int kRounds = pixels / kRoundPixels, kShare = (kRounds + 1) / 2;
    if constexpr (round < kShare) {
        constexpr int kFirst = round * kRoundRegisters, kSecond = (kShare + round) * kRoundRegisters;
        constexpr bool kBoth = kSecond < pixels / 2;
        if (group == 1) send<kFirst>(sums, mine, thread);
        if constexpr (kBoth) {
            if (group == 0) send<kSecond>(sums, mine, thread);
        }
        ptx::namedBarrier(3, 2 * kGroupThreads);
        if (group == 0) receive<kFirst>(sums, other, thread);
        if constexpr (kBoth) {
            if (group == 1) receive<kSecond>(sums, other, thread);
        }
        ptx::namedBarrier(3, 2 * kGroupThreads);
        exchangeRounds<pixels, round + 1>(sums, mine, other, group, thread);
    }
}

template <int pixels, int round>
__device__ void storeRounds(const float (&sums)[pixels / 2],
                            const TileTarget& to,
                            int from,
                            int until,
                            std::uint32_t scratch,
                            int& turn,
                            int barrier,
                            int thread) {
    if constexpr (round < pixels / kRoundPixels) {
        if (round >= from && round < until) {
            storeRound<round * kRoundRegisters>(sums, to, round, scratch, turn, barrier, thread);
        }
        storeRounds<pixels, round + 1>(sums, to, from, until, scratch, turn, barrier, thread);
    }
}

template <int pixels, int chunk>
__device__ void consume(const Sm90Args& args, const Shared& shared, std::byte* scratchOf0, int group) {
    constexpr int kRounds = pixels / kRoundPixels, kShare = (kRounds + 1) / 2;
    const int thread = threadIdx.x % kGroupThreads;
    const bool depth = args.split == Split::depth;
    float* const mine = reinterpret_cast<float*>(scratchOf0 + group * args.scratchBytes);
    const float* const other = reinterpret_cast<const float*>(scratchOf0 + (1 - group) * args.scratchBytes);
    const int row = thread / 32 * 16 + thread % 32 / 4;
    Turn pixelTurn, weightTurn;
    int storeTurn = 0;
    for (int index = blockIdx.x; index < args.tiles; index += gridDim.x) {
        const Tile tile = tileAt(args, index);
        const int channelTile = tile.channelTile + (args.split == Split::channels ? group : 0);
        const float* bias = args.bias + channelTile * kTileChannels + row;
        const int y = tile.y + (args.split == Split::pixels ? group * (pixels / args.tileWidth) : 0);
        const TileTarget target{&args.out,
                                args.pool ? &args.pooled : nullptr,
                                channelTile % args.rowTiles * kTileChannels,
                                tile.x,
                                channelTile / args.rowTiles,
                                y,
                                tile.batch,
                                args.tileWidth,
                                bias[0],
                                bias[8],
                                args.relu};
        float sums[pixels / 2];
#pragma unroll
        for (int i = 0; i < pixels / 2; ++i) sums[i] = 0;
        multiply<pixels, chunk>(sums, args, shared, pixelTurn, weightTurn, group);
        if (depth) {
            if (thread == 0) ptx::storeWaitRead<0>();
            ptx::namedBarrier(1 + group, kGroupThreads);
            exchangeRounds<pixels, 0>(sums, mine, other, group, thread);
        }
        const int from = depth && group == 1 ? kShare : 0, until = depth && group == 0 ? kShare : kRounds;
        storeRounds<pixels, 0>(sums, target, from, until, shared.scratch + group * args.scratchBytes, storeTurn,
                               1 + group, thread);
    }
    if (thread == 0) ptx::storeWaitDone();
}
#endif

template <int pixels, int chunk>
__global__ void __launch_bounds__(kThreads, 1) convSm90Kernel(const __grid_constant__ Sm90Args args) {
#if __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ std::byte raw[];
    const std::uint32_t rawAddress = ptx::sharedAddress(raw);
    const Shared shared = sharedLayout<chunk>(args, rawAddress);
    if (threadIdx.x == 0) {
        ptx::prefetchTensorMap(&args.in[0]);
        ptx::prefetchTensorMap(&args.out);
        initBarriers(args, shared);
    }
    __syncthreads();
    ptx::launchDependents();
    const int group = threadIdx.x / kGroupThreads;
    if (group == 2) {
        ptx::giveRegisters<40>();
        // Weights never change: only the pixels come from the kernel before this one.
        if (threadIdx.x == 2 * kGroupThreads) {
            ptx::waitForPrevious();
            loadPixels<chunk>(args, shared);
        } else if (threadIdx.x == 2 * kGroupThreads + 32) {
            loadWeights<chunk>(args, shared);
        }
    } else {
        ptx::takeRegisters<232>();
        consume<pixels, chunk>(args, shared, raw + (shared.scratch - rawAddress), group);
    }
#endif
}

using Kernel = void (*)(Sm90Args);

Kernel kernelFor(const ConvConfig& config) {
    const auto ofChunk = [&]<int pixels>() -> Kernel {
        switch (config.chunk) {
            case 64: return convSm90Kernel<pixels, 64>;
            case 32: return convSm90Kernel<pixels, 32>;
            default: return convSm90Kernel<pixels, 16>;
        }
    };
    switch (config.pixels) {
        case 256: return ofChunk.operator()<256>();
        case 128: return ofChunk.operator()<128>();
        default: return ofChunk.operator()<64>();
    }
}

int ceilDiv(int value, int by) {
    return (value + by - 1) / by;
}

int roundUp(int value, int to) {
    return ceilDiv(value, to) * to;
}

/// As many stages of each kind as shared memory holds: two or more of pixels first, then weights. A warp group gives a
/// stage back only after its next step's products were issued, so it must never hold all of a ring: split by depth its
/// next step lies two further, and with an even number of weight stages each is always the same group's, which can't
/// miss a time round the ring.
void chooseStages(Sm90Args& args, int chunk) {
    const bool depth = args.split == Split::depth;
    const int leastPixels = depth && args.tapsOfLoad == 1 ? 3 : 2, leastWeights = depth ? 4 : 2;
    const int weightBytes = args.weightTiles * kTileChannels * chunk * 2;
    const int budget = kSharedLimit - kAlignment - kBarrierBytes - 2 * args.scratchBytes;
    int pixelStages = (budget - 4 * weightBytes) / args.pixelStride;
    if (pixelStages < leastPixels) pixelStages = (budget - leastWeights * weightBytes) / args.pixelStride;
    args.pixelStages = std::clamp(pixelStages, 1, 4);
    args.weightStages = std::min(8, (budget - args.pixelStages * args.pixelStride) / weightBytes);
    if (depth) args.weightStages = args.weightStages / 2 * 2;
    if (args.pixelStages < leastPixels || args.weightStages < leastWeights) {
        throw Error(Area::engine, "A layer's tile is too large for the GPU's shared memory: report this model.");
    }
}

void setGeometry(Sm90Args& args, const ConvShape& shape, const ConvConfig& config) {
    const bool up = shape.kind == ConvKind::up2x2;
    const int rowBytes = config.chunk * 2;
    const int pitch = config.tileWidth + (config.halo ? 2 : 0);
    args.split = config.split;
    args.relu = !up;
    args.pool = shape.pooled;
    args.chunks0 = ceilDiv(shape.in0Channels, config.chunk);
    args.chunks = args.chunks0 + ceilDiv(shape.in1Channels, config.chunk);
    args.taps = shape.taps();
    args.loads = up || config.halo ? 1 : 3;
    args.tapsOfLoad = args.taps / args.loads;
    args.firstX = args.firstY = up ? 0 : -1;
    args.tileWidth = config.tileWidth;
    args.tileHeight = config.pixels * (config.split == Split::pixels ? 2 : 1) / config.tileWidth;
    args.tilesX = ceilDiv(shape.width, args.tileWidth);
    args.tilesY = ceilDiv(shape.height, args.tileHeight);
    args.rowTiles = shape.rowTiles();
    args.weightTiles = config.split == Split::channels ? 2 : 1;
    args.tilesC = ceilDiv(shape.rowTiles() * shape.rows(), args.weightTiles);
    args.tiles = shape.batch * args.tilesC * args.tilesX * args.tilesY;
    args.groupStride = config.halo ? pitch * rowBytes : 8 * rowBytes;
    args.secondGroupBytes = config.pixels / config.tileWidth * pitch * rowBytes;
    for (int tap = 0; tap < args.tapsOfLoad; ++tap) {
        args.tapBytes[tap] = (tap % 3 * pitch + tap / 3) * rowBytes;
    }
}

TensorBox activationBox(const ConvShape& shape, int channels, int boxChannels, int boxWidth, int boxHeight) {
    return {{paddedChannels(channels), shape.width, shape.height, shape.batch, 1},
            {boxChannels, boxWidth, boxHeight, 1, 1},
            4};
}

class Sm90Launch : public ConvLaunch::Prepared {
public:
    Sm90Launch(const ConvShape& shape, const ConvConfig& config, const ConvBuffers& buffers, const DeviceFacts& device)
        : kernel_(kernelFor(config)) {
        setGeometry(args_, shape, config);
        args_.weights = static_cast<const std::byte*>(buffers.weights);
        args_.bias = buffers.bias;
        const int boxWidth = config.tileWidth + (config.halo ? 2 : 0);
        const int boxHeight = args_.tileHeight + (args_.taps == 9 ? 2 : 0);
        args_.pixelBytes = boxWidth * boxHeight * config.chunk * 2;
        args_.pixelStride = roundUp(args_.pixelBytes, kAlignment);
        args_.scratchBytes = kScratchBytes + (shape.pooled ? kPooledScratchBytes : 0);
        chooseStages(args_, config.chunk);
        args_.in[0] = args_.in[1] =
            makeTensorMap(buffers.in0, activationBox(shape, shape.in0Channels, config.chunk, boxWidth, boxHeight));
        if (shape.in1Channels > 0) {
            args_.in[1] =
                makeTensorMap(buffers.in1, activationBox(shape, shape.in1Channels, config.chunk, boxWidth, boxHeight));
        }
        describeOutputs(shape, config, buffers);
        sharedBytes_ = kSharedLimit;
        grid_ = std::min(args_.tiles, device.multiprocessors);
        CUDA_CHECK(cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize, sharedBytes_));
    }

    void launch(cudaStream_t stream, bool overlap) const override {
        cudaLaunchAttribute attribute{};
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(unsigned(grid_));
        config.blockDim = dim3(kThreads);
        config.dynamicSmemBytes = std::size_t(sharedBytes_);
        config.stream = stream;
        config.attrs = &attribute;
        config.numAttrs = overlap ? 1 : 0;
        CUDA_CHECK(cudaLaunchKernelEx(&config, kernel_, args_));
    }

private:
    void describeOutputs(const ConvShape& shape, const ConvConfig& config, const ConvBuffers& buffers) {
        const int rounds = kRoundPixels / config.tileWidth;
        args_.out =
            makeTensorMap(buffers.out, {{shape.rowChannels(), shape.width, shape.rows(), shape.height, shape.batch},
                                        {kTileChannels, config.tileWidth, 1, rounds, 1},
                                        5});
        args_.pooled = args_.out;
        if (shape.pooled) {
            args_.pooled =
                makeTensorMap(buffers.pooled, {{shape.rowChannels(), shape.width / 2, 1, shape.height / 2, shape.batch},
                                               {kTileChannels, config.tileWidth / 2, 1, rounds / 2, 1},
                                               5});
        }
    }

    Sm90Args args_{};
    Kernel kernel_;
    int grid_ = 0, sharedBytes_ = 0;
};

}  // namespace

std::unique_ptr<ConvLaunch::Prepared> prepareSm90(const ConvShape& shape,
                                                  const ConvConfig& config,
                                                  const ConvBuffers& buffers,
                                                  const DeviceFacts& device) {
    return std::make_unique<Sm90Launch>(shape, config, buffers, device);
}

}  // namespace matte
