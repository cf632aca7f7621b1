// SPDX-License-Identifier: Apache-2.0
// A source's pictures are used again, wherever they are let go, and nothing is allocated for them.
#include <atomic>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>

#include "inference/core/frame_pool.h"

namespace matte {
namespace {

std::atomic<int> taken{0}, givenBack{0};

/// Memory that counts, as page-locked memory would be supplied.
PixelMemory counted() {
    taken = givenBack = 0;
    return {[](std::size_t bytes) {
                ++taken;
                return static_cast<std::uint8_t*>(std::malloc(bytes));
            },
            [](std::uint8_t* pixels) {
                ++givenBack;
                std::free(pixels);
            }};
}

TEST(FramePool, UsesAPictureAgainOnceNobodyHoldsIt) {
    FramePool pool(2, counted());
    auto first = pool.take({64, 48}, PixelFormat::nv12);
    const Image* where = first.get();
    EXPECT_EQ(first->size(), (Size{64, 48}));
    EXPECT_EQ(first->format(), PixelFormat::nv12);
    auto copy = first;
    first.reset();
    EXPECT_NE(pool.take({64, 48}, PixelFormat::nv12).get(), where) << "it is still held by the copy";
    copy.reset();
    EXPECT_EQ(pool.take({64, 48}, PixelFormat::nv12).get(), where);
}

TEST(FramePool, GivesNothingWhileAllAreHeld) {
    FramePool pool(2);
    auto a = pool.take({4, 4}, PixelFormat::bgr8), b = pool.take({4, 4}, PixelFormat::bgr8);
    EXPECT_FALSE(pool.take({4, 4}, PixelFormat::bgr8));
    // A weak holder keeps the counter alive and with it the picture.
    const std::weak_ptr<Image> weak = b;
    b.reset();
    EXPECT_FALSE(pool.take({4, 4}, PixelFormat::bgr8));
}

TEST(FramePool, AllocatesForNewSizesAlone) {
    FramePool pool(3, counted());
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(pool.take({32, 32}, PixelFormat::yuyv));
    EXPECT_EQ(taken, 1);
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(pool.take({64, 32}, PixelFormat::yuyv));
    EXPECT_EQ(taken, 2);
    EXPECT_EQ(givenBack, 1);
}

TEST(FramePool, PicturesMayOutliveThePool) {
    auto pool = std::make_unique<FramePool>(1, counted());
    auto image = pool->take({8, 8}, PixelFormat::rgba8);
    pool.reset();
    image->row(7)[31] = 1;
    EXPECT_EQ(givenBack, 0);
    image.reset();
    EXPECT_EQ(givenBack, 1);
}

TEST(FramePool, TakesBackFromOtherThreads) {
    FramePool pool(4, counted());
    for (int i = 0; i < 200; ++i) {
        auto image = pool.take({16, 16}, PixelFormat::bgr8);
        if (!image) {
            std::this_thread::yield();
            continue;
        }
        image->row(0)[0] = std::uint8_t(i);
        std::thread([held = std::move(image)] { EXPECT_EQ(held->size().width, 16); }).detach();
    }
    // Every thread is done once all four can be had at once.
    for (int out = 0; out < 4;) {
        std::vector<std::shared_ptr<Image>> all;
        while (auto image = pool.take({16, 16}, PixelFormat::bgr8)) all.push_back(image);
        out = int(all.size());
    }
    EXPECT_LE(taken, 4);
}

}  // namespace
}  // namespace matte
