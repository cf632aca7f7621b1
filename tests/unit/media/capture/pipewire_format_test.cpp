// SPDX-License-Identifier: Apache-2.0
// PipeWire's descriptions of pictures: what a camera may say, what we say to it, and what makes no sense.
#ifdef MATTE_HAVE_PIPEWIRE
#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <spa/param/format.h>
#include <spa/param/param.h>
#include <spa/param/video/format-utils.h>

#include "inference/media/capture/pipewire/pipewire_connection.h"
#include "inference/media/capture/pipewire/pipewire_format.h"

namespace matte {
namespace {

using E = Encoding;

/// Memory for what is built in one test.
struct Builder {
    alignas(8) std::array<std::uint8_t, 4096> room{};
    spa_pod_builder builder{};
    Builder() { spa_pod_builder_init(&builder, room.data(), std::uint32_t(room.size())); }
};

TEST(PipeWireFormat, OurOffersAreReadBackAsTheyWere) {
    for (const CaptureChoice& choice :
         {CaptureChoice{E::mjpg, {1920, 1080}, 30}, CaptureChoice{E::yuyv, {640, 480}, 7.5},
          CaptureChoice{E::nv12, {1280, 720}, 60}, CaptureChoice{E::bgra, {32, 16}, 1},
          CaptureChoice{E::h264, {1280, 720}, 30}, CaptureChoice{E::uyvy, {641, 479}, 30000.0 / 1001}}) {
        Builder b;
        const auto again = readChoice(offerMode(b.builder, choice));
        ASSERT_TRUE(again) << nameOf(choice.encoding);
        EXPECT_EQ(again->encoding, choice.encoding);
        EXPECT_EQ(again->size, choice.size);
        EXPECT_NEAR(again->rate, choice.rate, 1e-6);
    }
}

/// As the kernel's cameras are listed: one entry for a size, its rates as a choice.
TEST(PipeWireFormat, ReadsAListOfRates) {
    Builder b;
    const spa_rectangle size{1280, 720};
    const spa_fraction f30{30, 1}, f15{15, 1}, ntsc{24000, 1001}, broken{7, 0};
    const auto* pod = static_cast<const spa_pod*>(spa_pod_builder_add_object(
        &b.builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType,
        SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_mjpg),
        SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&size), SPA_FORMAT_VIDEO_framerate,
        SPA_POD_CHOICE_ENUM_Fraction(5, &f30, &ntsc, &f30, &f15, &broken)));
    const auto modes = readModes(pod);
    ASSERT_EQ(modes.size(), 1U);
    EXPECT_EQ(modes[0].size, (Size{1280, 720}));
    ASSERT_EQ(modes[0].rates.size(), 3U);
    EXPECT_EQ(modes[0].rates[0], 30);
    EXPECT_NEAR(modes[0].rates[1], 23.976, 0.001);
    EXPECT_EQ(modes[0].rates[2], 15);
    EXPECT_FALSE(readChoice(nullptr));
}

TEST(PipeWireFormat, ReadsRangesAsTheUsual) {
    Builder b;
    // What a program offers that takes anything.
    const auto modes = readModes(offerAnyRaw(b.builder));
    const auto has = [&](E encoding, Size size) {
        return std::any_of(modes.begin(), modes.end(), [&](const auto& m) {
            return m.encoding == encoding && m.size == size && m.rates.size() > 3;
        });
    };
    EXPECT_TRUE(has(E::nv12, {1920, 1080}));
    EXPECT_TRUE(has(E::rgba, {640, 480}));
    EXPECT_FALSE(readChoice(offerAnyRaw(b.builder))) << "that is no choice";
    EXPECT_FALSE(readModes(offerAnyJpeg(b.builder)).empty());
}

TEST(PipeWireFormat, KnowsWhatItCantReadAndLeavesOutWhatIsNoPicture) {
    Builder b;
    const spa_rectangle size{640, 480}, huge{0xffffffff, 0xffffffff}, none{0, 0};
    const auto format = [&](std::uint32_t type, std::uint32_t subtype, std::uint32_t video, const spa_rectangle& r) {
        return static_cast<const spa_pod*>(spa_pod_builder_add_object(
            &b.builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType, SPA_POD_Id(type),
            SPA_FORMAT_mediaSubtype, SPA_POD_Id(subtype), SPA_FORMAT_VIDEO_format, SPA_POD_Id(video),
            SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&r)));
    };
    const std::uint32_t raw = SPA_MEDIA_SUBTYPE_raw, video = SPA_MEDIA_TYPE_video;
    const auto* grey = format(video, raw, SPA_VIDEO_FORMAT_GRAY8, size);
    EXPECT_EQ(readModes(grey), (std::vector<CameraMode>{{E::other, {640, 480}, {}}}));
    EXPECT_FALSE(readChoice(grey));
    EXPECT_TRUE(readModes(format(SPA_MEDIA_TYPE_audio, raw, SPA_VIDEO_FORMAT_RGB, size)).empty());
    EXPECT_TRUE(readModes(format(video, raw, SPA_VIDEO_FORMAT_RGB, huge)).empty());
    EXPECT_TRUE(readModes(format(video, raw, SPA_VIDEO_FORMAT_RGB, none)).empty());
    EXPECT_EQ(readModes(format(video, SPA_MEDIA_SUBTYPE_h264, 0, size))[0].encoding, E::h264);
    EXPECT_TRUE(readModes(askForBuffers(b.builder)).empty());
}

/// Bytes that another program might send: nothing is read behind them (ASan watches).
TEST(PipeWireFormat, SurvivesDamagedDescriptions) {
    Builder b;
    const spa_pod* whole = offerAnyRaw(b.builder);
    const std::size_t size = SPA_POD_SIZE(whole);
    std::mt19937 random(7);
    for (int i = 0; i < 20000; ++i) {
        // The size of the whole is PipeWire's to check, and stays.
        std::vector<std::uint64_t> copy((size + 7) / 8);
        std::memcpy(copy.data(), whole, size);
        auto* bytes = reinterpret_cast<std::uint8_t*>(copy.data());
        for (int k = 0; k < 3; ++k)
            bytes[sizeof(spa_pod) + random() % (size - sizeof(spa_pod))] = std::uint8_t(random());
        const auto modes = readModes(reinterpret_cast<const spa_pod*>(copy.data()));
        EXPECT_LE(modes.size(), 512U);
    }
}

TEST(PipeWireFormat, ReasonsBecomeSentences) {
    EXPECT_NE(sentenceFor("Cam", "error alloc buffers: Device or resource busy").find("another program"),
              std::string::npos);
    EXPECT_NE(sentenceFor("Cam", "Permission denied").find("privacy settings"), std::string::npos);
    EXPECT_NE(sentenceFor("Cam", "no more input formats").find("size and format"), std::string::npos);
    EXPECT_NE(sentenceFor("Cam", "strange").find("(strange)"), std::string::npos);
    for (const char* reason : {"", "busy", "x"}) EXPECT_TRUE(sentenceFor("Cam", reason).ends_with('.'));
}

}  // namespace
}  // namespace matte
#endif
