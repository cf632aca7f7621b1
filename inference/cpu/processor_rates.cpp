// SPDX-License-Identifier: Apache-2.0
#include "inference/cpu/processor_rates.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "inference/vector_clones.h"

namespace matte {
namespace {

using Clock = std::chrono::steady_clock;
using Vector = float __attribute__((vector_size(64)));

constexpr int kAttempts = 8;
constexpr int kRounds = 1 << 19;
constexpr int kLanes = 16;
constexpr int kChains = 12;  // independent sums: enough to hide the latency of two units' multiply-adds
constexpr std::ptrdiff_t kFloats = 24 << 20;  // 96 MiB each: more than caches hold
enum Step { firstMultiply = 0, takeSource = kAttempts, takeTarget, firstCopy, lastStep = firstCopy + kAttempts };

double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

MATTE_VECTOR_CLONES void multiplyAdd(float* values, int rounds) {
    Vector sums[kChains];
    std::memcpy(sums, values, sizeof sums);
    const Vector factor = sums[0];
    for (int i = 0; i < rounds; ++i) {
        for (auto& sum : sums) sum = sum * factor + factor;
    }
    std::memcpy(values, sums, sizeof sums);
}

}  // namespace

bool ProcessorRates::measure() {
    if (done()) return false;
    if (step_ < takeSource) {
        multiply();
    } else if (step_ == takeSource) {
        from_.assign(kFloats, 1.0F);
    } else if (step_ == takeTarget) {
        to_.assign(kFloats, 0.0F);
    } else {
        copy();
    }
    if (++step_ < lastStep) return true;
    from_ = to_ = {};
    return true;
}

bool ProcessorRates::done() const {
    return step_ == lastStep;
}

void ProcessorRates::multiply() {
    std::atomic<float> kept = 0;  // or the whole loop would be left out
    threads_ = omp_get_max_threads();
    const auto start = Clock::now();
#pragma omp parallel
    {
        float values[kChains * kLanes];
        std::fill_n(values, kChains * kLanes, 0.5F);
        multiplyAdd(values, kRounds);
        kept = values[kLanes + 1];
    }
    multiplied_ = std::min(multiplied_, secondsSince(start));
}

void ProcessorRates::copy() {
    const auto start = Clock::now();
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < kFloats; ++i) to_[std::size_t(i)] = from_[std::size_t(i)] + 1.0F;
    copied_ = std::min(copied_, secondsSince(start));
}

double ProcessorRates::flopsPerSecond() const {
    return 2.0 * kChains * kLanes * kRounds * threads_ / multiplied_;
}

double ProcessorRates::bytesPerSecond() const {
    return 2.0 * kFloats * sizeof(float) / copied_;
}

}  // namespace matte
