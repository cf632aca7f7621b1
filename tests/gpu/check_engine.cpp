// SPDX-License-Identifier: Apache-2.0
// check_engine [--quick | --time | --lost] [MODEL]: holds the CUDA engine against the CPU's loops and makes it fail;
// --time measures its stages instead, --lost really loses the device. Exit code 77: no device.
#include <algorithm>
#include <chrono>
#include <map>

#include "inference/cuda/cuda_engine.h"
#include "tests/gpu/engine_checks.h"
#include "tests/gpu/network_case.h"
#include "tests/gpu/pixel_case.h"

namespace {

using namespace matte;
using Clock = std::chrono::steady_clock;

double median(std::vector<double> values) {
    std::ranges::nth_element(values, values.begin() + std::ptrdiff_t(values.size() / 2));
    return values[values.size() / 2];
}

void timeStages(const std::shared_ptr<const UNet>& unet, const std::shared_ptr<const Image>& source) {
    CudaEngine engine(unet, {});
    const Look look;
    std::map<std::string, std::vector<double>> stages;
    std::vector<std::string> order;
    for (int i = 0; i < 40; ++i) {
        const auto cutout = engine.cutOut(source, {});
        const Output output = engine.composite(*cutout, look, source->size(), {});
        StageTimes times = cutout->times();
        times.insert(times.end(), output.times.begin(), output.times.end());
        for (const StageTime& stage : times) {
            if (i == 0) order.push_back(stage.name);
            if (i >= 5) stages[stage.name].push_back(stage.ms);
        }
    }
    double sum = 0;
    for (const std::string& name : order) {
        std::printf("  %-12s %8.3f ms\n", name.c_str(), median(stages[name]));
        if (name != "prepare" && name != "upload" && name != "download") sum += median(stages[name]);
    }
    std::printf("  %-12s %8.3f ms without upload and download\n", "GPU", sum);
}

void timeFrames(const std::shared_ptr<const UNet>& unet, const std::shared_ptr<const Image>& source) {
    CudaEngine engine(unet, {.stageTimes = false});
    const Look look;
    std::vector<double> whole;
    for (int i = 0; i < 45; ++i) {
        const auto begin = Clock::now();
        const auto cutout = engine.cutOut(source, {});
        const Output output = engine.composite(*cutout, look, source->size(), {});
        const std::chrono::duration<double, std::milli> elapsed = Clock::now() - begin;
        if (i >= 5) whole.push_back(elapsed.count());
    }
    std::printf("  %-12s %8.3f ms from host picture to host picture\n", "wall clock", median(whole));
}

void time(const std::shared_ptr<const UNet>& unet, Size size) {
    const auto source = std::make_shared<Image>(test::wavyImage(size, PixelFormat::rgba8, 1));
    for (std::size_t i = 3; i < source->bytes(); i += 4) source->row(0)[i] = 255;
    const Size input = unet->inputSize(size);
    std::printf("%dx%d, network %dx%d of %.1f GFLOP\n", size.width, size.height, input.width, input.height,
                unet->flops(input) / 1e9);
    timeStages(unet, source);
    timeFrames(unet, source);
}

}  // namespace

int main(int argc, char** argv) {
    int devices = 0;
    if (const cudaError_t error = cudaGetDeviceCount(&devices); error != cudaSuccess || devices == 0) {
        std::printf("SKIP: no CUDA device (%s)\n", cudaGetErrorString(error));
        return 77;
    }
    try {
        const std::string mode = argc > 1 ? argv[1] : "";
        const std::string path = argc > 2 ? argv[2] : "resources/models/portrait.safetensors";
        const auto random = std::make_shared<const UNet>(test::randomNetwork(8, 5));
        test::Tally tally;
        if (mode == "--quick") {
            test::checkResults(tally, random, true);
            return tally.finish();
        }
        if (mode == "--lost") {
            test::checkLostDevice(tally, random);
            return tally.finish();
        }
        const auto unet = std::make_shared<const UNet>(UNet::load(Safetensors::read(path)));
        if (mode == "--time") {
            std::printf("%s\n", CudaEngine(unet, {}).info().name.c_str());
            time(unet, {1920, 1080});
            time(unet, {4000, 3000});
            return 0;
        }
        test::checkResults(tally, unet, false);
        test::checkRepetition(tally, unet);
        test::checkFaults(tally, random);
        test::checkFullMemory(tally, unet);
        return tally.finish();
    } catch (const std::exception& error) {
        std::printf("ERROR: %s\n", error.what());
        return 3;
    }
}
