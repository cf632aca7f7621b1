// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

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

/// The chunk that wastes least on padding; among equals the largest, which needs the fewest steps.
int sm90Chunk(const ConvShape& shape) {
    int best = 64;
    for (const int chunk : {32, 16}) {
        if (chunksOf(shape, chunk) * chunk < chunksOf(shape, best) * best) best = chunk;
    }
    return best;
}

double waves(double tiles, int slots) {
    return double((std::int64_t(tiles) + slots - 1) / slots);
}

/// Clock cycles that a layer should take: for each step the slowest of the tensor cores, of shared memory (128 bytes a
/// cycle) and of the L2 cache (about 26 bytes a cycle for each multiprocessor), plus what a tile costs besides.
double sm90Cycles(const ConvShape& shape, const ConvConfig& config, const DeviceFacts& device) {
    const bool up = shape.kind == ConvKind::up2x2;
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
    const double groups = config.split == Split::depth ? 1 : 2;
    const double products = config.chunk / 16.0 * shape.taps() * groups;
    const double tensor = products * std::max(config.pixels / 2.0, 16.0 + config.pixels / 4.0);
    const double weightBytes = 64 * perRow * shape.taps() * (config.split == Split::channels ? 2 : 1);
    const double l2 = (weightBytes + loads * boxWidth * boxHeight * perRow) / 26;
    const double epilogue = 300 + 250 * (config.pixels / 64) + (config.split == Split::depth ? 300 : 0);
    return waves(tiles, device.multiprocessors) * (chunks * std::max(tensor * 1.1, l2) + epilogue) + 2000;
}

std::vector<ConvConfig> sm90Configs(const ConvShape& shape) {
    std::vector<ConvConfig> configs;
    const int chunk = sm90Chunk(shape);
    for (const int pixels : {256, 128, 64}) {
        for (const Split split : {Split::channels, Split::pixels, Split::depth}) {
            if (split == Split::channels && shape.rowTiles() * shape.rows() == 1) continue;
            for (const int tileWidth : {8, 16}) {
                configs.push_back({ConvKernel::sm90, chunk, pixels, 64, tileWidth, split, false});
            }
            if (shape.taps() == 9) configs.push_back({ConvKernel::sm90, chunk, pixels, 64, 8, split, true});
        }
    }
    return configs;
}

/// As above for mma.sync: two blocks share a multiprocessor, and half of the tensor cores' rate is out of reach.
double mmaCycles(const ConvShape& shape, const ConvConfig& config, const DeviceFacts& device) {
    const int rowTiles = shape.rowTiles() * shape.rows();
    const double tiles = double(shape.batch) * ceilDiv(rowTiles * 64, config.channels) *
                         ceilDiv(shape.height, config.pixels / 16) * ceilDiv(shape.width, 16);
    const double perTile = double(chunksOf(shape, 32)) * shape.taps() * config.pixels * config.channels / 64 + 1500;
    // A block alone on its multiprocessor can't hide its latencies.
    const double rounds = waves(tiles, device.multiprocessors);
    return perTile * std::max(rounds, 1.6) * (config.pixels * config.channels >= 128 * 128 ? 1.0 : 1.15);
}

std::vector<ConvConfig> mmaConfigs(const ConvShape& shape) {
    std::vector<ConvConfig> configs;
    configs.push_back({ConvKernel::mma, 32, 256, 64, 16, Split::channels, false});
    configs.push_back({ConvKernel::mma, 32, 128, 64, 16, Split::channels, false});
    configs.push_back({ConvKernel::mma, 32, 64, 64, 16, Split::channels, false});
    if (shape.rowTiles() * shape.rows() > 1)
        configs.push_back({ConvKernel::mma, 32, 128, 128, 16, Split::channels, false});
    return configs;
}

}  // namespace

std::string ConvConfig::text() const {
    const std::array<const char*, 2> kernels{"mma", "sm90"};
    const std::array<const char*, 3> splits{"channels", "pixels", "depth"};
    std::string text = std::string(kernels[int(kernel) - 1]) + " k" + std::to_string(chunk) + " " +
                       std::to_string(channels) + "x" + std::to_string(pixels) + " w" + std::to_string(tileWidth);
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
    const bool sm90 = kernel == ConvKernel::sm90;
    std::vector<ConvConfig> configs = sm90 ? sm90Configs(shape) : mmaConfigs(shape);
    const auto cycles = sm90 ? sm90Cycles : mmaCycles;
    std::ranges::stable_sort(configs, [&](const ConvConfig& a, const ConvConfig& b) {
        return cycles(shape, a, device) < cycles(shape, b, device);
    });
    return configs;
}

}  // namespace matte
