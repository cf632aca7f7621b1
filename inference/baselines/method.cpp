// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/method.h"

#include <algorithm>
#include <array>
#include <utility>

#include "inference/baselines/rungs.h"
#include "inference/core/error.h"
#include "inference/cuda/device/devices.h"

namespace matte::ladder {
namespace {

template <MakeBlock block, PlainLayers (*plain)(), Where where, bool resident>
std::unique_ptr<NetworkMethod> layered(const ModelPointer& model) {
    const PlainLayers layers = plain();
    return makeLayeredNetwork(model,
                              {where, resident, block, layers.maxPool, layers.upConv, layers.head, layers.bottleneck});
}

template <MakeBlock block, bool resident = true>
constexpr MakeNetwork kOnGpu = layered<block, gpuLayers, Where::gpu, resident>;
template <MakeBlock block, PlainLayers (*plain)()>
constexpr MakeNetwork kOnCpu = layered<block, plain, Where::cpu, true>;

constexpr double kExact = 1e-10, kHalves = 1e-5;

const std::array kMethods{
    Method{"cpu-sequential", "CPU: the definition", Where::cpu, kExact, false, false, makeSequential,
           kOnCpu<makeSequential, sequentialLayers>},
    Method{"cpu-parallel", "CPU: parallel loops", Where::cpu, kExact, false, false, makeParallel,
           kOnCpu<makeParallel, parallelLayers>},
    Method{"cpu-im2col", "CPU: im2col and a matrix product", Where::cpu, kExact, false, false, makeCpuIm2col,
           kOnCpu<makeCpuIm2col, parallelLayers>},
    Method{"cpu-onednn", "CPU: oneDNN", Where::cpu, kExact, false, false, nullptr, makeOneDnn},
    Method{"gpu-direct", "GPU: direct, each step copied", Where::gpu, kExact, false, false, makeDirect,
           kOnGpu<makeDirect, false>},
    Method{"gpu-tiled-plain", "GPU: the course's tiles, each step copied", Where::gpu, kExact, false, false,
           makeTiledPlain, kOnGpu<makeTiledPlain, false>},
    Method{"gpu-tiled", "GPU: tiles in shared memory, each step copied", Where::gpu, kExact, false, false, makeTiled,
           kOnGpu<makeTiled, false>},
    Method{"gpu-fused", "GPU: fused, each layer copied", Where::gpu, kExact, false, false, makeFused,
           kOnGpu<makeFused, false>},
    Method{"gpu-resident", "GPU: fused and resident", Where::gpu, kExact, false, false, nullptr, kOnGpu<makeFused>},
    Method{"gpu-im2col", "GPU: im2col and a matrix product", Where::gpu, kExact, false, false, makeIm2col,
           kOnGpu<makeIm2col>},
    Method{"gpu-winograd", "GPU: Winograd F(2x2, 3x3)", Where::gpu, kExact, false, false, makeWinograd,
           kOnGpu<makeWinograd>},
    Method{"gpu-implicit", "GPU: implicit matrix product, single precision", Where::gpu, kExact, false, true,
           makeImplicitFp32, makeProductFp32},
    Method{"gpu-mma", "GPU: tensor cores (mma.sync)", Where::gpu, kHalves, true, true, makeImplicitMma, makeProductMma},
    Method{"gpu-wgmma", "GPU: Hopper's tensor cores (wgmma, TMA)", Where::gpu, kHalves, true, true, makeImplicitSm90,
           makeProductSm90},
    Method{"gpu-cudnn", "GPU: cuDNN, not ours", Where::gpu, kExact, false, false, makeCudnn, nullptr},
};

/// wgmma needs compute capability 9.0 exactly, mma.sync on halves 8.0 or more.
std::string whyNotOn(const CudaDevice& device, std::string_view name) {
    const std::string has = device.name + " has compute capability " + std::to_string(device.computeMajor) + "." +
                            std::to_string(device.computeMinor);
    if (name == "gpu-wgmma" && (device.computeMajor != 9 || device.computeMinor != 0)) {
        return has + ", and wgmma exists on 9.0 alone: choose gpu-mma.";
    }
    if (name == "gpu-mma" && device.computeMajor < 8) return has + ", and this kernel needs 8.0: choose gpu-implicit.";
#ifndef MATTE_HAVE_SM90
    if (name == "gpu-wgmma") return "This program was built without the kernels for 9.0: choose gpu-mma.";
#endif
    return {};
}

}  // namespace

std::span<const Method> methods() {
    return kMethods;
}

const Method& methodNamed(std::string_view name) {
    std::string names;
    for (const Method& method : kMethods) {
        if (method.name == name) return method;
        names += (names.empty() ? "" : ", ") + std::string(method.name);
    }
    throw Error(Area::usage, "There is no method '" + std::string(name) + "': use one of " + names + ".");
}

const Method& networkMethodNamed(std::string_view name) {
    const auto found = std::ranges::find(kMethods, name, &Method::name);
    if (found == kMethods.end() || !found->network) {
        std::string sentence = found == kMethods.end() ? "There is no method '" : "Single layers alone run by '";
        sentence += name;
        sentence += "'";
        const char* before = ": use one of ";
        for (const Method& method : kMethods) {
            if (method.network) sentence += std::exchange(before, ", ") + std::string(method.name);
        }
        throw Error(Area::usage, sentence + ".");
    }
    if (const std::string why = whyUnavailable(*found); !why.empty()) {
        throw Error(Area::engine, "The method '" + std::string(name) + "' can't be used: " + why);
    }
    return *found;
}

std::string whyUnavailable(const Method& method) {
    if (method.name == "cpu-onednn") return whyNoOneDnn();
    if (method.where == Where::cpu) return {};
    const CudaStatus cuda = queryCuda();
    if (!cuda.unavailable.empty()) return cuda.unavailable;
    if (method.name == "gpu-cudnn") return whyNoCudnn();
    return whyNotOn(cuda.devices.front(), method.name);
}

std::unique_ptr<NetworkMethod> makeNetwork(const Method& method, const ModelPointer& model) {
    if (const std::string why = whyUnavailable(method); !why.empty()) throw Error(Area::engine, why);
    if (!method.network) {
        throw Error(Area::engine, std::string(method.name) + " runs single layers only: choose another method.");
    }
    return method.network(model);
}

std::unique_ptr<Layer> makeBlock(const Method& method, const Block& block, const Shape& in) {
    if (const std::string why = whyUnavailable(method); !why.empty()) throw Error(Area::engine, why);
    if (!method.block) {
        throw Error(Area::engine, std::string(method.name) + " runs whole networks only: choose another method.");
    }
    if (method.needsRelu && !block.relu) {
        throw Error(Area::engine, std::string(method.name) + " always ends in a ReLU: choose another method.");
    }
    return method.block(block, in);
}

}  // namespace matte::ladder
