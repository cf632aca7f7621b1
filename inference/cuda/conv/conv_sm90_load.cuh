// SPDX-License-Identifier: Apache-2.0
// The sm90 kernel's producers, one thread per ring buffer: they issue all loads of the block's tiles, in the order in
// which the consumers use them.
#pragma once

#include "inference/cuda/conv/conv_sm90_tile.cuh"

namespace matte::sm90 {
#if __CUDA_ARCH_FEAT_SM90_ALL

template <int chunk>
__device__ void loadPixels(const Sm90Args& args, const Shared& shared, const Work& work) {
    Turn turn;
    for (int index = work.first; index < args.tiles; index += work.step) {
        const Tile tile = tileAt(args, index);
        for (int load = work.firstLoad; load < work.firstLoad + work.loads; ++load) {
            const int k = load / args.loadsOfChunk, column = load % args.loadsOfChunk;
            const bool second = k >= args.chunks0;
            ptx::barrierWait(shared.pixelEmpty(turn.stage), turn.phase ^ 1);
            const std::uint32_t full = shared.pixelFull(turn.stage);
            ptx::barrierArriveExpect(full, args.pixelBytes);
            ptx::tmaLoad4d(shared.pixels + turn.stage * args.pixelStride, &args.in[second], full,
                           (second ? k - args.chunks0 : k) * chunk, tile.x + args.firstX + column, tile.y + args.firstY,
                           tile.batch);
            turn.next(args.pixelStages);
        }
    }
}

template <int chunk>
__device__ void loadWeights(const Sm90Args& args, const Shared& shared, const Work& work) {
    const std::uint32_t stageBytes = args.stageTaps * kTapBytes<chunk>;  // of one tile of channels
    const std::size_t tileBytes = std::size_t(args.loads) * args.stagesOfLoad * stageBytes;
    Turn turn;
    for (int index = work.first; index < args.tiles; index += work.step) {
        const std::byte* source = args.weights + tileAt(args, index).channelTile * tileBytes +
                                  std::size_t(work.firstLoad) * args.stagesOfLoad * stageBytes;
        for (int i = 0; i < work.loads * args.stagesOfLoad; ++i, source += stageBytes) {
            ptx::barrierWait(shared.weightEmpty(turn.stage), turn.phase ^ 1);
            const std::uint32_t full = shared.weightFull(turn.stage);
            const std::uint32_t to = shared.weights + turn.stage * shared.weightBytes;
            ptx::barrierArriveExpect(full, shared.weightBytes);
            ptx::bulkLoad(to, source, stageBytes, full);
            if (args.weightTiles == 2) ptx::bulkLoad(to + stageBytes, source + tileBytes, stageBytes, full);
            turn.next(args.weightStages);
        }
    }
}
#endif

}  // namespace matte::sm90
