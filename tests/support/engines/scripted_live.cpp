// SPDX-License-Identifier: Apache-2.0
#include "tests/support/engines/scripted_live.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "inference/core/error.h"

namespace matte::test {
namespace {

constexpr std::uint8_t kMark = 201;  // in the second channel of every such picture

class ScriptedEngine final : public LiveEngine {
public:
    explicit ScriptedEngine(LiveScript& script) : script_(script) {}
    [[nodiscard]] EngineInfo info() const override {
        ++script_.asked;
        EngineInfo info{EngineKind::cpu, "Scripted engine", "", {}, script_.fineDetail};
        if (script_.lostDevice) info.name = "Scripted stand-in", info.reason = "The scripted device is lost.";
        if (script_.smallerInput) info.warnings.emplace_back("The input is smaller.");
        return info;
    }
    [[nodiscard]] PixelMemory frameMemory() const override { return scriptedMemory(); }
    [[nodiscard]] int slots() const override { return script_.slots; }
    bool submit(const Frame& frame, const CompositeParams& params) override {
        if (int(underWay_.size()) >= script_.slots) return false;
        ++script_.submitting;
        script_.submit.pass();
        ++script_.submitted;
        begun_ = true;
        fine_ = params.fineDetail;
        underWay_.push_back({frame, params.background.kind == Background::Kind::transparent});
        script_.mostUnderWay = std::max(script_.mostUnderWay.load(), int(underWay_.size()));
        return true;
    }
    Output take() override {
        if (underWay_.empty()) throw Error(ErrorCategory::engine, "No frame is under way.");
        script_.take.pass();
        if (script_.failTakes > 0) {
            --script_.failTakes;
            throw Error(ErrorCategory::engine, "The scripted engine broke: mend it.");
        }
        const auto [frame, transparent] = underWay_.front();
        underWay_.pop_front();
        auto picture = std::make_shared<Image>(frame.image->size(), PixelFormat::rgba8);
        std::memcpy(picture->row(0), frame.image->row(0), picture->bytes());
        for (std::size_t i = 3; transparent && i < picture->bytes(); i += 4) picture->row(0)[i] = 128;
        Output output;
        output.picture = std::make_shared<HostPicture>(picture);
        output.times = {{Stage::network, 2}, {Stage::composite, 1}};
        output.frame = script_.wrongFrame ? frame.number + 1000 : frame.number;
        output.captured = frame.captured;
        output.bytesUp = frame.image->bytes();
        output.matteFault = script_.matteFault;
        if (timed_) output.layerMs = {1.5F, 0.5F};
        return output;
    }
    void drop() override {
        ++script_.dropped;
        underWay_.clear();
    }
    void reset() override {
        ++script_.resets;
        underWay_.clear();
    }
    [[nodiscard]] std::vector<LayerInfo> layers() const override {
        if (!begun_) return {};
        const double share = script_.smallerInput ? 0.25 : fine_ ? 4 : 1;
        return {{"down1", "3 -> 4", "loop", 100 * share, 10}, {"head", "4 -> 1", "loop", 10 * share, 5}};
    }
    void timeLayers(bool on) override { timed_ = on; }
    std::optional<MachineRates> measureRates() override {
        if (script_.lostDevice) throw Error(ErrorCategory::engine, "The scripted engine can't be measured: mend it.");
        if (++script_.rateSteps % 3 != 0) return std::nullopt;
        return MachineRates{1e6, 1e6, "a loop"};
    }

private:
    LiveScript& script_;
    std::deque<std::pair<Frame, bool>> underWay_;  ///< and whether it has no background
    bool begun_ = false, timed_ = false, fine_ = false;
};

}  // namespace

class FrameFeed::Source final : public FrameSource {
public:
    explicit Source(FrameFeed& feed) : feed_(feed) {}
    ~Source() override { ++feed_.closed_; }
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;
    std::optional<Frame> read(std::stop_token stop) override {
        std::unique_lock lock(feed_.mutex_);
        feed_.wake_.wait(lock, stop, [this] { return !feed_.frames_.empty() || feed_.ended_ || !feed_.lost_.empty(); });
        if (stop.stop_requested()) return std::nullopt;
        if (!feed_.frames_.empty()) {
            Frame frame = feed_.frames_.front();
            feed_.frames_.pop_front();
            frame.number = next_++;
            return frame;
        }
        if (!feed_.lost_.empty()) throw Error(ErrorCategory::source, std::exchange(feed_.lost_, {}));
        return std::nullopt;
    }
    [[nodiscard]] SourceInfo info() const override { return {"Feed", {8, 4}, 30, true, "RGBA"}; }

private:
    FrameFeed& feed_;
    std::uint64_t next_ = 0;
};

void FrameFeed::push(int width, int height) {
    auto image = std::make_shared<Image>(Size{width, height}, PixelFormat::rgba8);
    const std::scoped_lock lock(mutex_);
    const std::uint8_t pixel[4] = {std::uint8_t(pushed_++), kMark, 0, 255};
    for (std::size_t i = 0; i < image->size().pixels(); ++i) std::memcpy(image->row(0) + 4 * i, pixel, 4);
    frames_.push_back({image, 0, std::chrono::steady_clock::now()});
    wake_.notify_all();
}

void FrameFeed::end() {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    wake_.notify_all();
}

void FrameFeed::lose(const std::string& sentence) {
    const std::scoped_lock lock(mutex_);
    lost_ = sentence;
    wake_.notify_all();
}

void FrameFeed::refuse(const std::string& sentence) {
    const std::scoped_lock lock(mutex_);
    refused_ = sentence;
}

std::unique_ptr<FrameSource> FrameFeed::open() {
    {
        const std::scoped_lock lock(mutex_);
        if (!refused_.empty()) {
            ++refusals_;
            throw Error(ErrorCategory::source, refused_);
        }
    }
    ++opened_;
    return std::make_unique<Source>(*this);
}

std::unique_ptr<LiveEngine> scriptedEngine(LiveScript& script) {
    if (script.failMaking) throw Error(ErrorCategory::model, "The scripted model is damaged: get another.");
    ++script.made;
    return std::make_unique<ScriptedEngine>(script);
}

PixelMemory scriptedMemory() {
    return {[](std::size_t bytes) { return new std::uint8_t[bytes]; }, [](std::uint8_t* pixels) { delete[] pixels; }};
}

int numberIn(const Picture& picture) {
    const std::uint8_t* pixel = picture.image()->row(0);
    return pixel[1] == kMark ? pixel[0] : -1;
}

}  // namespace matte::test
