// SPDX-License-Identifier: Apache-2.0
#include "inference/ladder/limits.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "inference/ladder/vector_clones.h"

namespace matte::ladder {
namespace {

using Clock = std::chrono::steady_clock;
using Vector = float __attribute__((vector_size(64)));

double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr int kChains = 12;  // independent sums: enough to hide the latency of two units' multiply-adds

MATTE_VECTOR_CLONES void multiplyAdd(float* values, int rounds) {
    Vector sums[kChains];
    std::memcpy(sums, values, sizeof sums);
    const Vector factor = sums[0];
    for (int i = 0; i < rounds; ++i) {
        for (auto& sum : sums) sum = sum * factor + factor;
    }
    std::memcpy(values, sums, sizeof sums);
}

double measureFlops() {
    constexpr int kRounds = 1 << 19;
    double best = 1e9;
    std::atomic<float> kept = 0;  // or the whole loop would be left out
    for (int attempt = 0; attempt < 8; ++attempt) {
        const auto start = Clock::now();
#pragma omp parallel
        {
            float values[kChains * 16];
            std::fill_n(values, kChains * 16, 0.5F);
            multiplyAdd(values, kRounds);
            kept = values[17];
        }
        best = std::min(best, secondsSince(start));
    }
    return 2.0 * kChains * 16 * kRounds * omp_get_max_threads() / best;
}

double measureBytes() {
    constexpr std::ptrdiff_t kFloats = 24 << 20;  // 96 MiB each: more than caches hold
    std::vector<float> from(kFloats, 1.0F), to(kFloats);
    double best = 1e9;
    for (int attempt = 0; attempt < 8; ++attempt) {
        const auto start = Clock::now();
#pragma omp parallel for schedule(static)
        for (std::ptrdiff_t i = 0; i < kFloats; ++i) to[std::size_t(i)] = from[std::size_t(i)] + 1.0F;
        best = std::min(best, secondsSince(start));
    }
    return 2.0 * kFloats * sizeof(float) / best;
}

Limits measureCpu() {
    Limits limits{measureFlops(), 0, measureBytes(), {}};
    char text[160];
    std::snprintf(text, sizeof text, "CPU limit, measured: %.0f GFLOP/s and %.1f GB/s on %d threads.",
                  limits.flops / 1e9, limits.bytes / 1e9, omp_get_max_threads());
    limits.text = text;
    return limits;
}

}  // namespace

double Limits::seconds(double operations, double moved, bool tensorCores) const {
    return std::max(operations / (tensorCores && tensorFlops > 0 ? tensorFlops : flops), moved / bytes);
}

const Limits& limitsOf(Where where) {
    if (where == Where::cpu) {
        static const Limits cpu = measureCpu();
        return cpu;
    }
    static const Limits gpu = deviceLimits();
    return gpu;
}

}  // namespace matte::ladder
