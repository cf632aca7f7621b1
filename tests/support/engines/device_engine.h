// SPDX-License-Identifier: Apache-2.0
// DeviceEngine: an engine, for photos and for live frames, whose device fails when the test says so. It knows its own
// cut-outs only, as the real ones do, and gives the pictures back as they came. One thread at a time; its pictures:
// any.
//
//     DeviceScript script;
//     FailoverPhotoEngine engine(std::make_unique<DeviceEngine>(script, "gpu"), makeAnother);
//     script.failure = DeviceFailure("The GPU fell off the bus.", true);
#pragma once

#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inference/engine/engine.h"

namespace matte::test {

/// What a test sees and sets of the engines made with it. The first engine is the one with the name "gpu".
struct DeviceScript {
    std::optional<DeviceFailure> failure;  ///< thrown by the first engine from now on
    std::exception_ptr otherFailure;       ///< thrown by the engine "other"
    bool firstLives = true;
    bool remote = false;  ///< the first engine's photos stay on its device
    int slots = 2;        ///< of the first
    bool timesLayers = false;
    std::vector<std::string> calls;  ///< "gpu cutOut", "cpu submit 5", ...
};

class DeviceEngine final : public Engine {
public:
    DeviceEngine(DeviceScript& script, std::string name, std::string reason = "")
        : script_(script), name_(std::move(name)), reason_(std::move(reason)) {}
    ~DeviceEngine() override;

    [[nodiscard]] EngineInfo info() const override;
    std::shared_ptr<Cutout> cutOut(std::shared_ptr<const Image> source, std::stop_token stop) override;
    Output composite(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) override;
    Image matte(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) override;

    [[nodiscard]] int slots() const override { return isFirst() ? script_.slots : 1; }
    bool submit(const Frame& frame, const CompositeParams& params) override;
    Output take() override;
    void drop() override { underWay_.clear(); }
    void reset() override { underWay_.clear(); }
    [[nodiscard]] std::vector<LayerInfo> layers() const override { return {}; }
    void timeLayers(bool on) override { script_.timesLayers = on; }

private:
    [[nodiscard]] bool isFirst() const { return name_ == "gpu"; }
    void run(const std::string& call);
    /// Throws Error for another engine's.
    void checkMaker(Cutout& cutout) const;

    DeviceScript& script_;
    std::string name_, reason_;
    std::deque<Frame> underWay_;
};

}  // namespace matte::test
