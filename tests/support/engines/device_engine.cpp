// SPDX-License-Identifier: Apache-2.0
#include "tests/support/engines/device_engine.h"

#include <algorithm>
#include <utility>

namespace matte::test {
namespace {

class DeviceCutout final : public Cutout {
public:
    DeviceCutout(std::shared_ptr<const Image> source, std::string by)
        : maker(std::move(by)), source_(std::move(source)) {}
    [[nodiscard]] std::shared_ptr<const Image> source() const override { return source_; }
    [[nodiscard]] const StageTimes& times() const override { return times_; }
    std::string maker;

private:
    std::shared_ptr<const Image> source_;
    StageTimes times_{{Stage::network, 1}};
};

/// In the memory of a device that may be lost before somebody asks for it.
class RemotePicture final : public Picture {
public:
    RemotePicture(DeviceScript& script, std::shared_ptr<const Image> image)
        : script_(script), image_(std::move(image)) {}
    [[nodiscard]] Size size() const override { return image_->size(); }
    [[nodiscard]] std::shared_ptr<const Image> image() const override {
        script_.calls.emplace_back("gpu image");
        if (script_.failure) throw DeviceFailure(*script_.failure);
        return image_;
    }
    [[nodiscard]] const DevicePicture* device() const override {
        return reinterpret_cast<const DevicePicture*>(this);  // only told from null here
    }

private:
    DeviceScript& script_;
    std::shared_ptr<const Image> image_;
};

/// `source` itself where it is a picture of that size, else a white one.
std::shared_ptr<const Image> pictureOf(const std::shared_ptr<const Image>& source, Size size) {
    if (source->size() == size && source->format() == PixelFormat::rgba8) return source;
    auto white = std::make_shared<Image>(size, PixelFormat::rgba8);
    std::fill_n(white->row(0), white->bytes(), std::uint8_t(255));
    return white;
}

}  // namespace

DeviceEngine::~DeviceEngine() {
    if (isFirst()) script_.firstLives = false;
}

EngineInfo DeviceEngine::info() const {
    return {isFirst() ? EngineKind::cuda : EngineKind::cpu, name_, reason_, {}};
}

void DeviceEngine::run(const std::string& call) {
    script_.calls.push_back(name_ + " " + call);
    if (isFirst() && script_.failure) throw DeviceFailure(*script_.failure);
    if (name_ == "other" && script_.otherFailure) std::rethrow_exception(script_.otherFailure);
}

void DeviceEngine::checkMaker(Cutout& cutout) const {
    const auto* own = dynamic_cast<DeviceCutout*>(&cutout);
    if (!own || own->maker != name_) throw Error(ErrorCategory::engine, "This cut-out was made by another engine.");
}

std::shared_ptr<Cutout> DeviceEngine::cutOut(std::shared_ptr<const Image> source, std::stop_token stop) {
    run("cutOut");
    stopIfAsked(stop);
    return std::make_shared<DeviceCutout>(std::move(source), name_);
}

Output DeviceEngine::composite(Cutout& cutout, const CompositeParams&, Size size, std::stop_token stop) {
    checkMaker(cutout);
    run("composite");
    stopIfAsked(stop);
    const auto image = pictureOf(cutout.source(), size);
    Output output;
    if (isFirst() && script_.remote) {
        output.picture = std::make_shared<RemotePicture>(script_, image);
    } else {
        output.picture = std::make_shared<HostPicture>(image);
    }
    return output;
}

Image DeviceEngine::matte(Cutout& cutout, const CompositeParams&, Size size, std::stop_token stop) {
    checkMaker(cutout);
    run("matte");
    stopIfAsked(stop);
    return {size, PixelFormat::gray8};
}

bool DeviceEngine::submit(const Frame& frame, const CompositeParams&) {
    if (underWay_.size() >= std::size_t(slots())) return false;
    run("submit " + std::to_string(frame.number));
    underWay_.push_back(frame);
    return true;
}

Output DeviceEngine::take() {
    if (underWay_.empty()) throw Error(ErrorCategory::engine, "No frame is under way.");
    run("take");
    const Frame frame = std::move(underWay_.front());
    underWay_.pop_front();
    Output output;
    output.picture = std::make_shared<HostPicture>(pictureOf(frame.image, frame.image->size()));
    output.frame = frame.number;
    output.captured = frame.captured;
    return output;
}

}  // namespace matte::test
