// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "inference/cuda/conv.h"

namespace matte {
namespace {

int ceilDiv(int value, int by) {
    return (value + by - 1) / by;
}

/// Steps of `chunk` channels over both inputs.
int chunksOf(const ConvShape& shape, int chunk) {
    return ceilDiv(shape.in0Channels, chunk) + ceilDiv(shape.in1Channels, chunk);
}

/// The network's first layer: nine taps of three channels are one chunk, a ninth of the products.
bool gathers(const ConvShape& shape) {
    return shape.kind == ConvKind::conv3x3 && shape.in0Channels <= 3 && shape.in1Channels == 0;
}

/// The chunk that wastes least on padding; among equals the largest, which needs the fewest steps.
int sm90Chunk(const ConvShape& shape) {
    int best = 64;
    for (const int chunk : {32, 16}) {
        if (chunksOf(shape, chunk) * chunk < chunksOf(shape, best) * best) best = chunk;
    }
    return best;
}

/// Tiles of the multiprocessor that has most.
double share(double tiles, const DeviceFacts& device) {
    return std::ceil(tiles / device.multiprocessors);
}

/// Clock cycles that a layer should take. For each chunk the slowest of three: the tensor cores with both warp groups,
/// one warp group's own chain of steps, and the loads from the L2 cache; besides, what a tile's end and a launch cost.
/// The constants were fitted to every configuration of 35 layers on an H200: those up to twice as slow as the best one
/// lie 5 % from the measured time, root mean square.
double sm90Cycles(const ConvShape& shape, const ConvConfig& config, const DeviceFacts& device) {
    constexpr double kProduct = 32, kProductPerPixel = 0.32, kChain = 266, kL2BytesPerCycle = 54;
    constexpr double kLoad = 76, kLoadOfChain = 264, kOneStage = 500, kTwoStagesBytes = 80 * 1024;
    constexpr double kTileEnd = 1008, kRoundEnd = 794, kPooledRoundEnd = 170, kExchangeEnd = 162, kLaunch = 3700;
    const bool up = shape.kind == ConvKind::up2x2, depth = config.split == Split::depth;
    const int tilePixels = config.pixels * (config.split == Split::pixels ? 2 : 1);
    const int tileHeight = tilePixels / config.tileWidth;
    const int rowTiles = shape.rowTiles() * shape.rows();
    const int channelTiles = config.split == Split::channels ? ceilDiv(rowTiles, 2) : rowTiles;
    const double tiles =
        double(shape.batch) * channelTiles * ceilDiv(shape.height, tileHeight) * ceilDiv(shape.width, config.tileWidth);
    const double perRow = config.chunk * 2;
    const int chunks = chunksOf(shape, config.chunk);
    const int loads = up || config.halo ? 1 : 3;
    const int boxWidth = config.tileWidth + (config.halo ? 2 : 0), boxHeight = tileHeight + (up ? 0 : 2);
    const double product = std::max(config.pixels / 2.0, kProduct + config.pixels * kProductPerPixel);
    const double loadBytes = boxWidth * boxHeight * perRow;
    const double starved = loadBytes > kTwoStagesBytes ? kOneStage * loads : 0;
    const double tensor =
        config.chunk / 16.0 * shape.taps() * (depth ? 1 : 2) * product * 1.06 + loads * kLoad + starved;
    const double chain =
        shape.taps() * (depth ? 0.5 : 1.0) * (config.chunk / 16.0 * product + kChain) + loads * kLoadOfChain + starved;
    const double weightBytes = 64 * perRow * shape.taps() * (config.split == Split::channels ? 2 : 1);
    const double l2 = (weightBytes + loads * loadBytes) / kL2BytesPerCycle;
    const double end = kTileEnd + config.pixels / 64.0 * (kRoundEnd + (shape.pooled ? kPooledRoundEnd : 0)) +
                       (depth ? kExchangeEnd * std::max(1.0, config.pixels / 128.0) : 0);
    return share(tiles, device) * (chunks * std::max({tensor, chain, l2}) + end) + kLaunch;
}

std::vector<ConvConfig> sm90Configs(const ConvShape& shape) {
    std::vector<ConvConfig> configs;
    const int chunk = sm90Chunk(shape);
    for (const int pixels : {256, 128, 64}) {
        for (const Split split : {Split::channels, Split::pixels, Split::depth}) {
            if (split == Split::channels && shape.rowTiles() * shape.rows() == 1) continue;
            for (const int tileWidth : {8, 16}) {
                configs.push_back({ConvKernel::sm90, chunk, pixels, 64, tileWidth, split, false, false});
            }
            if (shape.taps() == 9) configs.push_back({ConvKernel::sm90, chunk, pixels, 64, 8, split, true, false});
        }
    }
    return configs;
}

/// As above for mma.sync: two or more blocks share a multiprocessor, and half of the tensor cores' rate is out of
/// reach.
double mmaCycles(const ConvShape& shape, const ConvConfig& config, const DeviceFacts& device) {
    const int rowTiles = shape.rowTiles() * shape.rows();
    const double tiles = double(shape.batch) * ceilDiv(rowTiles * 64, config.channels) *
                         ceilDiv(shape.height, config.pixels / 16) * ceilDiv(shape.width, 16);
    const double products = config.gathered ? 1 : double(chunksOf(shape, 32)) * shape.taps();
    const bool depth = config.split == Split::depth, wide = config.pixels * config.channels >= 128 * 128;
    const double perTile = products * config.pixels * config.channels / 64 + (depth ? 1800 : 1500);
    const double rounds = share(tiles, device);
    // A block alone on its multiprocessor can't hide its latencies, unless it has twice as many warps.
    const double exposed = !depth ? std::max(rounds, 1.6) : rounds == 1 ? 1.15 : rounds == 2 ? 1.8 : rounds * 1.05;
    // A tile of one or a few steps is mostly its loads and stores: square ones load least.
    if (config.gathered) return config.pixels * exposed * (config.pixels == 256 ? 1.3 : 1.0);
    if (shape.kind == ConvKind::up2x2 && config.channels == 128) return perTile * exposed * 0.85;
    return perTile * exposed * (wide ? 1.0 : 1.15);
}

std::vector<ConvConfig> mmaConfigs(const ConvShape& shape) {
    const bool gathered = gathers(shape);
    std::vector<ConvConfig> configs;
    for (const int pixels : {256, 128, 64}) {
        configs.push_back({ConvKernel::mma, 32, pixels, 64, 16, Split::channels, false, gathered});
    }
    if (shape.rowTiles() * shape.rows() > 1 && !gathered) {
        configs.push_back({ConvKernel::mma, 32, 128, 128, 16, Split::channels, false, false});
    }
    if (shape.kind == ConvKind::conv3x3 && !gathered) {
        for (const int pixels : {128, 64}) {
            configs.push_back({ConvKernel::mma, 32, pixels, 64, 16, Split::depth, false, false});
        }
    }
    return configs;
}

/// As above for single precision: what counts is how many warps a multiprocessor has to hide latencies with.
double fp32Cycles(const ConvShape& shape, const ConvConfig& config, const DeviceFacts& device) {
    const double tiles = double(shape.batch) * shape.rowTiles() * shape.rows() *
                         ceilDiv(shape.height, config.pixels / 16) * ceilDiv(shape.width, 16);
    const double mine = share(tiles, device), warps = std::min(16.0, mine * config.pixels / 32);
    const double cycles = mine * config.pixels * (1 + 2 / warps);
    if (shape.kind == ConvKind::up2x2) return cycles * (config.pixels == 256 ? 1.1 : 1.0);
    return cycles * (1 + 0.1 * (config.pixels + 32) / config.pixels);  // the border above and below
}

std::vector<ConvConfig> fp32Configs() {
    std::vector<ConvConfig> configs;
    for (const int pixels : {256, 128, 64}) {
        configs.push_back({ConvKernel::fp32, 8, pixels, 64, 16, Split::channels, false, false});
    }
    return configs;
}

}  // namespace

std::string ConvConfig::text() const {
    const std::array<const char*, 3> kernels{"mma", "sm90", "fp32"};
    const std::array<const char*, 3> splits{"channels", "pixels", "depth"};
    std::string text = std::string(kernels[int(kernel) - 1]) + " k" + std::to_string(chunk) + " " +
                       std::to_string(channels) + "x" + std::to_string(pixels) + " w" + std::to_string(tileWidth);
    if (gathered) text += " gathered";
    if (kernel == ConvKernel::mma && split == Split::depth) text += " depth";
    if (kernel == ConvKernel::sm90) text += std::string(" ") + splits[int(split) - 1] + (halo ? " halo" : "");
    return text;
}

DeviceFacts DeviceFacts::current() {
    int device = 0;
    DeviceFacts facts;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&facts.major, cudaDevAttrComputeCapabilityMajor, device));
    CUDA_CHECK(cudaDeviceGetAttribute(&facts.minor, cudaDevAttrComputeCapabilityMinor, device));
    CUDA_CHECK(cudaDeviceGetAttribute(&facts.multiprocessors, cudaDevAttrMultiProcessorCount, device));
    return facts;
}

std::vector<ConvConfig> rankedConfigs(const ConvShape& shape, const DeviceFacts& device, ConvKernel kernel) {
    const bool sm90 = kernel == ConvKernel::sm90, fp32 = kernel == ConvKernel::fp32;
    std::vector<ConvConfig> configs = sm90 ? sm90Configs(shape) : fp32 ? fp32Configs() : mmaConfigs(shape);
    const auto cycles = sm90 ? sm90Cycles : fp32 ? fp32Cycles : mmaCycles;
    std::ranges::stable_sort(configs, [&](const ConvConfig& a, const ConvConfig& b) {
        return cycles(shape, a, device) < cycles(shape, b, device);
    });
    return configs;
}

}  // namespace matte
