// SPDX-License-Identifier: Apache-2.0
#include "inference/media/virtual_camera/virtual_camera.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "inference/core/error.h"
#ifndef _WIN32
#include "inference/media/capture/v4l2/v4l2_device.h"
#endif

namespace matte {
namespace {

/// The same picture in each.
class SeveralCameras final : public VirtualCamera {
public:
    explicit SeveralCameras(std::vector<std::unique_ptr<VirtualCamera>> cameras) : cameras_(std::move(cameras)) {}

    void show(const ImageView& picture) override {
        for (const auto& camera : cameras_) camera->show(picture);
    }
    void showNothing() override {
        for (const auto& camera : cameras_) camera->showNothing();
    }
    [[nodiscard]] bool isWatched() const override {
        return std::ranges::any_of(cameras_, [](const auto& camera) { return camera->isWatched(); });
    }
    /// As long as one is left, it is seen.
    [[nodiscard]] std::string problem() const override {
        std::string problem;
        for (const auto& camera : cameras_) {
            problem = camera->problem();
            if (problem.empty()) break;
        }
        return problem;
    }
    [[nodiscard]] std::vector<std::string> names() const override {
        std::vector<std::string> names;
        for (const auto& camera : cameras_) std::ranges::copy(camera->names(), std::back_inserter(names));
        return names;
    }

private:
    std::vector<std::unique_ptr<VirtualCamera>> cameras_;
};

}  // namespace

std::unique_ptr<VirtualCamera> openVirtualCamera([[maybe_unused]] const std::stop_token& stop) {
    std::vector<std::unique_ptr<VirtualCamera>> cameras;
    Error refusal(ErrorCategory::output,
                  "This program was built without PipeWire, which makes the camera that others see, and the kernel has "
                  "no v4l2loopback: load that, or build it where PipeWire's development files are installed.");
#ifdef MATTE_HAVE_PIPEWIRE
    try {
        cameras.push_back(openPipeWireVirtualCamera(stop));
    } catch (const Error& error) {
        refusal = error;
    }
#endif
#ifndef _WIN32
    try {
        if (auto camera = openLoopbackCamera(systemCalls())) cameras.push_back(std::move(camera));
    } catch (const Error& error) {
        refusal = error;
    }
#endif
    if (cameras.empty()) throw Error(refusal);
    return std::make_unique<SeveralCameras>(std::move(cameras));
}

}  // namespace matte
