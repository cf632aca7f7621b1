// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/lab/lab_measure.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "inference/core/error.h"
#include "inference/core/stopwatch.h"
#include "inference/cuda/device/devices.h"

namespace matte::baselines {
namespace {

constexpr std::size_t kMostRuns = 50;

}  // namespace

std::vector<float> uniform(std::size_t count, unsigned seed) {
    std::vector<float> values(count);
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < std::ptrdiff_t(count); ++i) {
        // SplitMix64 (Steele, Lea, Flood 2014) of the index: no state, so that threads need not agree.
        std::uint64_t z = (std::uint64_t(seed) << 40) + (std::uint64_t(i) + 1) * 0x9E3779B97F4A7C15U;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
        values[std::size_t(i)] = float((z ^ (z >> 31)) >> 40) * 0x1p-24F;
    }
    return values;
}

Measured measure(
    Layer& layer, Where where, std::span<const float> input, std::size_t outFloats, const LabOptions& options) {
    const auto memory = makeMemory(where);
    float* in = memory->allocate(input.size());
    float* out = memory->allocate(outFloats);
    Measured result;
    result.output.resize(outFloats);
    result.stepMs.resize(std::size_t(layer.steps()));
    const auto once = [&] {
        double sum = 0;
        for (int step = 0; step < layer.steps(); ++step) {
            const double ms = memory->time([&] { layer.run(step, in, out, memory->stream()); });
            result.stepMs[std::size_t(step)] = ms;
            sum += ms;
        }
        return sum;
    };
    if (where == Where::gpu) {  // the first run loads the kernels
        layer.load(in, memory->stream());
        once();
    }
    const Stopwatch withCopies;
    memory->upload(in, input.data(), input.size());
    layer.load(in, memory->stream());
    std::vector<double> times{once()};
    layer.store(out, memory->stream());
    memory->download(result.output.data(), out, outFloats);
    result.withCopiesMs = withCopies.ms();
    std::vector<std::vector<double>> steps{result.stepMs};
    while (hasTimeAfter(times, options)) {
        times.push_back(once());
        steps.push_back(result.stepMs);
    }
    result.ms = median(times);
    for (std::size_t i = 0; i < result.stepMs.size(); ++i) {
        std::vector<double> of;
        of.reserve(steps.size());
        for (const auto& run : steps) of.push_back(run[i]);
        result.stepMs[i] = median(of);
    }
    return result;
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

bool hasTimeAfter(const std::vector<double>& ms, const LabOptions& options) {
    const double spent = std::accumulate(ms.begin(), ms.end(), 0.0);
    return ms.size() < kMostRuns && spent + ms.back() < options.secondsPerRow * 1e3;
}

bool chosen(const LabOptions& options, Where where) {
    return !options.where || *options.where == where;
}

bool chosen(const LabOptions& options, const Implementation& implementation) {
    const auto& named = options.implementations;
    return chosen(options, implementation.where) && (named.empty() || std::ranges::count(named, &implementation) > 0);
}

std::vector<const Implementation*> chosenImplementations(const LabOptions& options) {
    std::vector<const Implementation*> list;
    for (const Implementation& implementation : implementations()) {
        if (chosen(options, implementation)) list.push_back(&implementation);
    }
    return list;
}

void announce(const LabOptions& options, const std::string& what) {
    stopIfAsked(options.stop);
    options.progress(what);
}

Cell cellUnless(const std::string& why, Table& table, Cell cell) {
    if (why.empty()) return cell;
    if (std::ranges::find(table.notes, why) == table.notes.end()) table.notes.push_back(why);
    return {"see below"};
}

Cell shareOfLimit(Where where, double flops, double bytes, double ms, bool tensorCores) {
    if (!std::isfinite(ms)) return {"-"};
    return percent(leastMs(flops, bytes, limitsOf(where, tensorCores)) / ms);
}

void addLimits(Table& table, const LabOptions& options) {
    if (chosen(options, Where::cpu)) table.notes.push_back(limitsOf(Where::cpu).text);
    if (chosen(options, Where::gpu) && queryCuda().unavailable.empty()) {
        table.notes.push_back(limitsOf(Where::gpu).text);
    }
}

}  // namespace matte::baselines
