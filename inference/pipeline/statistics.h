// SPDX-License-Identifier: Apache-2.0
// Statistics of a live run: counters, and the newest samples of each time. LiveStatistics is a plain
// value for the overlay and the statistics file; LiveMeter gathers it, one thread at a time.
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

    std::uint64_t framesIn = 0;              ///< that the source gave
    std::uint64_t framesOut = 0;             ///< that were composited
    std::uint64_t framesDropped = 0;         ///< replaced by a newer one before the engine was free
    std::uint64_t framesPresented = 0;       ///< that reached the screen
    std::uint64_t staleComposites = 0;       ///< whose frame was not the one that was due; they are not shown
    std::uint64_t matteFailures = 0;         ///< frames without a usable matte: they were not shown
    std::uint64_t mattesRefused = 0;         ///< of these, whose matte suddenly covered everything (MatteGuard)
    std::uint64_t engineFailures = 0;        ///< frames that the engine threw at; the last good composite stayed
    double fpsIn = 0, fpsOut = 0;            ///< over the newest frames; 0 once none has come for a second
    std::size_t bytesUp = 0, bytesDown = 0;  ///< of the newest frame
    std::uint64_t totalBytesUp = 0, totalBytesDown = 0;
    StageStatistics frame;                      ///< from submit() to the finished output
    std::vector<StageStatistics> stages;        ///< the wait for the frame, then what the engine names, in their order
    StageStatistics present;                    ///< the GUI thread's part
    StageStatistics latency;                    ///< from Frame::captured to the end of its first present
    float histogramMs = 10;                     ///< a round figure beyond nearly all latencies
    std::array<int, kBins> latencyHistogram{};  ///< equal steps from 0 to histogramMs, longer ones in the last
    std::vector<LayerInfo> layers;
    std::vector<StageStatistics> layerMs;  ///< as layers; empty unless they are timed
    std::optional<MachineRates> rates;     ///< of the engine's device, once the layers were timed for a moment
};

class LiveMeter {
public:
    using Time = std::chrono::steady_clock::time_point;

    void clear();
    void frameIn(Time now, bool replacedAnother);
    void frameOut(Time now, const Output& output, float ms);
    /// How long the worker had nothing to do before that frame came; from the second frame of a source on.
    void captureWait(float ms);
    /// Without `captured` for a frame that is shown again: its age is no latency.
    void presented(Time now, std::optional<Time> captured, float ms);
    void stale() { ++counted_.staleComposites; }
    void engineFailed() { ++counted_.engineFailures; }
    /// The times of a frame and of its stages begin anew: another engine, or another implementation, computes them from
    /// now on.
    void anotherEngine();
    void setLayers(std::vector<LayerInfo> layers);
    [[nodiscard]] LiveStatistics statistics(Time now) const;
    /// Why the mattes of the last second were not shown, a sentence; empty when they were.
    [[nodiscard]] const char* matteProblem(Time now) const;

private:
    struct Series {
        std::string name;
        Recent samples;
        [[nodiscard]] StageStatistics statistics() const { return {name, samples.newest(), samples.percentiles()}; }
    };
    /// Frames a second, from the times of the newest; 0 when that is long ago.
    class Rate {
    public:
        void add(Time now);
        [[nodiscard]] double perSecond(Time now) const;

    private:
        static constexpr std::size_t kTimes = 64;
        std::array<Time, kTimes> times_{};
        std::size_t next_ = 0;
    };

    LiveStatistics counted_;               ///< its counters only
    MatteFault fault_ = MatteFault::none;  ///< the newest
    Time faultAt_;
    Rate in_, out_;
    Series frame_{"frame", {}}, present_{"present", {}}, latency_{"latency", {}};
    std::deque<Series> stages_, layerMs_;
};

}  // namespace matte
