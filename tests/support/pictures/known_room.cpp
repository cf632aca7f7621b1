// SPDX-License-Identifier: Apache-2.0
#include "tests/support/pictures/known_room.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "inference/core/error.h"
#include "inference/core/synthetic_person.h"
#include "inference/media/frame_clock.h"

namespace matte::test {
namespace {

constexpr int kLoop = 16, kSquares = 12;  // of a frame's height

/// bgr8: the person over the squares.
std::shared_ptr<const Image> drawFrame(const SyntheticPerson& person, Size size, int number) {
    const Image cutout = person.cutout(std::uint64_t(number));
    auto frame = std::make_shared<Image>(size, PixelFormat::bgr8);
    const int side = std::max(1, size.height / kSquares);
    for (int y = 0; y < size.height; ++y) {
        const std::uint8_t* above = cutout.row(y);
        std::uint8_t* pixel = frame->row(y);
        for (int x = 0; x < size.width; ++x, above += 4, pixel += 3) {
            const bool red = (x / side + y / side) % 2 == 0;
            const int room[3] = {red ? 0 : 255, 0, red ? 255 : 0}, share = above[3];
            for (int c = 0; c < 3; ++c) pixel[c] = std::uint8_t((above[2 - c] * share + room[c] * (255 - share)) / 255);
        }
    }
    return frame;
}

class KnownRoom final : public FrameSource {
public:
    KnownRoom(Size size, double rate) : info_{"Known room", size, rate, true, "BGR"}, clock_(rate) {
        const SyntheticPerson person(size, kLoop);
        for (int i = 0; i < kLoop; ++i) loop_.push_back(drawFrame(person, size, i));
    }
    std::optional<Frame> read(std::stop_token stop) override {
        const auto number = clock_.next(stop);
        if (!number) return std::nullopt;
        return Frame{loop_[*number % loop_.size()], *number, clock_.due()};
    }
    [[nodiscard]] SourceInfo info() const override { return info_; }

private:
    SourceInfo info_;
    FrameClock clock_;
    std::vector<std::shared_ptr<const Image>> loop_;
};

/// A bgr8 frame as a picture.
std::shared_ptr<const Picture> asPicture(const Image& frame) {
    auto picture = std::make_shared<Image>(frame.size(), PixelFormat::rgba8);
    for (int y = 0; y < frame.size().height; ++y) {
        const std::uint8_t* from = frame.row(y);
        std::uint8_t* to = picture->row(y);
        for (int x = 0; x < frame.size().width; ++x, from += 3, to += 4) {
            to[0] = from[2], to[1] = from[1], to[2] = from[0], to[3] = 255;
        }
    }
    return std::make_shared<HostPicture>(picture);
}

class LapsingEngine final : public LiveEngine {
public:
    LapsingEngine(std::unique_ptr<LiveEngine> engine, const std::atomic<Lapse>& lapse)
        : engine_(std::move(engine)), lapse_(lapse) {}

    [[nodiscard]] EngineInfo info() const override { return engine_->info(); }
    [[nodiscard]] PixelMemory frameMemory() const override { return engine_->frameMemory(); }
    [[nodiscard]] int slots() const override { return engine_->slots(); }
    bool submit(const Frame& frame, const CompositeParams& params) override {
        if (!engine_->submit(frame, params)) return false;
        underWay_.push_back(frame.image);
        return true;
    }
    Output take() override {
        Output output = engine_->take();
        const auto frame = underWay_.front();
        underWay_.pop_front();
        const Lapse lapse = lapse_;
        if (lapse == Lapse::broken)
            throw Error(ErrorCategory::engine, "The engine broke because the test says so: go on.");
        if (lapse != Lapse::none) output.picture = asPicture(*frame);
        if (lapse == Lapse::unusable) output.matteFault = MatteFault::notFinite;
        return output;
    }
    void drop() override {
        engine_->drop();
        underWay_.clear();
    }
    void reset() override {
        engine_->reset();
        underWay_.clear();
    }
    [[nodiscard]] std::vector<LayerInfo> layers() const override { return engine_->layers(); }
    void timeLayers(bool on) override { engine_->timeLayers(on); }
    std::optional<MachineRates> measureRates() override { return engine_->measureRates(); }

private:
    std::unique_ptr<LiveEngine> engine_;
    const std::atomic<Lapse>& lapse_;
    std::deque<std::shared_ptr<const Image>> underWay_;
};

}  // namespace

std::unique_ptr<FrameSource> openKnownRoom(Size size, double rate) {
    return std::make_unique<KnownRoom>(size, rate);
}

std::unique_ptr<LiveEngine> lapsingEngine(std::unique_ptr<LiveEngine> engine, const std::atomic<Lapse>& lapse) {
    return std::make_unique<LapsingEngine>(std::move(engine), lapse);
}

}  // namespace matte::test
