// SPDX-License-Identifier: Apache-2.0
#include "tests/support/engines/fake_engine.h"

#include <utility>

#include <cstring>
#include <optional>

#include "inference/core/error.h"

namespace matte::test {
namespace {

class FakeCutout final : public Cutout {
public:
    explicit FakeCutout(std::shared_ptr<const Image> source) : source_(std::move(source)) {}
    [[nodiscard]] std::shared_ptr<const Image> source() const override { return source_; }
    [[nodiscard]] const StageTimes& times() const override { return times_; }

private:
    std::shared_ptr<const Image> source_;
    StageTimes times_{{Stage::preprocess, 1}, {Stage::network, 23}, {Stage::secondPass, 7}, {Stage::refine, 2}};
};

void stallUntilStopped(EngineLog& log, const std::stop_token& stop) {
    Gate never;
    never.close();
    never.pass(stop);
    ++log.cancelled;
    throw Cancelled{};
}

FakeCutout& mine(Cutout& cutout) {
    auto* own = dynamic_cast<FakeCutout*>(&cutout);
    if (!own) throw Error(ErrorCategory::engine, "This cut-out was made by another engine: cut the picture out again.");
    return *own;
}

class FakeEngine final : public Engine {
public:
    explicit FakeEngine(EngineLog& log) : log_(log) {}

    [[nodiscard]] EngineInfo info() const override {
        return {EngineKind::cpu, "Fake engine", "It has no better one.", {}};
    }

    std::shared_ptr<Cutout> cutOut(std::shared_ptr<const Image> source, std::stop_token stop) override {
        ++log_.cutOuts;
        stopIfAsked(stop);
        if (log_.failCutOut) throw Error(ErrorCategory::engine, "The fake engine broke: mend it.");
        if (log_.stallCutOut) stallUntilStopped(log_, stop);
        if (!log_.cutOut.pass(stop)) throw Cancelled{};
        return std::make_shared<FakeCutout>(std::move(source));
    }

    Output composite(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) override {
        ++log_.composites;
        const bool full = size == mine(cutout).source()->size();
        if (full) ++log_.fullSize;
        stopIfAsked(stop);
        if (full && log_.stallFullSize) stallUntilStopped(log_, stop);
        if (!log_.composite.pass(stop)) throw Cancelled{};
        log_.record(params);
        auto image = std::make_shared<Image>(size, PixelFormat::rgba8);
        const Rgba color = expectedColor(params);
        for (std::size_t i = 0; i < size.pixels(); ++i) std::memcpy(image->row(0) + 4 * i, &color, sizeof color);
        Output output;
        output.picture = std::make_shared<HostPicture>(image);
        output.times = {{Stage::composite, double(log_.compositeMs)}};
        return output;
    }

    Image matte(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) override {
        ++log_.mattes;
        (void)mine(cutout);
        stopIfAsked(stop);
        Image image(size, PixelFormat::gray8);
        std::memset(image.row(0), int(params.threshold * 255), image.bytes());
        return image;
    }

    [[nodiscard]] int slots() const override { return 1; }
    bool submit(const Frame& frame, const CompositeParams& params) override {
        if (underWay_) return false;
        underWay_ = {frame, params};
        return true;
    }
    Output take() override {
        if (!underWay_) throw Error(ErrorCategory::engine, "No frame is under way.");
        const auto [frame, params] = *std::exchange(underWay_, std::nullopt);
        log_.take.pass();
        const auto cutout = cutOut(frame.image, {});
        Output output = composite(*cutout, params, frame.image->size(), {});
        output.frame = frame.number;
        output.captured = frame.captured;
        return output;
    }
    void drop() override { underWay_.reset(); }
    void reset() override { underWay_.reset(); }
    [[nodiscard]] std::vector<LayerInfo> layers() const override { return {}; }
    void timeLayers(bool) override {}

private:
    EngineLog& log_;
    std::optional<std::pair<Frame, CompositeParams>> underWay_;
};

}  // namespace

void EngineLog::record(const CompositeParams& params) {
    const std::lock_guard lock(mutex_);
    lastParams_ = params;
}

CompositeParams EngineLog::lastParams() const {
    const std::lock_guard lock(mutex_);
    return lastParams_;
}

MakeEngine fakeEngine(EngineLog& log) {
    return [&log]() -> std::unique_ptr<Engine> {
        if (log.failMaking > 0) {
            --log.failMaking;
            throw Error(ErrorCategory::model, "The fake model is damaged: get another.");
        }
        ++log.made;
        return std::make_unique<FakeEngine>(log);
    };
}

Rgba expectedColor(const CompositeParams& params) {
    const Background& background = params.background;
    const auto gray = std::uint8_t(background.blurStrength);
    switch (background.kind) {
        case Background::Kind::blur: return {gray, gray, gray, 255};
        case Background::Kind::color: return {background.color.r, background.color.g, background.color.b, 255};
        case Background::Kind::image: {
            const std::uint8_t* first = background.image->row(0);
            const int red = background.image->format() == PixelFormat::bgr8 ? 2 : 0;
            return {first[red], first[1], first[2 - red], 255};
        }
        case Background::Kind::transparent: break;
    }
    return {255, 0, 0, 128};
}

}  // namespace matte::test
