// SPDX-License-Identifier: Apache-2.0
// gpu_network KERNEL [--tune] [--layers] [--rates] [--skip TEXT] [--model FILE]: whole networks on the GPU by one
// kernel (mma, sm90 or fp32), each as one graph, random data; a line for each network with the median, the 10th and the
// 90th percentile.
// --tune takes the measured choice, --skip leaves configurations out, --layers adds each layer's own median and its
// share of what the device reaches, --rates says what that is. --model takes a model file instead, at 512x320.
// --version only shows that the program starts here.
#include <algorithm>
#include <cstdio>
#include <string>

#include "inference/cuda/conv/conv_tune.h"
#include "inference/cuda/device/device_rates.h"
#include "inference/cuda/network_bench.h"
#include "inference/model/layer_cost.h"
#include "tests/gpu/conv_case.h"
#include "tests/gpu/network_case.h"

namespace {

using namespace matte;

struct Options {
    ConvKernel kernel = ConvKernel::mma;
    bool tune = false, layers = false, rates = false;
    std::string skip, model;
};

double percentile(std::vector<double> values, double share) {
    const auto at = std::ptrdiff_t(share * double(values.size() - 1));
    std::ranges::nth_element(values, values.begin() + at);
    return values[std::size_t(at)];
}

void printLayers(const UNet& unet, Size size, const NetworkTimes& times, const Options& options, MachineRates rates) {
    for (std::size_t i = 0; i < unet.layers().size(); ++i) {
        const Conv& layer = unet.layers()[i];
        const double flops = layerFlops(unet, layer, size);
        const double bytes = layerBytes(unet, layer, size, valueBytes(options.kernel));
        const double ms = percentile(times.layerMs[i], 0.5);
        const double least = 1e3 * std::max(flops / rates.flopsPerSecond, bytes / rates.bytesPerSecond);
        std::printf("    %-14s %8.4f ms %6.0f GFLOP/s %3.0f %%  %s\n", layer.name.c_str(), ms, flops / ms / 1e6,
                    100 * least / ms, times.kernels[i].c_str());
    }
}

void run(const Options& options, const std::string& name, const UNet& unet, Size size, MachineRates rates) {
    const auto weights = std::make_shared<const CudaWeights>(unet, options.kernel);
    const CudaNetwork::Choose choose = options.tune ? ConvTuner::choose(weights) : test::chooseWithout(options.skip);
    const NetworkTimes times = timeNetwork(weights, size, choose, 101);
    const double ms = percentile(times.ms, 0.5);
    std::printf("%s: %.4f ms (%.4f to %.4f), %.0f TFLOP/s, %.0f MB\n", name.c_str(), ms, percentile(times.ms, 0.1),
                percentile(times.ms, 0.9), unet.flops(size) / ms / 1e9, double(times.deviceBytes) / 1e6);
    if (options.layers) printLayers(unet, size, times, options, rates);
    std::fflush(stdout);
}

void runRandom(const Options& options, const std::vector<int>& widths, Size size, MachineRates rates) {
    const std::string name = "base " + std::to_string(widths.front()) + " " + std::to_string(size.width) + "x" +
                             std::to_string(size.height) + (widths.size() == 5 ? "" : " portrait");
    run(options, name, test::randomNetwork(widths, 7), size, rates);
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (i == 1 && argument != "--version") options.kernel = test::kernelNamed(argument);
        if (argument == "--version") return 0;
        if (argument == "--layers") options.layers = true;
        if (argument == "--tune") options.tune = true;
        if (argument == "--rates") options.rates = true;
        if (argument == "--skip" && i + 1 < argc) options.skip = argv[++i];
        if (argument == "--model" && i + 1 < argc) options.model = argv[++i];
    }
    try {
        MachineRates rates;
        if (options.rates || options.layers) {
            rates = measureRates(options.kernel);
            std::printf("rates: %.1f TFLOP/s, %.0f GB/s\n", rates.flopsPerSecond / 1e12, rates.bytesPerSecond / 1e9);
        }
        if (!options.model.empty()) {
            const UNet unet = UNet::load(Safetensors::read(options.model));
            run(options, options.model, unet, unet.inputSize({512, 320}, 512), rates);
            return 0;
        }
        runRandom(options, {64, 128, 256, 512, 1024}, {512, 512}, rates);
        runRandom(options, {32, 64, 128, 256, 512}, {512, 288}, rates);
        runRandom(options, {16, 32, 64, 128, 256}, {256, 256}, rates);
        runRandom(options, {32, 64, 128, 256, 512}, {1920, 1088}, rates);
        runRandom(options, {32, 64, 128, 192, 256, 192, 112}, {512, 320}, rates);
        return 0;
    } catch (const std::exception& error) {
        std::printf("ERROR: %s\n", error.what());
        return 3;
    }
}
