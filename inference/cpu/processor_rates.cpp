// SPDX-License-Identifier: Apache-2.0
#include "inference/cpu/processor_rates.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>
#include <vector>

#include "inference/core/parallel.h"
#include "inference/core/vector_clones.h"

namespace matte {
namespace {

using Vector = float __attribute__((vector_size(64)));

constexpr int kAttempts = 8;
constexpr int kRounds = 1 << 19;
constexpr int kLanes = 16;
constexpr int kChains = 12;  // independent sums: enough to hide the latency of two units' multiply-adds
constexpr std::ptrdiff_t kFloats = 24 << 20;  // 96 MiB each: more than caches hold
enum Step { firstMultiply = 0, takeSource = kAttempts, takeTarget, firstCopy, lastStep = firstCopy + kAttempts };

/// Of this thread's own work: what other programs do meanwhile is not the processor's limit.
double threadSeconds() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
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
    threads_ = threads();
    std::vector<double> seconds(std::size_t(threads_), 0.0);
    parallelFor(threads_, 1, [&](int index, int, int) {
        float values[kChains * kLanes];
        std::fill_n(values, kChains * kLanes, 0.5F);
        const double start = threadSeconds();
        multiplyAdd(values, kRounds);
        seconds[std::size_t(index)] = threadSeconds() - start;
        kept = values[kLanes + 1];
    });
    multiplied_ = std::min(multiplied_, *std::ranges::max_element(seconds));
}

void ProcessorRates::copy() {
    const int parts = threads();
    std::vector<double> seconds(std::size_t(parts), 0.0);
    parallelFor(parts, 1, [&](int index, int, int) {
        const double start = threadSeconds();
        const std::ptrdiff_t first = kFloats * index / parts, last = kFloats * (index + 1) / parts;
        for (std::ptrdiff_t i = first; i < last; ++i) to_[std::size_t(i)] = from_[std::size_t(i)] + 1.0F;
        seconds[std::size_t(index)] = threadSeconds() - start;
    });
    copied_ = std::min(copied_, *std::ranges::max_element(seconds));
}

double ProcessorRates::flopsPerSecond() const {
    return 2.0 * kChains * kLanes * kRounds * threads_ / multiplied_;
}

double ProcessorRates::bytesPerSecond() const {
    return 2.0 * kFloats * sizeof(float) / copied_;
}

}  // namespace matte
