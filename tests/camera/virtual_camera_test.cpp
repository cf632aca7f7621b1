// SPDX-License-Identifier: Apache-2.0
// Matte's own camera, beside a real PipeWire: other programs choose it and see what is shown, and nothing of the room.
// Run by with_pipewire.sh.
#include <array>
#include <chrono>

#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/media/capture/pipewire/pipewire_connection.h"
#include "inference/media/virtual_camera/camera_picture.h"
#include "inference/media/virtual_camera/virtual_camera.h"
#include "tests/support/running/eventually.h"

namespace matte {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using Pixel = std::array<int, 3>;

constexpr char kId[] = "virtual-camera-of-a-test";  // its own name is left out of the list of cameras

Image plain(Size size, std::array<std::uint8_t, 4> rgba) {
    Image image(size, PixelFormat::rgba8);
    for (std::size_t i = 0; i < image.bytes(); ++i) image.row(0)[i] = rgba[i % 4];
    return image;
}

/// The luma of a pixel of what another program sees.
int lumaAt(const Image& seen, int x, int y) {
    return seen.format() == PixelFormat::yuyv ? seen.row(y)[x * 2] : seen.row(y)[x];
}

std::unique_ptr<FrameSource> watch(Encoding encoding, Size size) {
    CaptureSettings settings;
    settings.encoding = encoding;
    settings.size = size;
    return openPipeWireCamera(kId, settings);
}

TEST(VirtualCamera, IsSeenByWhoeverChoosesIt) {
    const auto camera = openPipeWireVirtualCamera({}, kId, "Virtual");
    EXPECT_FALSE(camera->isWatched());
    EXPECT_EQ(camera->problem(), "");
    for (const auto& [encoding, size] : {std::pair(Encoding::yuyv, Size{640, 360}), {Encoding::nv12, {1280, 720}}}) {
        const auto source = watch(encoding, size);
        ASSERT_TRUE(source);
        EXPECT_EQ(source->info().size, size);
        ASSERT_TRUE(camera->isWatched());
        EXPECT_NEAR(lumaAt(*source->read({})->image, 100, 100), 16, 1) << "black before anything is shown";
        camera->show(plain({320, 180}, {200, 200, 200, 255}).view());
        EXPECT_TRUE(eventually([&] { return std::abs(lumaAt(*source->read({})->image, 100, 100) - 188) <= 2; }));
        camera->showNothing();
        EXPECT_TRUE(eventually([&] { return lumaAt(*source->read({})->image, 100, 100) == 16; }));
    }
    EXPECT_TRUE(eventually([&] { return !camera->isWatched(); }));
}

// What was shown before may be what nobody is to see any more.
TEST(VirtualCamera, WhoeverComesLaterSeesNothingOfWhatWasShownBefore) {
    const auto camera = openPipeWireVirtualCamera({}, kId, "Virtual");
    for (int viewer = 0; viewer < 3; ++viewer) {
        const auto source = watch(Encoding::yuyv, {640, 480});
        ASSERT_TRUE(source);
        EXPECT_EQ(lumaAt(*source->read({})->image, 100, 100), 16) << "viewer " << viewer;
        camera->show(plain({320, 240}, {200, 200, 200, 255}).view());
        ASSERT_TRUE(eventually([&] { return lumaAt(*source->read({})->image, 100, 100) > 180; }));
    }
}

TEST(VirtualCamera, SendsThirtyPicturesASecondOfWhatStandsStill) {
    const auto camera = openPipeWireVirtualCamera({}, kId, "Virtual");
    const auto source = watch(Encoding::yuyv, {640, 480});
    EXPECT_EQ(source->info().rate, 30);
    const auto first = source->read({});
    ASSERT_TRUE(first);
    auto last = first;
    for (int i = 0; i < 30; ++i) ASSERT_TRUE(last = source->read({}));
    const std::chrono::duration<double> apart = last->captured - first->captured;
    EXPECT_NEAR(apart.count(), double(last->number - first->number) / 30, 0.4) << "by the times of the pictures";
}

TEST(VirtualCamera, IsNoneOfTheCamerasThatMatteListsItself) {
    PipeWireConnection connection([] {}, false);
    ASSERT_TRUE(connection.waitUntilKnown(5s));
    const auto own = openPipeWireVirtualCamera();
    const auto other = openPipeWireVirtualCamera({}, kId, "Virtual");
    EXPECT_TRUE(eventually([&] { return !connection.cameras().empty(); }));
    ASSERT_EQ(connection.cameras().size(), 1U);
    EXPECT_EQ(connection.cameras()[0].id, kId);
}

// Behind a transparent picture the colours of the room may still be there.
TEST(CameraPicture, ShowsNothingOfWhatIsTransparent) {
    for (const Encoding encoding : {Encoding::yuyv, Encoding::nv12, Encoding::bgra}) {
        CameraPicture picture(encoding, {64, 48});
        const auto black = picture.drawBlack();
        EXPECT_EQ(picture.draw(plain({64, 48}, {250, 130, 20, 0}).view()), black);
        EXPECT_NE(picture.draw(plain({64, 48}, {250, 130, 20, 255}).view()), black);
        EXPECT_EQ(picture.drawBlack(), black);
    }
}

TEST(CameraPicture, KeepsItsShapeBetweenBars) {
    struct Case {
        Size picture;
        Size inside;
    };
    for (const Case& one : {Case{{10, 10}, {48, 48}}, Case{{200, 50}, {64, 16}}, Case{{640, 480}, {64, 48}}}) {
        CameraPicture picture(Encoding::bgra, {64, 48});
        const auto bytes = picture.draw(plain(one.picture, {90, 160, 230, 255}).view());
        const int left = (64 - one.inside.width) / 2, top = (48 - one.inside.height) / 2;
        for (int y = 0; y < 48; ++y) {
            for (int x = 0; x < 64; ++x) {
                const bool inside = x >= left && x < 64 - left && y >= top && y < 48 - top;
                const std::uint8_t* pixel = bytes.data() + (y * 64 + x) * 4;
                const Pixel color{pixel[2], pixel[1], pixel[0]}, wanted = inside ? Pixel{90, 160, 230} : Pixel{};
                for (std::size_t c = 0; c < 3; ++c) ASSERT_NEAR(color[c], wanted[c], 1) << x << "," << y;
            }
        }
    }
}

TEST(CameraPicture, TakesSizesThatChangeOnTheWay) {
    CameraPicture picture(Encoding::nv12, {64, 48});
    picture.draw(plain({64, 48}, {255, 255, 255, 255}).view());
    const auto narrow = picture.draw(plain({1, 300}, {255, 255, 255, 255}).view());
    EXPECT_EQ(narrow[0], 16) << "no rest of the picture before beside it";
    EXPECT_GT(narrow[24 * 64 + 32], 200);
    const auto large = picture.draw(plain({3000, 2000}, {255, 255, 255, 255}).view());
    EXPECT_GT(large[24 * 64 + 1], 200);
}

}  // namespace
}  // namespace matte
