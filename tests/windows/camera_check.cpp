// SPDX-License-Identifier: Apache-2.0
// Cameras on Windows, or on Wine: the list as the system has it, and made-up cameras through the system's own source
// reader. Prints a line for each check and ends with 1 when one failed. By itself, because the tests' libraries are
// not there for MinGW-w64; JPEG and H264, for which the same holds, are not decoded here.
#include <cstdio>
#include <cstring>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>

#include <mferror.h>

#include "inference/core/error.h"
#include "inference/media/capture/camera_list.h"
#include "inference/media/capture/media_foundation/media_foundation_device.h"
#include "inference/media/image/jpeg_decoder.h"
#include "tests/support/running/eventually.h"
#include "tests/windows/fake_camera.h"

namespace matte {

/// Stands in for libjpeg: a picture of one pixel, the JPEG's first byte.
std::shared_ptr<Image> decodeJpegFrame(std::span<const std::uint8_t> bytes, FramePool& pool) {
    auto image = pool.take({1, 1}, PixelFormat::rgba8);
    if (image) image->row(0)[0] = bytes[0];
    return image;
}

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;
using test::FakeCamera;

int failures = 0;

/// Says what went wrong and goes on.
void expect(bool isTrue, const std::string& what) {
    if (isTrue) return;
    ++failures;
    std::printf("        FAILED: %s\n", what.c_str());
}
void expectText(const std::string& is, const std::string& wanted) {
    expect(is == wanted, "\"" + is + "\" is not \"" + wanted + "\"");
}

/// 640x480 NV12, and what else a webcam has.
void makeWebcam(FakeCamera& camera) {
    camera.types = {{MFVideoFormat_NV12, 640, 480, 30},
                    {MFVideoFormat_NV12, 640, 480, 15},
                    {MFVideoFormat_MJPG, 1280, 720, 30},
                    {MFVideoFormat_L8, 320, 240, 15}};
    camera.bytes = 640 * 480 * 3 / 2;
}

CaptureSettings vga() {
    CaptureSettings settings;
    settings.size = {640, 480};
    return settings;
}

std::unique_ptr<FrameSource> open(FakeCamera& camera, const CaptureSettings& settings, std::stop_token stop = {}) {
    return openMediaFoundationCamera([&camera] { return std::vector{test::plugIn(camera)}; }, "", settings, stop);
}

/// The sentence that `act` throws.
std::string refusal(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        return error.category == ErrorCategory::source ? error.what() : "another category";
    } catch (const Cancelled&) {
        return "cancelled";
    }
    return "nothing is thrown";
}

void theSystemsOwnListIsKnownAndCloses() {
    CameraList list;
    list.waitUntilKnown(10s);
    expectText(list.system(), "Media Foundation");
    std::printf("        %zu cameras\n", list.cameras().size());
    for (const auto& camera : list.cameras()) {
        std::printf("        %s, %zu modes\n", camera.name.c_str(), camera.modes.size());
    }
    expect(refusal([] { (void)openCamera("none has this name", {}, {}); }).find("is not there") != std::string::npos,
           "a camera that is not there is refused");
}

void camerasAreListedWithTheirModes() {
    const MediaFoundation platform;
    FakeCamera first, second;
    makeWebcam(first);
    makeWebcam(second);
    second.link += L"\u00e9";
    second.openFault = E_ACCESSDENIED;
    const auto cameras = describeCameras({test::plugIn(first), test::plugIn(second), test::plugIn(first)});
    expect(cameras.size() == 2, "one that is listed twice is one camera");
    if (cameras.size() != 2) return;
    expectText(cameras[0].name, "Integrated Camera");
    expectText(cameras[1].name, "Integrated Camera (2)");
    expectText(cameras[0].id, "\\\\?\\usb#vid_046d&pid_0825#1");
    expectText(cameras[1].id, "\\\\?\\usb#vid_046d&pid_0825#1\xc3\xa9");
    expect(cameras[0].modes == std::vector<CameraMode>{{Encoding::mjpg, {1280, 720}, {30}},
                                                       {Encoding::nv12, {640, 480}, {30, 15}},
                                                       {Encoding::other, {320, 240}, {15}}},
           "the modes are those of its types");
    expect(cameras[1].modes.empty(), "one that may not be opened has no modes");
    expect(first.opened == 0, "a source stayed open");
    first.openFault = E_ACCESSDENIED;
    second.openFault = S_OK;
    const auto again = describeCameras({test::plugIn(first), test::plugIn(second)}, cameras);
    expect(again.size() == 2 && again[0] == cameras[0], "what is known isn't asked again");
    expect(again.size() == 2 && again[1].modes == cameras[0].modes, "what isn't, is");
}

void framesArriveAndTheCameraOpensAgain() {
    FakeCamera camera;
    makeWebcam(camera);
    for (int round = 0; round < 3; ++round) {
        const auto source = open(camera, vga());
        expectText(source->info().format, "NV12");
        std::uint64_t last = 0;
        for (int i = 0; i < 10; ++i) {
            const auto frame = source->read({});
            expect(frame && frame->image->size() == Size{640, 480}, "a frame of that size");
            if (!frame) return;
            expect(frame->image->row(0)[0] == std::uint8_t(frame->number + 1) &&
                       frame->image->row(719)[639] == std::uint8_t(frame->number + 1),
                   "its pixels are of its number");
            expect(i == 0 || frame->number > last, "numbers rise");
            last = frame->number;
        }
        expect(camera.opened == 1, "it is open while it is read");
    }
    expect(camera.opened == 0, "it is closed when its source is gone");
}

