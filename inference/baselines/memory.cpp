// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/memory.h"

#include <array>
#include <cstdio>
#include <cstring>

#include "inference/core/parallel.h"
#include "inference/core/stopwatch.h"
#include "inference/cpu/processor_rates.h"

namespace matte::baselines {
namespace {

class HostMemory final : public Memory {
public:
    float* allocate(std::size_t floats) override {
        blocks_.push_back(std::make_unique_for_overwrite<float[]>(floats));
        return blocks_.back().get();
    }
    void upload(float* to, const float* from, std::size_t floats) override {
        std::memcpy(to, from, floats * sizeof(float));
    }
    void download(float* to, const float* from, std::size_t floats) override { upload(to, from, floats); }
    double time(const std::function<void()>& work) override {
        const Stopwatch watch;
        work();
        return watch.ms();
    }

private:
    std::vector<std::unique_ptr<float[]>> blocks_;
};

MachineRates measureCpu() {
    ProcessorRates rates;
    while (rates.measure()) {
    }
    char text[160];
    std::snprintf(text, sizeof text, "CPU limit, measured: %.0f GFLOP/s and %.1f GB/s on %d threads.",
                  rates.flopsPerSecond() / 1e9, rates.bytesPerSecond() / 1e9, threads());
    return {rates.flopsPerSecond(), rates.bytesPerSecond(), text};
}

}  // namespace

const MachineRates& limitsOf(Where where, bool tensorCores) {
    if (where == Where::cpu) {
        static const MachineRates cpu = measureCpu();
        return cpu;
    }
    static const std::array gpu{deviceLimits(false), deviceLimits(true)};
    return gpu[tensorCores ? 1 : 0];
}

std::unique_ptr<Memory> makeHostMemory() {
    return std::make_unique<HostMemory>();
}

std::unique_ptr<Memory> makeMemory(Where where) {
    return where == Where::cpu ? makeHostMemory() : makeDeviceMemory();
}

std::vector<float> runLayer(Layer& layer, Where where, std::span<const float> input, std::size_t outFloats) {
    const auto memory = makeMemory(where);
    float* in = memory->allocate(input.size());
    float* out = memory->allocate(outFloats);
    memory->upload(in, input.data(), input.size());
    layer.load(in, memory->stream());
    for (int step = 0; step < layer.steps(); ++step) layer.run(step, in, out, memory->stream());
    layer.store(out, memory->stream());
    std::vector<float> output(outFloats);
    memory->download(output.data(), out, outFloats);
    return output;
}

}  // namespace matte::baselines
