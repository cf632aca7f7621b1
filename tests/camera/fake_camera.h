// SPDX-License-Identifier: Apache-2.0
// A camera for tests: a real PipeWire node that other programs see and use, served from a thread of this process.
// Making it plugs it in, destroying it unplugs it. Frame n is grey of level (or Y) 20 + n % 200; of
// h264Clip() where that is its encoding.
//   FakeCamera camera({.name = "FakeCam", .modes = {{Encoding::yuyv, {640, 480}, {30}}}});
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "inference/media/capture/camera.h"

namespace matte::test {

struct FakeCameraOptions {
    std::string id = "fakecam";
    std::string name = "FakeCam";
    std::vector<CameraMode> modes{{Encoding::yuyv, {640, 480}, {30}}};
    std::string refusal = {};      ///< what it answers when a program wants to start it
    std::uint32_t onlyFormat = 0;  ///< SPA's number of the one format that raw modes are offered in
    int strideError = 0;           ///< added to the stride that it announces with each picture
    bool still = false;            ///< one picture over and over, faster than others can copy it
};

class FakeCamera {
public:
    explicit FakeCamera(FakeCameraOptions options);
    ~FakeCamera();
    FakeCamera(const FakeCamera&) = delete;
    FakeCamera& operator=(const FakeCamera&) = delete;

    /// Frames stop coming, or come again, without a word to anyone.
    void setSilent(bool silent);
    /// Frames arrive with half their bytes, or JPEGs with a broken middle.
    void setDamaged(bool damaged);
    /// How many frames it has sent.
    [[nodiscard]] int sent() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace matte::test