void memoryWithRowsIsRead() {
    FakeCamera camera;
    camera.types = {{MFVideoFormat_NV12, 638, 480, 30}};
    camera.planes = MFVideoFormat_NV12.Data1;
    const auto frame = open(camera, {})->read({});
    expect(frame && frame->image->size() == Size{638, 480} && frame->image->row(719)[637] == frame->number + 1,
           "the last pixel of its last row");
}

void picturesAreAsOldAsTheDriverSays() {
    FakeCamera camera;
    makeWebcam(camera);
    camera.age = 300'0000;
    const auto source = open(camera, vga());
    const auto frame = source->read({});
    const auto age = frame ? Clock::now() - frame->captured : 0ms;
    expect(age >= 300ms && age < 1300ms, "300 ms, and what reading it takes");
    camera.age = -50'0000;
    for (int i = 0; i < 10; ++i) {  // some of them the driver has sent since
        const auto next = source->read({});
        expect(next && next->captured <= Clock::now(), "nothing comes from the future");
    }
}

void rgbIsTurnedUpright() {
    FakeCamera camera;
    camera.types = {{MFVideoFormat_RGB32, 4, 2, 30}};
    camera.bytes = 4 * 2 * 4;
    const auto frame = open(camera, {})->read({});
    if (!frame) return expect(false, "RGB is read");
    const auto number = std::uint8_t(frame->number + 1);
    expect(frame->image->row(1)[2] == 0 && frame->image->row(0)[2] == number && frame->image->row(1)[4] == number,
           "what comes first is the lowest row");
}

void jpegsArriveAsTheyAre() {
    FakeCamera camera;
    makeWebcam(camera);
    camera.bytes = 1000;
    CaptureSettings settings;
    settings.encoding = Encoding::mjpg;
    const auto source = open(camera, settings);
    expectText(source->info().format, "MJPG");
    const auto frame = source->read({});
    expect(frame && frame->image->row(0)[0] == frame->number + 1, "the JPEG's bytes");
}

void lossesSayWhatToDo() {
    FakeCamera camera;
    makeWebcam(camera);
    camera.openFault = E_ACCESSDENIED;
    expectText(refusal([&] { (void)open(camera, vga()); }),
               mediaFoundationSentence("Integrated Camera", std::uint32_t(E_ACCESSDENIED)));
    camera.openFault = S_OK;
    camera.startFault = MF_E_HW_MFT_FAILED_START_STREAMING;
    expect(refusal([&] { (void)open(camera, vga()); }).find("another program") != std::string::npos,
           "a camera that may not start is held by another program");
    camera.startFault = S_OK;
    const auto source = open(camera, vga());
    camera.fault = MF_E_VIDEO_RECORDING_DEVICE_INVALIDATED;
    expectText(refusal([&] {
                   while (source->read({})) {
                   }
               }),
               "The camera Integrated Camera was unplugged: plug it in again.");
}

void shortPicturesAreLeftOut() {
    FakeCamera camera;
    makeWebcam(camera);
    const auto source = open(camera, vga());
    (void)source->read({});
    camera.missing = 1;
    expect(refusal([&] {
               while (source->read({})) {
               }
           }).find("come damaged") != std::string::npos,
           "all of them damaged is a loss");
    camera.missing = 0;
    expect(source->read({}).has_value(), "whole ones can be read again");
}

void nothingHangs() {
    static FakeCamera& camera = *new FakeCamera;  // a thread that was left behind has it still
    makeWebcam(camera);
    camera.isSilent = true;
    const auto cancelled = [&] {
        std::stop_source stop;
        const int before = camera.asked;
        const std::jthread later([&] {
            expect(test::eventually([&] { return camera.asked > before; }), "it is asked");
            stop.request_stop();
        });
        return refusal([&] { (void)open(camera, vga(), stop.get_token()); });
    };
    expectText(cancelled(), "cancelled");
    expect(camera.opened == 0, "a silent camera that nobody waits for is closed");
    expect(refusal([&] { (void)open(camera, vga()); }).find("does not start") != std::string::npos, "silence is told");
    camera.hangs = 60s;
    expectText(cancelled(), "cancelled");
    expect(camera.answered < camera.asked, "a driver that hangs is left behind");
}

}  // namespace
}  // namespace matte

int main() {
    using namespace matte;
    const std::pair<const char*, void (*)()> checks[] = {
        {"the system's own list is known, and closes", theSystemsOwnListIsKnownAndCloses},
        {"cameras are listed with their modes", camerasAreListedWithTheirModes},
        {"frames arrive, and the camera opens again", framesArriveAndTheCameraOpensAgain},
        {"memory with rows is read", memoryWithRowsIsRead},
        {"pictures are as old as the driver says", picturesAreAsOldAsTheDriverSays},
        {"RGB is turned upright", rgbIsTurnedUpright},
        {"JPEGs arrive as they are", jpegsArriveAsTheyAre},
        {"losses say what to do", lossesSayWhatToDo},
        {"short pictures are left out", shortPicturesAreLeftOut},
        {"nothing hangs", nothingHangs}};
    int failed = 0;
    for (const auto& [name, check] : checks) {
        failures = 0;
        const auto begun = Clock::now();
        try {
            check();
        } catch (const std::exception& error) {
            expect(false, error.what());
        }
        failed += failures > 0;
        std::printf("    %s: %s, %.1f s\n", failures > 0 ? "FAILED" : "passed", name,
                    std::chrono::duration<double>(Clock::now() - begun).count());
        std::fflush(stdout);
    }
    return failed > 0;
}
