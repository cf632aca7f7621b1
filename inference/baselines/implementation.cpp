// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/implementation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "inference/baselines/baselines.h"
#include "inference/core/error.h"
#include "inference/cuda/device/devices.h"

namespace matte::baselines {
namespace {

template <MakeBlock block, PlainLayers (*plain)(), Where where, bool resident>
std::unique_ptr<NetworkImplementation> layered(const ModelPointer& model) {
    return makeLayeredNetwork(model, where, block, plain(), resident);
}

template <MakeBlock block, bool resident = true>
constexpr MakeNetwork kOnGpu = layered<block, gpuLayers, Where::gpu, resident>;
template <MakeBlock block, PlainLayers (*plain)()>
constexpr MakeNetwork kOnCpu = layered<block, plain, Where::cpu, true>;

constexpr double kExact = 1e-10, kHalves = 1e-5;

const std::array kImplementations{
    Implementation{"cpu-sequential", "CPU: the definition", Where::cpu, kExact, false, false, makeSequential,
                   kOnCpu<makeSequential, sequentialLayers>},
    Implementation{"cpu-parallel", "CPU: parallel loops", Where::cpu, kExact, false, false, makeParallel,
                   kOnCpu<makeParallel, parallelLayers>},
    Implementation{"cpu-im2col", "CPU: im2col and a matrix product", Where::cpu, kExact, false, false, makeCpuIm2col,
                   kOnCpu<makeCpuIm2col, parallelLayers>},
    Implementation{"cpu-onednn", "CPU: oneDNN", Where::cpu, kExact, false, false, nullptr, makeOneDnn},
    Implementation{"gpu-direct", "GPU: direct, each step copied", Where::gpu, kExact, false, false, makeDirect,
                   kOnGpu<makeDirect, false>},
    Implementation{"gpu-tiled-plain", "GPU: the course's tiles, each step copied", Where::gpu, kExact, false, false,
                   makeTiledPlain, kOnGpu<makeTiledPlain, false>},
    Implementation{"gpu-tiled", "GPU: tiles in shared memory, each step copied", Where::gpu, kExact, false, false,
                   makeTiled, kOnGpu<makeTiled, false>},
    Implementation{"gpu-fused", "GPU: fused, each layer copied", Where::gpu, kExact, false, false, makeFused,
                   kOnGpu<makeFused, false>},
    Implementation{"gpu-resident", "GPU: fused and resident", Where::gpu, kExact, false, false, nullptr,
                   kOnGpu<makeFused>},
    Implementation{"gpu-im2col", "GPU: im2col and a matrix product", Where::gpu, kExact, false, false, makeIm2col,
                   kOnGpu<makeIm2col>},
    Implementation{"gpu-winograd", "GPU: Winograd F(2x2, 3x3)", Where::gpu, kExact, false, false, makeWinograd,
                   kOnGpu<makeWinograd>},
    Implementation{"gpu-implicit", "GPU: implicit matrix product, single precision", Where::gpu, kExact, false, true,
                   makeImplicitFp32, makeProductFp32},
    Implementation{"gpu-mma", "GPU: tensor cores (mma.sync)", Where::gpu, kHalves, true, true, makeImplicitMma,
                   makeProductMma},
    Implementation{"gpu-wgmma", "GPU: Hopper's tensor cores (wgmma, TMA)", Where::gpu, kHalves, true, true,
                   makeImplicitSm90, makeProductSm90},
    Implementation{"gpu-cudnn", "GPU: cuDNN, not ours", Where::gpu, kExact, false, false, makeCudnn, nullptr},
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

/// "cpu-sequential, cpu-parallel, …"
std::string names(bool ofNetworks) {
    std::string all;
    for (const Implementation& implementation : kImplementations) {
        if (implementation.network || !ofNetworks) all += (all.empty() ? "" : ", ") + std::string(implementation.name);
    }
    return all;
}

[[noreturn]] void refuse(const Implementation& implementation, const std::string& why) {
    throw Error(ErrorCategory::engine,
                std::string(implementation.name) + " " + why + ": choose another implementation.");
}

}  // namespace

std::span<const Implementation> implementations() {
    return kImplementations;
}

const Implementation& implementationNamed(std::string_view name) {
    const auto found = std::ranges::find(kImplementations, name, &Implementation::name);
    if (found != kImplementations.end()) return *found;
    throw Error(ErrorCategory::usage,
                "There is no implementation '" + std::string(name) + "': use one of " + names(false) + ".");
}

const Implementation& networkImplementationNamed(std::string_view name) {
    const auto found = std::ranges::find(kImplementations, name, &Implementation::name);
    if (found == kImplementations.end() || !found->network) {
        const char* problem =
            found == kImplementations.end() ? "There is no implementation '" : "Single layers alone run by '";
        throw Error(ErrorCategory::usage, problem + std::string(name) + "': use one of " + names(true) + ".");
    }
    if (const std::string why = whyUnavailable(*found); !why.empty()) {
        throw Error(ErrorCategory::engine, "The implementation '" + std::string(name) + "' can't be used: " + why);
    }
    return *found;
}

std::string whyUnavailable(const Implementation& implementation) {
    if (implementation.name == "cpu-onednn") return whyNoOneDnn();
    if (implementation.where == Where::cpu) return {};
    const CudaStatus cuda = queryCuda();
    if (!cuda.unavailable.empty()) return cuda.unavailable;
    if (implementation.name == "gpu-cudnn") return whyNoCudnn();
    return whyNotOn(cuda.devices.front(), implementation.name);
}

std::unique_ptr<NetworkImplementation> makeNetwork(const Implementation& implementation, const ModelPointer& model) {
    if (const std::string why = whyUnavailable(implementation); !why.empty()) throw Error(ErrorCategory::engine, why);
    if (!implementation.network) refuse(implementation, "runs single layers only");
    if (model->unet.isRecurrent()) {
        throw Error(ErrorCategory::model, "The model '" + model->unet.name() +
                                              "' is recurrent, and no other implementation runs recurrent networks: "
                                              "choose another model.");
    }
    return implementation.network(model);
}

std::unique_ptr<Layer> makeBlock(const Implementation& implementation, const Block& block, const Shape& in) {
    if (const std::string why = whyUnavailable(implementation); !why.empty()) throw Error(ErrorCategory::engine, why);
    if (!implementation.block) refuse(implementation, "runs whole networks only");
    if (implementation.needsRelu && !block.relu) refuse(implementation, "always ends in a ReLU");
    return implementation.block(block, in);
}

Difference difference(std::span<const float> expected, std::span<const float> actual) {
    if (expected.size() != actual.size() || expected.empty()) return {NAN, NAN, NAN};
    double sum = 0, maximum = 0, squares = 0, power = 0;
    const auto count = std::ptrdiff_t(expected.size());
#pragma omp parallel for schedule(static) reduction(+ : sum, squares, power) reduction(max : maximum)
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        const double e = double(expected[std::size_t(i)]), d = std::fabs(double(actual[std::size_t(i)]) - e);
        sum += d;
        squares += d * d;
        power += e * e;
        maximum = std::max(maximum, d);
    }
    // A NaN does not come through std::max, but it does through the sum.
    if (std::isnan(sum)) maximum = std::numeric_limits<double>::quiet_NaN();
    return {sum / double(count), maximum, squares / std::max(power, 1e-300)};
}

}  // namespace matte::baselines
