// SPDX-License-Identifier: Apache-2.0
// The CPU engine's times: the network at the sizes that are compared with other runtimes (compare_cpu.py), and each
// stage of the picture.
//
//     OMP_NUM_THREADS=2 bench_cpu --benchmark_filter=base32 --benchmark_repetitions=5
#include <cstdlib>

#include <benchmark/benchmark.h>

#include "inference/core/parallel.h"
#include "inference/cpu/cpu_network.h"
#include "inference/matting/composite.h"
#include "inference/matting/guided_filter.h"
#include "inference/matting/resample.h"
#include "tests/support/files/model_file.h"
#include "tests/support/pictures/one_picture.h"
#include "tests/support/pictures/scene.h"

namespace matte {
namespace {

using namespace test;

UNet network(int base) {
    const test::ModelTensors tensors = test::randomUNet({base, 2 * base, 4 * base, 8 * base, 16 * base}, 1);
    return UNet::load(Safetensors::parse(test::encodeSafetensors(tensors), "random"));
}

void runNetwork(benchmark::State& state, int base, Size size, CpuPrecision precision) {
    if (!CpuNetwork::supports(precision)) {
        state.SkipWithError("this processor has no bf16 arithmetic");
        return;
    }
    CpuNetwork cpu(network(base), precision);
    cpu.configure(size);
    for (std::size_t i = 0; i < size.pixels() * 3; ++i) cpu.input()[i] = float(i * 2654435761U % 4096) / 1024 - 2;
    cpu.run();
    for (auto _ : state) cpu.run();
    state.counters["GFLOP/s"] =
        benchmark::Counter(cpu.unet().flops(size) * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

void registerNetworks() {
    struct Work {
        int base;
        Size size;
    };
    for (const Work& work : {Work{16, {256, 256}}, {32, {256, 256}}, {32, {512, 288}}, {64, {512, 512}}}) {
        for (const CpuPrecision precision : {CpuPrecision::f32, CpuPrecision::bf16}) {
            const std::string name = "network/base" + std::to_string(work.base) + "/" +
                                     std::to_string(work.size.width) + "x" + std::to_string(work.size.height) +
                                     (precision == CpuPrecision::bf16 ? "/bf16" : "/f32");
            benchmark::RegisterBenchmark(name.c_str(), runNetwork, work.base, work.size, precision)
                ->Unit(benchmark::kMillisecond)
                ->UseRealTime();
        }
    }
}

/// A 12-megapixel photo and its coefficients.
struct Photo {
    Photo() {
        estimateColors(linear, alpha, guided);
        blurBackground(linear, alpha, 10, guided);
    }
    test::Scene scene = test::makeScene({4000, 3000});
    Planes guide = resampleToPlanes(scene.photo.view(), {1024, 768});
    Planes linear = toLinear(guide);
    Planes coarse = resamplePlanes(scene.alpha, {320, 240});
    Planes guided = [this] {
        Planes result(guide.size, guided::kChannels);
        fitGuidedFilter(guide, coarse, result);
        return result;
    }();
    Planes alpha = evaluateAlpha(guide, guided);
};

Photo& photo() {
    static Photo instance;
    return instance;
}

void preprocess(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(resampleToPlanes(photo().scene.photo.view(), {320, 240}));
}
void refine(benchmark::State& state) {
    for (auto _ : state) fitGuidedFilter(photo().guide, photo().coarse, photo().guided);
}
void foreground(benchmark::State& state) {
    for (auto _ : state) estimateColors(photo().linear, photo().alpha, photo().guided);
}
void blur(benchmark::State& state) {
    for (auto _ : state) blurBackground(photo().linear, photo().alpha, 20, photo().guided);
}
void composite(benchmark::State& state) {
    const CompositeParams params;
    for (auto _ : state) {
        benchmark::DoNotOptimize(compositeOver(photo().scene.photo.view(), photo().guided, params, nullptr, {}));
    }
}
void preview(benchmark::State& state) {
    const Image small = resampleToImage(photo().scene.photo.view(), {1400, 1050});
    const CompositeParams params;
    for (auto _ : state) benchmark::DoNotOptimize(compositeOver(small.view(), photo().guided, params, nullptr, {}));
}
BENCHMARK(preprocess)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(refine)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(foreground)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(blur)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(composite)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(preview)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace matte

int main(int argc, char** argv) {
    if (const char* threads = std::getenv("OMP_NUM_THREADS")) matte::setThreads(std::atoi(threads));
    matte::registerNetworks();
    matte::photo();  // made before the clock starts
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
