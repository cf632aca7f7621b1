// SPDX-License-Identifier: Apache-2.0
#include "inference/pipeline/statistics.h"

#include <algorithm>

namespace matte {
namespace {

constexpr const char* kCaptureWait = "capture wait";
/// After this time without a frame the rate is 0.
constexpr std::chrono::seconds kStandstill{1};
/// How long the message about a single frame remains, so that it can be noticed.
constexpr std::chrono::seconds kMatteNews{1};

float msBetween(LiveMeter::Time begin, LiveMeter::Time end) {
    return std::chrono::duration<float, std::milli>(end - begin).count();
}

/// The axis of a histogram whose 99th percentile is `ms`: 10, 20, 50, 100, 200 … milliseconds.
float roundBeyond(float ms) {
    float decade = 10;
    for (; decade < 1e5F; decade *= 10) {
        for (const float step : {1.0F, 2.0F, 5.0F}) {
            if (ms < step * decade) return step * decade;
        }
    }
    return decade;
}

}  // namespace

void LiveMeter::Rate::add(Time now) {
    times_[next_ % kTimes] = now;
    ++next_;
}

double LiveMeter::Rate::perSecond(Time now) const {
    const std::size_t count = std::min(next_, kTimes);
    if (count < 2) return 0;
    const Time newest = times_[(next_ - 1) % kTimes], oldest = times_[(next_ - count) % kTimes];
    if (now - newest > kStandstill) return 0;
    const double seconds = std::chrono::duration<double>(newest - oldest).count();
    return seconds > 0 ? double(count - 1) / seconds : 0;
}

void LiveMeter::clear() {
    *this = LiveMeter();
}

void LiveMeter::frameIn(Time now, bool replacedAnother) {
    ++counted_.framesIn;
    if (replacedAnother) ++counted_.framesDropped;
    in_.add(now);
}

void LiveMeter::frameOut(Time now, const Output& output, float ms) {
    ++counted_.framesOut;
    if (!output.matteUsable()) {
        ++counted_.matteFailures;
        if (output.matteFault == MatteFault::everything) ++counted_.mattesRefused;
        fault_ = output.matteFault;
        faultAt_ = now;
    }
    counted_.bytesUp = output.bytesUp;
    counted_.bytesDown = output.bytesDown;
    counted_.totalBytesUp += output.bytesUp;
    counted_.totalBytesDown += output.bytesDown;
    out_.add(now);
    frame_.samples.add(ms);
    for (const StageTime& stage : output.times) {
        const char* name = stageName(stage.stage);
        auto series = std::ranges::find(stages_, name, &Series::name);
        if (series == stages_.end()) series = stages_.insert(stages_.end(), {name, {}});
        series->samples.add(float(stage.ms));
    }
    if (output.layerMs.size() != layerMs_.size()) return;
    for (std::size_t i = 0; i < layerMs_.size(); ++i) layerMs_[i].samples.add(output.layerMs[i]);
}

void LiveMeter::captureWait(float ms) {
    if (stages_.empty() || stages_.front().name != kCaptureWait) stages_.push_front({kCaptureWait, {}});
    stages_.front().samples.add(ms);
}

void LiveMeter::presented(Time now, std::optional<Time> captured, float ms) {
    ++counted_.framesPresented;
    present_.samples.add(ms);
    if (captured) latency_.samples.add(msBetween(*captured, now));
}

void LiveMeter::anotherEngine() {
    frame_.samples.clear();
    stages_.clear();
}

void LiveMeter::setLayers(std::vector<LayerInfo> layers) {
    layerMs_.clear();
    for (const LayerInfo& layer : layers) layerMs_.push_back({layer.name, {}});
    counted_.layers = std::move(layers);
}

const char* LiveMeter::matteProblem(Time now) const {
    if (now - faultAt_ > kMatteNews) return "";
    switch (fault_) {
        case MatteFault::none: break;
        case MatteFault::notFinite:
            return "The model gives values that are not finite, so nothing new is shown: choose another model.";
        case MatteFault::everything:
            return "The matte suddenly covers the whole picture, which hardly changed, so nothing new is shown: start "
                   "live again, or choose another model.";
    }
    return "";
}

LiveStatistics LiveMeter::statistics(Time now) const {
    LiveStatistics result = counted_;
    result.fpsIn = in_.perSecond(now);
    result.fpsOut = out_.perSecond(now);
    result.frame = frame_.statistics();
    result.present = present_.statistics();
    result.latency = latency_.statistics();
    result.histogramMs = roundBeyond(result.latency.ms.p99);
    result.latencyHistogram = latency_.samples.histogram<LiveStatistics::kBins>(result.histogramMs);
    for (const Series& stage : stages_) result.stages.push_back(stage.statistics());
    for (const Series& layer : layerMs_) {
        if (layer.samples.count() > 0) result.layerMs.push_back(layer.statistics());
    }
    return result;
}

}  // namespace matte
