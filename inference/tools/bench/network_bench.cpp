// SPDX-License-Identifier: Apache-2.0
#include "inference/tools/bench/bench.h"

#include <algorithm>
#include <random>

#include "inference/baselines/memory.h"
#include "inference/core/error.h"
#include "inference/core/stopwatch.h"
#include "inference/cpu/cpu_network.h"
#include "inference/cuda/device/devices.h"
#include "inference/model/layer_cost.h"

#ifdef MATTE_HAVE_CUDA
#include "inference/cuda/conv/conv_tune.h"
#include "inference/cuda/cuda_device.h"
#include "inference/cuda/device/device_rates.h"
#include "inference/cuda/network_bench.h"
#endif

namespace matte {
namespace {

constexpr int kWarmUps = 3;

std::vector<LayerInfo> layersOf(const UNet& unet, Size size, int bytesPerValue) {
    std::vector<LayerInfo> layers;
    for (const Conv& layer : unet.layers()) {
        layers.push_back({layer.name, layerShape(unet, layer, size), "", layerFlops(unet, layer, size),
                          layerBytes(unet, layer, size, bytesPerValue)});
    }
    return layers;
}

}  // namespace

NetworkBench benchOnCpu(const UNet& unet, Size size, Precision precision, int runs, const std::stop_token& stop) {
    const CpuPrecision type = precision == Precision::fp32 ? CpuPrecision::f32 : CpuNetwork::bestPrecision();
    const bool single = type == CpuPrecision::f32;
    CpuNetwork network(unet, type);
    network.configure(size);
    std::minstd_rand random(1);
    std::uniform_real_distribution<float> noise(-2, 2);
    std::generate_n(network.input(), size.pixels() * 3, [&] { return noise(random); });
    NetworkBench bench;
    bench.runsOn = "CPU, oneDNN " + CpuNetwork::libraryVersion() + (single ? ", f32" : ", bf16");
    bench.layers = layersOf(unet, size, single ? 4 : 2);
    for (LayerInfo& layer : bench.layers) {
        for (const std::string& made : network.implementations()) {
            const std::string prefix = layer.name + ": ";
            if (made.starts_with(prefix) && layer.kernel.empty()) layer.kernel = made.substr(prefix.size());
        }
    }
    bench.layerMs.resize(bench.layers.size());
    if (single) bench.rates = baselines::limitsOf(baselines::Where::cpu);  // the matrix unit's own rate is not measured
    for (int run = -kWarmUps; run < runs; ++run) {
        const Stopwatch watch;
        network.run(stop);
        if (run >= 0) bench.ms.push_back(watch.ms());
    }
    std::vector<float> layerMs;
    for (int run = 0; run < runs; ++run) {
        network.run(stop, &layerMs);
        for (std::size_t i = 0; i < layerMs.size(); ++i) bench.layerMs[i].push_back(double(layerMs[i]));
    }
    return bench;
}

#ifdef MATTE_HAVE_CUDA
namespace {

ConvKernel kernelNamed(const std::string& name) {
    if (name.empty()) return builtKernel();
    if (name == "fp32") return ConvKernel::fp32;
    if (name == "mma") return ConvKernel::mma;
    if (name != "sm90")
        throw Error(ErrorCategory::usage, "--kernel does not know '" + name + "': use sm90, mma or fp32.");
    if (builtKernel() == ConvKernel::sm90) return ConvKernel::sm90;
    throw Error(ErrorCategory::engine,
                "The kernel sm90 needs a GPU of compute capability 9.0 and a build for it: use --kernel mma.");
}

const char* textOf(ConvKernel kernel) {
    return kernel == ConvKernel::sm90 ? "sm90" : kernel == ConvKernel::mma ? "mma" : "fp32";
}

}  // namespace

NetworkBench benchOnCuda(
    const UNet& unet, Size size, const std::string& kernel, const EngineOptions& options, int runs) {
    return onDevice(openDevice(options), [&] {
        const ConvKernel by = kernelNamed(kernel);
        const auto weights = std::make_shared<const CudaWeights>(unet, by);
        const CudaNetwork::Choose choose = options.tune ? ConvTuner::choose(weights) : CudaNetwork::chooseFirst;
        const MachineRates rates = measureRates(by);
        NetworkTimes times = timeNetwork(weights, size, choose, runs);
        int index = 0;
        CUDA_CHECK(cudaGetDevice(&index));
        NetworkBench bench;
        bench.runsOn = queryCuda().devices[std::size_t(index)].name + ", " + textOf(by);
        bench.rates = rates;
        bench.layers = layersOf(unet, size, valueBytes(by));
        for (std::size_t i = 0; i < bench.layers.size(); ++i) bench.layers[i].kernel = times.kernels[i];
        bench.ms = std::move(times.ms);
        bench.layerMs = std::move(times.layerMs);
        return bench;
    });
}
#else
NetworkBench benchOnCuda(const UNet&, Size, const std::string&, const EngineOptions&, int) {
    throw Error(ErrorCategory::engine, queryCuda().unavailable);
}
#endif

}  // namespace matte
