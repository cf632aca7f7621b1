// SPDX-License-Identifier: Apache-2.0
// What Windows' cameras say, read on any system: subtypes, packed sizes and rates, strides, and faults.
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "inference/media/capture/media_foundation/media_foundation_format.h"

namespace matte {
namespace {

constexpr std::uint64_t pair(std::uint64_t high, std::uint64_t low) {
    return high << 32 | low;
}
constexpr std::uint64_t kHd = pair(1280, 720), kVga = pair(640, 480);

std::uint32_t code(const char* fourcc) {
    std::uint32_t number = 0;
    for (int i = 3; i >= 0; --i) number = number << 8 | std::uint8_t(fourcc[i]);
    return number;
}

/// A webcam as Windows lists it: a line for each rate.
std::vector<AnnouncedFormat> webcam() {
    return {{Encoding::yuyv, kVga, pair(30, 1)}, {Encoding::yuyv, kVga, pair(10000000, 333333)},
            {Encoding::yuyv, kVga, pair(15, 1)}, {Encoding::mjpg, kHd, pair(30000, 1001)},
            {Encoding::mjpg, kHd, pair(60, 1)},  {Encoding::other, kVga, pair(30, 1)}};
}

TEST(MediaFoundationFormat, KnowsWhatCamerasSend) {
    EXPECT_EQ(encodingOfSubtype(code("MJPG")), Encoding::mjpg);
    EXPECT_EQ(encodingOfSubtype(code("YUY2")), Encoding::yuyv);
    EXPECT_EQ(encodingOfSubtype(code("UYVY")), Encoding::uyvy);
    EXPECT_EQ(encodingOfSubtype(code("NV12")), Encoding::nv12);
    EXPECT_EQ(encodingOfSubtype(code("IYUV")), Encoding::i420);
    EXPECT_EQ(encodingOfSubtype(code("H264")), Encoding::h264);
    EXPECT_EQ(encodingOfSubtype(20), Encoding::bgr) << "Direct3D's R8G8B8";
    EXPECT_EQ(encodingOfSubtype(22), Encoding::bgra) << "Direct3D's X8R8G8B8";
    EXPECT_EQ(encodingOfSubtype(code("HEVC")), Encoding::other);
    EXPECT_EQ(encodingOfSubtype(50), Encoding::other) << "L8, an infrared camera";
}

TEST(MediaFoundationFormat, GathersTheRatesOfEachMode) {
    EXPECT_EQ(modesOf(webcam()), (std::vector<CameraMode>{{Encoding::mjpg, {1280, 720}, {60, 29.97}},
                                                          {Encoding::yuyv, {640, 480}, {30, 15}},
                                                          {Encoding::other, {640, 480}, {30}}}));
}

TEST(MediaFoundationFormat, LeavesOutWhatCanBeNoPicture) {
    const std::array<AnnouncedFormat, 4> odd{{{Encoding::nv12, 0, pair(30, 1)},
                                              {Encoding::nv12, pair(640, 0), pair(30, 1)},
                                              {Encoding::nv12, pair(4'000'000'000U, 480), pair(30, 1)},
                                              {Encoding::nv12, pair(16384, 16384), pair(30, 1)}}};
    EXPECT_TRUE(modesOf(odd).empty());
    EXPECT_FALSE(formatFor(odd, {Encoding::nv12, {640, 480}, 30}));
}

TEST(MediaFoundationFormat, ARateThatIsNoneIsNotSaid) {
    const std::array<AnnouncedFormat, 3> odd{{{Encoding::nv12, kVga, 0},
                                              {Encoding::nv12, kVga, pair(30, 0)},
                                              {Encoding::nv12, kVga, pair(4'000'000'000U, 1)}}};
    EXPECT_EQ(modesOf(odd), (std::vector<CameraMode>{{Encoding::nv12, {640, 480}, {}}}));
    EXPECT_EQ(formatFor(odd, {Encoding::nv12, {640, 480}, 30}), 0U) << "it can be opened all the same";
}

TEST(MediaFoundationFormat, FindsTheFormatOfAChoice) {
    const auto formats = webcam();
    EXPECT_EQ(formatFor(formats, {Encoding::yuyv, {640, 480}, 15}), 2U);
    EXPECT_EQ(formatFor(formats, {Encoding::mjpg, {1280, 720}, 29.97}), 3U);
    EXPECT_EQ(formatFor(formats, {Encoding::mjpg, {1280, 720}, 50}), 4U) << "the nearest rate";
    EXPECT_FALSE(formatFor(formats, {Encoding::nv12, {640, 480}, 30}));
    EXPECT_FALSE(formatFor(formats, {Encoding::yuyv, {1280, 720}, 30}));
    EXPECT_FALSE(formatFor({}, {Encoding::yuyv, {640, 480}, 30}));
}

TEST(MediaFoundationFormat, EveryModeThatIsListedCanBeAskedFor) {
    const auto formats = webcam();
    for (const auto& mode : modesOf(formats)) {
        for (const double rate : mode.rates) {
            const auto found = formatFor(formats, {mode.encoding, mode.size, rate});
            ASSERT_TRUE(found) << toString(mode);
            EXPECT_EQ(rateOfPair(formats[*found].frameRate), rate) << toString(mode);
        }
    }
}

TEST(MediaFoundationFormat, RgbIsUpsideDownUnlessItSaysOtherwise) {
    EXPECT_EQ(strideOf(Encoding::bgr, 638, std::nullopt), -1916) << "rows of bitmaps are multiples of four bytes";
    EXPECT_EQ(strideOf(Encoding::bgra, 640, std::nullopt), -2560);
    EXPECT_EQ(strideOf(Encoding::bgra, 640, 2560), 2560);
    EXPECT_EQ(strideOf(Encoding::nv12, 640, std::nullopt), 640);
    EXPECT_EQ(strideOf(Encoding::nv12, 640, 704), 704);
    EXPECT_EQ(strideOf(Encoding::yuyv, 640, 0), 1280) << "0 says nothing";
    EXPECT_EQ(strideOf(Encoding::mjpg, 640, 640), 0) << "it has no rows";
}

TEST(MediaFoundationFormat, TurnsRowsUpright) {
    const std::array<std::uint8_t, 8> bottomFirst{5, 6, 0, 3, 4, 0, 1, 2};  // the last row without its padding
    std::vector<std::uint8_t> upright;
    ASSERT_TRUE(turnUpright(bottomFirst, 3, 2, 3, upright));
    EXPECT_EQ(upright, (std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6}));
    EXPECT_FALSE(turnUpright(std::span(bottomFirst).first(7), 3, 2, 3, upright)) << "cut off";
    EXPECT_FALSE(turnUpright(bottomFirst, 1, 2, 3, upright)) << "rows longer than the stride";
    EXPECT_FALSE(turnUpright(bottomFirst, 3, 2, 0, upright));
}

TEST(MediaFoundationFormat, EveryFaultSaysWhatToDo) {
    const auto sentence = [](WindowsFault fault) { return mediaFoundationSentence("Brio", std::uint32_t(fault)); };
    const std::string busy = "The camera Brio is used by another program: close it there and try again.";
    EXPECT_EQ(sentence(WindowsFault::startStreaming), busy);
    EXPECT_EQ(sentence(WindowsFault::preempted), busy);
    EXPECT_EQ(sentence(WindowsFault::accessDenied),
              "The camera Brio may not be used: allow desktop apps to use the camera in Windows' settings, under "
              "Privacy, Camera.");
    const std::string unplugged = "The camera Brio was unplugged: plug it in again.";
    EXPECT_EQ(sentence(WindowsFault::invalidated), unplugged);
    EXPECT_EQ(sentence(WindowsFault::deviceNotConnected), unplugged);
    EXPECT_EQ(sentence(WindowsFault::noSystemResources),
              "The camera Brio finds no room on its bus: close other programs that use a camera, or choose a smaller "
              "size.");
    EXPECT_EQ(sentence(WindowsFault::invalidMediaType),
              "The camera Brio can't send the size and format asked for: choose others.");
    EXPECT_EQ(mediaFoundationSentence("Brio", 0x8007001F),
              "The camera Brio can't be used (0x8007001F): unplug it and plug it in again.");
}

}  // namespace
}  // namespace matte
