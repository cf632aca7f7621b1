// SPDX-License-Identifier: Apache-2.0
// gpu_network KERNEL [--layers] [--skip TEXT] [--tune]: the whole network's time as one graph, random data. --layers
// adds each layer's own time, which includes the gap before it; --skip leaves out configurations; --tune measures every
// configuration of each layer and takes the best. --version only shows that the program starts here.
#include <cstdio>
#include <limits>
#include <string>

#include "tests/bench/gpu_timer.h"
#include "tests/gpu/conv_case.h"
#include "tests/gpu/network_case.h"

namespace {

using namespace matte;

void printLayers(const CudaNetwork& network, const UNet& unet, Size size) {
    constexpr int kRuns = 15;
    const std::size_t count = unet.layers().size();
    std::vector<std::vector<double>> times(count);
    const Stream stream;
    std::vector<Event> events(count + 1);
    for (int run = 0; run < kRuns; ++run) {
        events[0].record(stream.get());
        network.forward(stream.get(), [&](int layer) { events[std::size_t(layer) + 1].record(stream.get()); });
        stream.wait();
        for (std::size_t i = 0; i < count; ++i) times[i].push_back(double(events[i + 1].msSince(events[i])));
    }
    for (std::size_t i = 0; i < count; ++i) {
        std::ranges::sort(times[i]);
        const Conv& layer = unet.layers()[i];
        const int level = unet.tensors()[layer.out].level;
        const double pixels = double(size.width >> level) * (size.height >> level);
        const double flops =
            2.0 * double(layer.filter.weights.size()) * pixels / (layer.kind == ConvKind::up2x2 ? 4 : 1);
        const double ms = times[i][kRuns / 2];
        std::printf("    %-14s %8.4f ms %6.0f TFLOP/s  %s\n", layer.name.c_str(), ms, flops / ms / 1e9,
                    network.choices()[i].c_str());
    }
}

ConvConfig chooseMeasured(const ConvShape& shape, const std::vector<ConvConfig>& ranked, const std::string& skip) {
    test::ConvCase layer(shape, ranked.front().kernel, 5);
    ConvConfig best = ranked.front();
    double bestMs = std::numeric_limits<double>::infinity();
    for (const ConvConfig& config : ranked) {
        if (!skip.empty() && config.text().find(skip) != std::string::npos) continue;
        const ConvLaunch launch = layer.launch(config);
        const double ms = bench::medianMs([&](cudaStream_t stream) { launch(stream); }, 10, 5);
        if (ms < bestMs) {
            bestMs = ms;
            best = config;
        }
    }
    return best;
}

struct Options {
    ConvKernel kernel = ConvKernel::mma;
    bool layers = false, tune = false;
    std::string skip;
};

void run(const Options& options, int base, Size size) {
    const UNet unet = test::randomNetwork(base, 7);
    const auto measured = [&](const ConvShape& shape, const std::vector<ConvConfig>& ranked) {
        return chooseMeasured(shape, ranked, options.skip);
    };
    CudaNetwork network(unet, options.kernel,
                        options.tune ? CudaNetwork::Choose(measured) : test::chooseWithout(options.skip));
    network.configure(size);
    test::setInput(network, options.kernel, oracle::noise(size.height, size.width, 3, 8));
    const double ms = bench::medianMs([&](cudaStream_t stream) { network.forward(stream); }, 1, 101);
    const double back = bench::medianMs([&](cudaStream_t stream) { network.forward(stream); }, 10, 21);
    std::printf("base %d %dx%d: %.4f ms (ten in a row %.4f), %.0f TFLOP/s, %.0f MB\n", base, size.width, size.height,
                ms, back, unet.flops(size) / ms / 1e9, double(network.deviceBytes()) / 1e6);
    if (options.layers) printLayers(network, unet, size);
    std::fflush(stdout);
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
        if (argument == "--skip" && i + 1 < argc) options.skip = argv[++i];
    }
    try {
        run(options, 64, {512, 512});
        run(options, 32, {512, 288});
        run(options, 16, {256, 256});
        run(options, 32, {1920, 1088});
        return 0;
    } catch (const std::exception& error) {
        std::printf("ERROR: %s\n", error.what());
        return 3;
    }
}
