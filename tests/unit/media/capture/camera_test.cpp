// SPDX-License-Identifier: Apache-2.0
// Which of a camera's modes is asked for, and how cameras of one model are told apart.
#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/media/capture/camera.h"

namespace matte {
namespace {

using E = Encoding;

/// A common USB camera: raw pictures are slow where they are large.
const std::vector<CameraMode> kWebcam{
    {E::h264, {1920, 1080}, {60, 30}}, {E::mjpg, {1920, 1080}, {30, 15}}, {E::mjpg, {1280, 720}, {60, 30}},
    {E::mjpg, {640, 480}, {60, 30}},   {E::yuyv, {1920, 1080}, {5}},      {E::yuyv, {1280, 720}, {10}},
    {E::yuyv, {640, 480}, {30, 15}},   {E::other, {640, 480}, {30}},
};

CaptureSettings wanted(Encoding encoding, Size size = {}, double rate = 0) {
    CaptureSettings settings;
    settings.encoding = encoding;
    settings.size = size;
    settings.rate = rate;
    return settings;
}

TEST(ChooseMode, TakesFullHdWhereItIsFastEnough) {
    EXPECT_EQ(chooseMode(kWebcam, {}), (CaptureChoice{E::mjpg, {1920, 1080}, 30}));
    const std::vector<CameraMode> slow{
        {E::yuyv, {1920, 1080}, {5}}, {E::mjpg, {1280, 720}, {30}}, {E::yuyv, {640, 480}, {30}}};
    EXPECT_EQ(chooseMode(slow, {}), (CaptureChoice{E::mjpg, {1280, 720}, 30}));
    const std::vector<CameraMode> old{
        {E::yuyv, {1280, 960}, {7.5}}, {E::yuyv, {640, 480}, {30}}, {E::yuyv, {320, 240}, {30}}};
    EXPECT_EQ(chooseMode(old, {}), (CaptureChoice{E::yuyv, {640, 480}, 30}));
    const std::vector<CameraMode> slowest{{E::yuyv, {1280, 960}, {7.5}}, {E::yuyv, {640, 480}, {15}}};
    EXPECT_EQ(chooseMode(slowest, {}), (CaptureChoice{E::yuyv, {640, 480}, 15}));
}

TEST(ChooseMode, PrefersWhatIsFasterThenWhatIsCheaper) {
    const std::vector<CameraMode> equal{
        {E::mjpg, {1280, 720}, {30}}, {E::yuyv, {1280, 720}, {30}}, {E::nv12, {1280, 720}, {30}}};
    EXPECT_EQ(chooseMode(equal, {})->encoding, E::nv12);
    const std::vector<CameraMode> faster{{E::mjpg, {1280, 720}, {60}}, {E::yuyv, {1280, 720}, {30}}};
    EXPECT_EQ(chooseMode(faster, {}), (CaptureChoice{E::mjpg, {1280, 720}, 60}));
}

/// Its frames come late, and from a decoder that may be missing.
TEST(ChooseMode, TakesH264WhereNothingElseIsThere) {
    const std::vector<CameraMode> slower{{E::h264, {1920, 1080}, {60}}, {E::yuyv, {320, 240}, {5}}};
    EXPECT_EQ(chooseMode(slower, {})->encoding, E::yuyv);
    EXPECT_EQ(chooseMode(slower, wanted(E::any, {1920, 1080}, 60))->encoding, E::yuyv);
    EXPECT_EQ(chooseMode(std::vector<CameraMode>{slower[0]}, {}), (CaptureChoice{E::h264, {1920, 1080}, 60}));
}

TEST(ChooseMode, FollowsWhatIsAskedForAsFarAsItGoes) {
    EXPECT_EQ(chooseMode(kWebcam, wanted(E::any, {640, 480})), (CaptureChoice{E::mjpg, {640, 480}, 60}));
    EXPECT_EQ(chooseMode(kWebcam, wanted(E::yuyv, {640, 480}, 15)), (CaptureChoice{E::yuyv, {640, 480}, 15}));
    EXPECT_EQ(chooseMode(kWebcam, wanted(E::yuyv, {1920, 1080})), (CaptureChoice{E::yuyv, {1920, 1080}, 5}));
    EXPECT_EQ(chooseMode(kWebcam, wanted(E::any, {1000, 700}, 30)), (CaptureChoice{E::mjpg, {1280, 720}, 30}));
    EXPECT_EQ(chooseMode(kWebcam, wanted(E::any, {}, 60))->rate, 60);
    EXPECT_EQ(chooseMode(kWebcam, wanted(E::nv12, {640, 480}))->encoding, E::mjpg) << "it has no NV12";
    EXPECT_EQ(chooseMode(kWebcam, wanted(E::h264)), (CaptureChoice{E::h264, {1920, 1080}, 60}));
}

TEST(ChooseMode, GoesWithoutRatesAndKnowsWhenNothingFits) {
    const std::vector<CameraMode> silent{{E::yuyv, {640, 480}, {}}};
    EXPECT_EQ(chooseMode(silent, {}), (CaptureChoice{E::yuyv, {640, 480}, 30}));
    EXPECT_EQ(chooseMode(silent, wanted(E::any, {}, 15))->rate, 15);
    EXPECT_FALSE(chooseMode(std::vector<CameraMode>{{E::other, {640, 480}, {30}}}, {}));
    EXPECT_FALSE(chooseMode({}, {}));
}

TEST(CameraNames, TwoOfOneModelAreToldApartByTheirPlace) {
    std::vector<CameraInfo> cameras{
        {"usb-2", "Webcam", {}}, {"usb-3", "Webcam", {}}, {"usb-1", "Other", {}}, {"usb-1b", "Webcam", {}}};
    tellApart(cameras);
    EXPECT_EQ(cameras[0].name, "Other");
    EXPECT_EQ(cameras[1], (CameraInfo{"usb-1b", "Webcam", {}}));
    EXPECT_EQ(cameras[2], (CameraInfo{"usb-2", "Webcam (2)", {}}));
    EXPECT_EQ(cameras[3], (CameraInfo{"usb-3", "Webcam (3)", {}}));
    EXPECT_EQ(findCamera(cameras, "Webcam (2)"), &cameras[2]);
    EXPECT_EQ(findCamera(cameras, "usb-3"), &cameras[3]);
    EXPECT_EQ(findCamera(cameras, ""), &cameras[0]);
    EXPECT_EQ(findCamera(cameras, "Webcam (4)"), nullptr);
    EXPECT_EQ(findCamera({}, ""), nullptr);
}

TEST(CameraNames, AMissingCameraGetsASentence) {
    for (const char* name : {"", "Webcam"}) {
        try {
            refuseMissingCamera(name);
        } catch (const Error& error) {
            EXPECT_EQ(error.category, ErrorCategory::source);
            EXPECT_NE(std::string(error.what()).find(name), std::string::npos);
        }
    }
}

TEST(CameraNames, AModeReadsAsPeopleKnowIt) {
    EXPECT_EQ(toString(CameraMode{E::mjpg, {1920, 1080}, {30, 29.97, 7.5}}), "MJPG 1920x1080 at 30, 29.97, 7.5");
    EXPECT_EQ(toString(CameraMode{E::nv12, {640, 480}, {}}), "NV12 640x480");
}

}  // namespace
}  // namespace matte
