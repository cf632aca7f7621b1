// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "inference/cuda/conv/conv_sm90.h"

namespace matte {
namespace {

constexpr int kTileRows = 64, kRoundBytes = 64 * 128;

/// Neighbouring pixels whose channels fill a tile's 64 rows together.
int foldOf(const ConvShape& shape) {
    for (const int fold : {2, 4}) {
        if (shape.rowChannels() * fold == kTileRows && shape.widthMultiple % fold == 0) return fold;
    }
    return 1;
}

/// The chunk that wastes least on padding; among equals the largest, which needs the fewest steps.
int chunkOf(const ConvShape& shape) {
    int best = 64;
    for (const int chunk : {32, 16}) {
        if (shape.chunks(chunk) * chunk < shape.chunks(best) * best) best = chunk;
    }
    return best;
}

int tilePixels(const ConvConfig& config) {
    return config.pixels * (config.split == Split::pixels ? 2 : 1);
}

int channelTiles(const ConvShape& shape, const ConvConfig& config) {
    return ceilDiv(shape.rowTiles() * shape.rows(), config.split == Split::channels ? 2 : 1);
}

int loadsOfChunk(const ConvShape& shape, const ConvConfig& config) {
    return shape.taps() == 1 || config.halo ? 1 : 3;
}

/// As many stages of each kind as a block's share of shared memory holds: two or more of pixels first, then weights.
void chooseStages(Sm90Memory& memory, const ConvShape& shape, const ConvConfig& config, int blocks) {
    const bool depth = config.split == Split::depth;
    const int stagesOfLoad = shape.taps() / loadsOfChunk(shape, config) / config.stageTaps;
    // A warp group releases a stage only after issuing its next step's products, so it must never hold a whole ring.
    // With Split::depth its next step is two stages ahead, and with an even number of weight stages each stage always
    // belongs to the same group, which therefore can't miss a round.
    const int leastPixels = depth && stagesOfLoad == 1 ? 3 : 2;
    const int goodWeights = std::max(depth ? 4 : 2, 4 / config.stageTaps);
    const int leastWeights = blocks > 1 ? goodWeights : depth ? 4 : 2;
    const int weightBytes = (config.split == Split::channels ? 2 : 1) * config.stageTaps * kTileRows * config.chunk *
                            valueBytes(config.kernel);
    const int budget =
        memory.sharedBytes - Sm90Memory::kAlignment - Sm90Memory::kBarrierBytes - 2 * memory.scratchBytes;
    int pixelStages = (budget - goodWeights * weightBytes) / memory.pixelStride;
    if (pixelStages < leastPixels) pixelStages = (budget - leastWeights * weightBytes) / memory.pixelStride;
    memory.pixelStages = std::clamp(pixelStages, 0, 4);
    memory.weightStages =
        std::min(Sm90Memory::kMaxStages, (budget - memory.pixelStages * memory.pixelStride) / weightBytes);
    if (depth) memory.weightStages = memory.weightStages / 2 * 2;
    memory.blocks = memory.pixelStages >= leastPixels && memory.weightStages >= leastWeights ? blocks : 0;
}

}  // namespace

Sm90Memory sm90Memory(const ConvShape& shape, const ConvConfig& config) {
    constexpr int kReservedBytes = 1024;  // of each block
    const int border = shape.taps() == 9 ? 2 : 0;
    const int boxWidth = config.tileWidth + (config.halo ? 2 : 0);
    const int boxHeight = tilePixels(config) / config.tileWidth + border;
    Sm90Memory memory;
    memory.pixelBytes = boxWidth * boxHeight * config.chunk * valueBytes(config.kernel);
    memory.pixelStride = ceilDiv(memory.pixelBytes, Sm90Memory::kAlignment) * Sm90Memory::kAlignment;
    memory.scratchBytes = 2 * kRoundBytes + (shape.pooled ? 2 * kRoundBytes / 4 : 0);
    for (int blocks = sm90Blocks(config.pixels); blocks > 0 && !memory.fits(); --blocks) {
        memory.sharedBytes = (Sm90Memory::kMostBytes + kReservedBytes) / blocks - kReservedBytes;
        chooseStages(memory, shape, config, blocks);
    }
    return memory;
}

std::vector<ConvConfig> sm90Configs(const ConvShape& shape) {
    ConvConfig config{.kernel = ConvKernel::sm90, .fold = foldOf(shape)};
    const ConvShape seen = shape.folded(config.fold);
    config.chunk = chunkOf(seen);
    std::vector<ConvConfig> configs;
    const auto add = [&] {
        if (sm90Memory(seen, config).fits()) configs.push_back(config);
    };
    const bool taps9 = shape.taps() == 9;
    for (const int pixels : {256, 128, 64}) {
        for (const Split split : {Split::channels, Split::pixels, Split::depth, Split::tiles}) {
            if (split == Split::channels && seen.rowTiles() * seen.rows() == 1) continue;
            for (const int stageTaps : {3, 1}) {
                if (stageTaps == 3 && !taps9) continue;
                // A stage of a folded layer is one column of taps, each of which needs another part of the depth.
                if (stageTaps == 1 && taps9 && config.fold > 1) continue;
                config.pixels = pixels;
                config.split = split;
                config.stageTaps = stageTaps;
                for (const int tileWidth : {8, 16}) {
                    config.tileWidth = tileWidth;
                    add();
                }
                config.tileWidth = 8;
                if (pixels == 64 && split == Split::depth && config.fold == 1 && !shape.head) {
                    for (const int cluster : {2, 4}) {
                        config.cluster = cluster;
                        if (seen.chunks(config.chunk) * loadsOfChunk(seen, config) >= 2 * cluster) add();
                    }
                    config.cluster = 1;
                }
                if (!taps9) continue;
                config.halo = true;
                add();
                config.halo = false;
            }
        }
    }
    return configs;
}

/// The slowest of three: the tensor cores or the loads from the L2 cache of the multiprocessor that has most tiles; one
/// warp group's own chain of stages and tile ends, of which a multiprocessor has two to four beside each other; and the
/// device's memory. The constants were fitted to every configuration of 108 layers on an H200, where the first of the
/// ranked is 3 % slower than the best on average and the best is among the first eight.
double sm90Cycles(const ConvShape& shape, const ConvConfig& config, const DeviceFacts& device) {
    constexpr double kProduct = 16.7, kProductPerPixel = 0.445, kTensorLoss = 1.1;
    constexpr double kStage = 65, kLoad = 116, kLoadOfTwo = 412, kL2BytesPerCycle = 50, kMemoryBytesPerCycle = 1317;
    constexpr double kTileEnd = 549, kRoundEnd = 396, kPooledEnd = 409, kHeadEnd = 2360, kExchange = 920;
    constexpr double kCluster = 4955, kLaunch = 2540;
    const bool depth = config.split == Split::depth, turns = config.split == Split::tiles;
    const Sm90Memory memory = sm90Memory(shape, config);
    const double chunks = double(shape.chunks(config.chunk)) / config.cluster;
    const int loads = loadsOfChunk(shape, config), taps = shape.taps();
    double steps = config.chunk / 16.0 * taps;
    if (config.fold > 1 && taps == 9) steps *= (1 + 2 * std::max(1.0 / config.fold, 16.0 / config.chunk)) / 3;
    const double product = std::max(config.pixels / 2.0, kProduct + config.pixels * kProductPerPixel);
    const double tensor = chunks * steps * (depth || turns ? 1 : 2) * product * kTensorLoss;
    const double perLoad = kLoad + (memory.pixelStages == 2 ? kLoadOfTwo : 0);
    const double chain =
        chunks * ((depth ? 0.5 : 1.0) * (steps * product + double(taps) / config.stageTaps * kStage) + loads * perLoad);
    const double weightBytes = kTileRows * config.chunk * 2.0 * taps * (config.split == Split::channels ? 2 : 1);
    const double l2 = chunks * (weightBytes + loads * memory.pixelBytes) / kL2BytesPerCycle;
    const double rounds = config.pixels / 64.0 / (depth ? 2 : 1);
    const double end = kTileEnd + rounds * ((shape.head ? kHeadEnd : kRoundEnd) + (shape.pooled ? kPooledEnd : 0)) +
                       (depth ? kExchange * std::max(1.0, config.pixels / 128.0) : 0) +
                       (config.cluster > 1 ? kCluster : 0);
    const double tiles = double(shape.batch) * channelTiles(shape, config) * config.cluster *
                         ceilDiv(shape.height, tilePixels(config) / config.tileWidth) *
                         ceilDiv(shape.width, config.tileWidth);
    const double share = std::ceil(tiles / device.multiprocessors);
    const double chains = std::min(double(memory.blocks), share) * (turns ? 2 : 1);
    const double serial = std::ceil(share / chains) * (std::max(chain, l2) + end);
    const double busy = share * std::max(tensor, l2) + end;
    const double pixels = double(shape.batch) * shape.height * shape.width;
    const double out =
        shape.head ? 4.0 * config.fold : 2.0 * shape.rowChannels() * shape.rows() * (shape.pooled ? 1.25 : 1);
    const double in = 2.0 * (paddedChannels(shape.in0Channels) + paddedChannels(shape.in1Channels));
    const double moved = pixels * (in + out) / kMemoryBytesPerCycle;
    // A smooth maximum: limits of similar size slow each other down.
    return std::pow(std::pow(serial, 6) + std::pow(busy, 6) + std::pow(moved, 6), 1 / 6.0) + kLaunch;
}

}  // namespace matte
