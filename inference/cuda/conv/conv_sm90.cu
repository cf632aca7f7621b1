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
//
// conv_sm90_load.cuh has the producers, conv_sm90_multiply.cuh and conv_sm90_exchange.cuh the consumers' products and
// sums, epilogue.cuh their way out, conv_sm90_launch.cpp the host's side.
#include "inference/cuda/conv/conv_sm90_exchange.cuh"
#include "inference/cuda/conv/conv_sm90_load.cuh"
#include "inference/cuda/conv/conv_sm90_multiply.cuh"

namespace matte {
namespace sm90 {
namespace {

#if __CUDA_ARCH_FEAT_SM90_ALL

template <int pixels, int round = 0>
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
            storeRound<round * kRoundRegisters>(sums, to, round, {}, scratch, turn, barrier, thread);
        }
        storeRounds<pixels, round + 1>(sums, to, from, until, scratch, turn, barrier, thread);
    }
}

template <int pixels>
__device__ TileTarget targetOf(const Sm90Args& args, const Tile& tile, int group, int thread) {
    const int channelTile = tile.channelTile + (args.split == Split::channels ? group : 0);
    const int warp = thread / 32;
    const float* bias = args.bias + channelTile * kTileChannels + warp * 16 + thread % 32 / 4;
    return {&args.out,
            args.pool ? &args.pooled : nullptr,
            args.head,
            channelTile % args.rowTiles * kTileChannels,
            tile.x,
            channelTile / args.rowTiles,
            tile.y + (args.split == Split::pixels ? group * (pixels / args.tileWidth) : 0),
            tile.batch,
            args.width,
            args.height,
            args.tileWidth,
            args.fold,
            bias[0],
            bias[8],
            args.units > 1 ? foldedPiece(warp, 0, args.units) : warp * 2,
            args.units > 1 ? foldedPiece(warp, 1, args.units) : warp * 2 + 1,
            args.relu};
}

/// The end of a tile whose depth a cluster shares: this block stores its slice of the pixels.
__device__ void storeSlice(float (&sums)[kRoundRegisters],
                           const Sm90Args& args,
                           const Shared& shared,
                           const TileTarget& to,
                           const Work& work,
                           int group,
                           int thread) {
    sendSlices(sums, args, shared, work.rank, group, thread);
    if (group == 1) return;
    receiveSlices(sums, args, shared, work.rank, thread);
    const int pairs = kPairs / args.cluster;
    int turn = 0;
    storeRound<0>(sums, to, 0, {work.rank * pairs, (work.rank + 1) * pairs}, shared.scratch, turn, kGroupBarrier,
                  thread);
}

template <int pixels, int chunk, int taps>
__device__ void consume(
    const Sm90Args& args, const Shared& shared, std::byte* scratchOf0, const Work& work, int group) {
    constexpr int kRounds = pixels / kRoundPixels, kShare = (kRounds + 1) / 2;
    const int thread = threadIdx.x % kGroupThreads;
    const bool depth = args.split == Split::depth;
    float* const mine = reinterpret_cast<float*>(scratchOf0 + group * args.scratchBytes);
    const float* const other = reinterpret_cast<const float*>(scratchOf0 + (1 - group) * args.scratchBytes);
    Consumer at{args, shared, group, {}, {}};
    const TakesTurns turns{args.split == Split::tiles, group};
    if (group == 1) turns.end(true);  // the first tile is the other's
    int storeTurn = 0, ordinal = 0;
    for (int index = work.first; index < args.tiles; index += work.step, ++ordinal) {
        if (turns.on && ordinal % 2 != group) {
            at.skipTile(work.loads);
            continue;
        }
        const TileTarget target = targetOf<pixels>(args, tileAt(args, index), group, thread);
        float sums[pixels / 2];
#pragma unroll
        for (int i = 0; i < pixels / 2; ++i) sums[i] = 0;
        multiply<pixels, chunk, taps>(sums, at, work.loads, turns, index + work.step < args.tiles);
        if constexpr (pixels == kRoundPixels) {
            if (args.cluster > 1) {
                storeSlice(sums, args, shared, target, work, group, thread);
                break;
            }
        }
        if (depth) {
            if (thread == 0) ptx::storeWaitRead<0>();
            ptx::namedBarrier(kGroupBarrier + group, kGroupThreads);
            exchangeRounds<pixels>(sums, mine, other, group, thread);
        }
        const int from = depth && group == 1 ? kShare : 0, until = depth && group == 0 ? kShare : kRounds;
        storeRounds<pixels>(sums, target, from, until, shared.scratch + group * args.scratchBytes, storeTurn,
                            kGroupBarrier + group, thread);
    }
    if (thread == 0) ptx::storeWaitDone();
}
#endif

template <int pixels, int chunk, int taps>
__global__ void __launch_bounds__(sm90Threads(pixels), sm90Blocks(pixels))
    convSm90Kernel(const __grid_constant__ Sm90Args args) {
#if __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ std::byte raw[];
    const std::uint32_t rawAddress = ptx::sharedAddress(raw);
    const Shared shared = sharedLayout<chunk>(args, rawAddress);
    const Work work(args);
    if (threadIdx.x == 0) {
        ptx::prefetchTensorMap(&args.in[0]);
        if (!args.head.alpha) ptx::prefetchTensorMap(&args.out);
        initBarriers(args, shared);
        if (args.cluster > 1) ptx::barrierArriveExpect(shared.sumsFull(), slicesBytes(args));
    }
    __syncthreads();
    if (args.cluster > 1) ptx::clusterBarrier();
    ptx::launchDependents();
    const int group = __shfl_sync(0xFFFFFFFF, int(threadIdx.x) / kGroupThreads, 0);
    if (group == 2) {
        if constexpr (pixels == 256) ptx::giveRegisters<40>();
        // Weights never change: only the pixels come from the kernel before this one.
        if (threadIdx.x == 2 * kGroupThreads) {
            ptx::waitForPrevious();
            loadPixels<chunk>(args, shared, work);
        } else if (threadIdx.x == 2 * kGroupThreads + 32) {
            loadWeights<chunk>(args, shared, work);
        }
    } else {
        if constexpr (pixels == 256) ptx::takeRegisters<232>();
        consume<pixels, chunk, taps>(args, shared, raw + (shared.scratch - rawAddress), work, group);
    }
#endif
}

}  // namespace
}  // namespace sm90

const void* sm90KernelFor(const ConvConfig& config) {
    const auto address = [](void (*kernel)(Sm90Args)) { return reinterpret_cast<const void*>(kernel); };
    const auto ofTaps = [&]<int pixels, int chunk>() {
        return config.stageTaps == 3 ? address(sm90::convSm90Kernel<pixels, chunk, 3>)
                                     : address(sm90::convSm90Kernel<pixels, chunk, 1>);
    };
    const auto ofChunk = [&]<int pixels>() {
        switch (config.chunk) {
            case 64: return ofTaps.operator()<pixels, 64>();
            case 32: return ofTaps.operator()<pixels, 32>();
            default: return ofTaps.operator()<pixels, 16>();
        }
    };
    switch (config.pixels) {
        case 256: return ofChunk.operator()<256>();
        case 128: return ofChunk.operator()<128>();
        default: return ofChunk.operator()<64>();
    }
}

}  // namespace matte
