// SPDX-License-Identifier: Apache-2.0
// Statistics of a live run: counters, and times over the newest frames. LiveStatistics is a plain value for the overlay
// and the statistics file; LiveMeter collects it, one thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "inference/engine/engine.h"

namespace matte {

struct Percentiles {
    float p50 = 0, p95 = 0, p99 = 0, most = 0;
    std::size_t samples = 0;
};

/// The newest samples of something that is measured every frame. Allocates nothing. One thread at a time.
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

struct StageStatistics {
    std::string name;
    float newest = 0;  ///< milliseconds
    Percentiles ms;
};

struct LiveStatistics {
    static constexpr std::size_t kBins = 25;

    std::uint64_t framesIn = 0;              ///< read from the source
    std::uint64_t framesOut = 0;             ///< composited
    std::uint64_t framesDropped = 0;         ///< replaced by a newer one before the engine was free
    std::uint64_t framesPresented = 0;       ///< shown on the screen
    std::uint64_t staleComposites = 0;       ///< composites of an unexpected frame, not shown
    std::uint64_t matteFailures = 0;         ///< frames without a usable matte, not shown
    std::uint64_t mattesRefused = 0;         ///< those of them that MatteGuard refused for their coverage
    std::uint64_t engineFailures = 0;        ///< frames for which the engine threw; the last good composite stayed
    double fpsIn = 0, fpsOut = 0;            ///< over the newest frames; 0 after a second without one
    std::size_t bytesUp = 0, bytesDown = 0;  ///< transfers for the newest frame
    std::uint64_t totalBytesUp = 0, totalBytesDown = 0;
    StageStatistics frame;                      ///< from submit() to the finished output
    std::vector<StageStatistics> stages;        ///< the wait for the frame, then the engine's stages in order
    StageStatistics present;                    ///< presentation on the GUI thread
    StageStatistics latency;                    ///< from Frame::captured to the end of its first presentation
    float histogramMs = 10;                     ///< upper end of the histogram, above nearly all latencies
    std::array<int, kBins> latencyHistogram{};  ///< equal intervals from 0 to histogramMs; the last counts all above
    std::vector<LayerInfo> layers;
    std::vector<StageStatistics> layerMs;  ///< per layer; empty unless layers are timed
    std::optional<MachineRates> rates;     ///< of the engine's device, some time after layers are first timed
};

class LiveMeter {
public:
    using Time = std::chrono::steady_clock::time_point;

    void clear();
    void frameIn(Time now, bool replacedAnother);
    void frameOut(Time now, const Output& output, float ms);
    /// The time that the worker was idle before a frame, from the second frame of a source on.
    void captureWait(float ms);
    /// `captured` is empty for a frame that is shown again: its age is not a latency.
    void presented(Time now, std::optional<Time> captured, float ms);
    void stale() { ++counted_.staleComposites; }
    void engineFailed() { ++counted_.engineFailures; }
    /// Clears the times of frames and stages, because another engine or implementation takes over.
    void anotherEngine();
    void setLayers(std::vector<LayerInfo> layers);
    [[nodiscard]] LiveStatistics statistics(Time now) const;
    /// Why a frame of the last second was not shown, a sentence; empty if all were.
    [[nodiscard]] const char* matteProblem(Time now) const;

private:
    struct Series {
        std::string name;
        Recent samples;
        [[nodiscard]] StageStatistics statistics() const { return {name, samples.newest(), samples.percentiles()}; }
    };
    /// Frames per second over the newest frames; 0 if the last one is long ago.
    class Rate {
    public:
        void add(Time now);
        [[nodiscard]] double perSecond(Time now) const;

    private:
        static constexpr std::size_t kTimes = 64;
        std::array<Time, kTimes> times_{};
        std::size_t next_ = 0;
    };

    LiveStatistics counted_;               ///< only the counters
    MatteFault fault_ = MatteFault::none;  ///< the latest fault
    Time faultAt_;
    Rate in_, out_;
    Series frame_{"frame", {}}, present_{"present", {}}, latency_{"latency", {}};
    std::deque<Series> stages_, layerMs_;
};

}  // namespace matte
