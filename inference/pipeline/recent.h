// SPDX-License-Identifier: Apache-2.0
// Recent: the newest samples of something that is measured every frame, and what they say. Allocates once. One thread
// at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace matte {

struct Percentiles {
    float p50 = 0, p95 = 0, p99 = 0, most = 0;
    std::size_t samples = 0;
};

class Recent {
public:
    static constexpr std::size_t kSamples = 512;  ///< some seconds of video: p99 still has five samples above it

    void add(float sample) {
        samples_[next_ % kSamples] = sample;
        ++next_;
    }
    void clear() { next_ = 0; }
    [[nodiscard]] std::size_t count() const { return std::min(next_, kSamples); }
    [[nodiscard]] float newest() const { return next_ == 0 ? 0 : samples_[(next_ - 1) % kSamples]; }

    /// By the nearest rank.
    [[nodiscard]] Percentiles percentiles() const {
        Percentiles result;
        result.samples = count();
        if (result.samples == 0) return result;
        std::array<float, kSamples> sorted = samples_;
        const auto end = sorted.begin() + std::ptrdiff_t(result.samples);
        std::sort(sorted.begin(), end);
        const auto at = [&](std::size_t percent) { return sorted[(result.samples * percent + 99) / 100 - 1]; };
        result.p50 = at(50);
        result.p95 = at(95);
        result.p99 = at(99);
        result.most = sorted[result.samples - 1];
        return result;
    }

    /// How many samples fall into each of `Bins` equal steps from 0 to `top`; what lies above counts in the last.
    template <std::size_t Bins>
    [[nodiscard]] std::array<int, Bins> histogram(float top) const {
        std::array<int, Bins> bins{};
        for (std::size_t i = 0; i < count(); ++i) {
            const float place = samples_[i] / top * float(Bins);
            ++bins[place < 0 ? 0 : std::min(Bins - 1, std::size_t(place))];
        }
        return bins;
    }

private:
    std::array<float, kSamples> samples_{};
    std::size_t next_ = 0;
};

}  // namespace matte
