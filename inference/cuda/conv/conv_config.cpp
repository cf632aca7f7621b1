// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "inference/cuda/conv/conv_sm90.h"

namespace matte {
namespace {

/// The network's first layer: nine taps of three channels are one chunk, a ninth of the products.
bool gathers(const ConvShape& shape) {
    return shape.kind == ConvKind::conv3x3 && shape.in0Channels <= 3 && shape.in1Channels == 0;
}

/// Tiles of the multiprocessor that has most.
double share(double tiles, const DeviceFacts& device) {
    return std::ceil(tiles / device.multiprocessors);
}

/// Clock cycles that a layer should take by mma.sync: two or more blocks share a multiprocessor, and half of the tensor
/// cores' rate is out of reach.
double mmaCycles(const ConvShape& shape, const ConvConfig& config, const DeviceFacts& device) {
    const int rowTiles = shape.rowTiles() * shape.rows();
    const double tiles = double(shape.batch) * ceilDiv(rowTiles * 64, config.channels) *
                         ceilDiv(shape.height, config.pixels / 16) * ceilDiv(shape.width, 16);
    const double products = config.gathered ? 1 : double(shape.chunks(32)) * shape.taps();
    const bool depth = config.split == Split::depth, wide = config.pixels * config.channels >= 128 * 128;
    const double perTile = products * config.pixels * config.channels / 64 + (depth ? 1800 : 1500);
    const double rounds = share(tiles, device);
    // A block alone on its multiprocessor can't hide its latencies, unless it has twice as many warps.
    const double exposed = !depth ? std::max(rounds, 1.6) : rounds == 1 ? 1.15 : rounds == 2 ? 1.8 : rounds * 1.05;
    // A tile of one or a few steps is mostly its loads and stores: square ones load least.
    if (config.gathered) return config.pixels * exposed * (config.pixels == 256 ? 1.3 : 1.0);
    if (shape.taps() == 1 && config.channels == 128) return perTile * exposed * 0.85;
    return perTile * exposed * (wide ? 1.0 : 1.15);
}

std::vector<ConvConfig> mmaConfigs(const ConvShape& shape) {
    const bool gathered = gathers(shape);
    std::vector<ConvConfig> configs;
    for (const int pixels : {256, 128, 64}) {
        configs.push_back({.chunk = 32, .pixels = pixels, .gathered = gathered});
    }
    if (shape.rowTiles() * shape.rows() > 1 && !gathered) {
        configs.push_back({.chunk = 32, .pixels = 128, .channels = 128});
    }
    if (shape.kind == ConvKind::conv3x3 && !gathered) {
        for (const int pixels : {128, 64}) {
            configs.push_back({.chunk = 32, .pixels = pixels, .split = Split::depth});
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
    if (shape.taps() == 1) return cycles * (config.pixels == 256 ? 1.1 : 1.0);
    return cycles * (1 + 0.1 * (config.pixels + 32) / config.pixels);  // the border above and below
}

std::vector<ConvConfig> fp32Configs() {
    std::vector<ConvConfig> configs;
    for (const int pixels : {256, 128, 64}) {
        configs.push_back({.kernel = ConvKernel::fp32, .chunk = 8, .pixels = pixels});
    }
    return configs;
}

}  // namespace

std::string ConvConfig::text() const {
    const std::array<const char*, 3> kernels{"mma", "sm90", "fp32"};
    const std::array<const char*, 4> splits{"channels", "pixels", "depth", "tiles"};
    std::string text = std::string(kernels[int(kernel) - 1]) + " k" + std::to_string(chunk) + " " +
                       std::to_string(channels) + "x" + std::to_string(pixels) + " w" + std::to_string(tileWidth);
    if (gathered) text += " gathered";
    if (kernel == ConvKernel::mma && split == Split::depth) text += " depth";
    if (kernel != ConvKernel::sm90) return text;
    text += std::string(" ") + splits[int(split) - 1] + (halo ? " halo" : "") + " t" + std::to_string(stageTaps);
    if (fold > 1) text += " fold" + std::to_string(fold);
    if (cluster > 1) text += " cluster" + std::to_string(cluster);
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
    if (shape.direct()) return {{.kernel = kernel}};
    const bool sm90 = kernel == ConvKernel::sm90 && shape.kind != ConvKind::pointwise;
    const bool fp32 = kernel == ConvKernel::fp32;
    std::vector<ConvConfig> configs = sm90 ? sm90Configs(shape) : fp32 ? fp32Configs() : mmaConfigs(shape);
    const auto cycles = sm90 ? sm90Cycles : fp32 ? fp32Cycles : mmaCycles;
    const ConvShape seen = shape.folded(configs.front().fold);
    std::ranges::stable_sort(configs, [&](const ConvConfig& a, const ConvConfig& b) {
        return cycles(seen, a, device) < cycles(seen, b, device);
    });
    return configs;
}

}  // namespace matte
