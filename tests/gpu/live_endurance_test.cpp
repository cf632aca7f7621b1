// SPDX-License-Identifier: Apache-2.0
// Live frames by the thousand: how long one takes on the GPU, how many a second there are, and that none leaves
// anything behind.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>

#include <unistd.h>

#include "tests/gpu/live_case.h"

namespace matte::test {
namespace {

using Clock = std::chrono::steady_clock;

double percentile(std::vector<double> values, double share) {
    const auto at = std::ptrdiff_t(share * double(values.size() - 1));
    std::ranges::nth_element(values, values.begin() + at);
    return values[std::size_t(at)];
}

std::size_t freeOnDevice() {
    std::size_t free = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    return free;
}

std::size_t residentOnHost() {
    std::ifstream file("/proc/self/statm");
    std::size_t whole = 0, resident = 0;
    file >> whole >> resident;
    return resident * std::size_t(sysconf(_SC_PAGESIZE));
}

std::shared_ptr<const Image> pageLocked(const Engine& engine, const Image& image) {
    auto copy = std::make_shared<Image>(image.size(), image.format(), engine.frameMemory());
    std::copy_n(image.row(0), image.bytes(), copy->row(0));
    return copy;
}

/// Frames a second with `underWay` of them at a time.
double framesPerSecond(Engine& engine,
                       const std::shared_ptr<const Image>& image,
                       const CompositeParams& params,
                       int underWay) {
    constexpr int kFrames = 300;
    for (int i = 0; i < underWay; ++i) engine.submit({image, 0, {}}, params);
    const auto begin = Clock::now();
    for (int i = 0; i < kFrames; ++i) {
        engine.take();
        engine.submit({image, 0, {}}, params);
    }
    const std::chrono::duration<double> elapsed = Clock::now() - begin;
    engine.reset();
    return kFrames / elapsed.count();
}

TEST_F(LiveEngineTest, AHundredThousandFramesLeaveNothingBehind) {
    CudaEngine engine(smallNetwork(), kRepeatable);
    const auto image = wavyFrame({64, 48}, PixelFormat::nv12, 1);
    const CompositeParams params;  // blurred, and held steady
    constexpr int kFrames = 100'000, kSettled = 2'000;
    std::size_t device = 0, host = 0;
    std::shared_ptr<const Picture> shown;  // held until the next is there, as a window does
    engine.submit({image, 0, {}}, params);
    for (int i = 1; i <= kFrames; ++i) {
        engine.submit({image, std::uint64_t(i), {}}, params);
        shown = engine.take().picture;
        if (i == kSettled) {
            device = freeOnDevice();
            host = residentOnHost();
        }
    }
    EXPECT_EQ(freeOnDevice(), device);
    EXPECT_LE(residentOnHost(), host + (1U << 20));
}

TEST_F(LiveEngineTest, AFullHdFrameIsTimedInEachFormat) {
    CudaEngine engine(fullNetwork(), {.networkLongestSide = 512, .tune = false});
    std::printf("%s\n", engine.info().name.c_str());
    for (const PixelFormat format : {PixelFormat::rgba8, PixelFormat::bgr8, PixelFormat::nv12, PixelFormat::yuyv}) {
        const auto pageable = wavyFrame({1920, 1080}, format, 1);
        const auto locked = pageLocked(engine, *pageable);
        for (const char* background : {"color:#00b140", "blur:50"}) {
            CompositeParams params;
            params.background = parseBackground(background);
            std::vector<double> total;
            std::map<std::string, std::vector<double>> stages;
            // The first of them is timed stage by stage, and every eighth after it.
            engine.timeLayers(true);
            for (int i = 0; i < 800; ++i) {
                const Output output = through(engine, locked, params);
                if (i < 20) continue;
                for (const StageTime& stage : output.times) {
                    (stage.stage == Stage::total ? total : stages[stageName(stage.stage)]).push_back(stage.ms);
                }
            }
            engine.timeLayers(false);
            EXPECT_GT(total.size(), 600U) << "seven of eight are timed as a whole";
            EXPECT_EQ(stages.size(), params.background.kind == Background::Kind::blur ? 9U : 8U);
            std::printf("format %d over %-13s total p50 %.3f p99 %.3f ms |", int(format), background,
                        percentile(total, 0.5), percentile(total, 0.99));
            for (const auto& [name, times] : stages) std::printf(" %s %.3f", name.c_str(), percentile(times, 0.5));
            std::printf("\n    frames a second: %.0f one at a time, %.0f two; copied by the host: %.0f, %.0f\n",
                        framesPerSecond(engine, locked, params, 1), framesPerSecond(engine, locked, params, 2),
                        framesPerSecond(engine, pageable, params, 1), framesPerSecond(engine, pageable, params, 2));
        }
    }
    engine.timeLayers(true);
    Output output;
    const auto frame = wavyFrame({1920, 1080}, PixelFormat::nv12, 1);
    for (int i = 0; i < 9; ++i) output = through(engine, frame, CompositeParams{});
    const auto layers = engine.layers();
    for (std::size_t i = 0; i < layers.size(); ++i) {
        std::printf("    %-14s %-32s %-36s %7.4f ms %6.1f GFLOP\n", layers[i].name.c_str(), layers[i].shape.c_str(),
                    layers[i].kernel.c_str(), double(output.layerMs[i]), layers[i].flops / 1e9);
    }
}

}  // namespace
}  // namespace matte::test
