// SPDX-License-Identifier: Apache-2.0
#include "tests/support/engines/live_contract.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "tests/support/pictures/same_bytes.h"

namespace matte::test {
namespace {

constexpr Size kSize{96, 54};
constexpr int kMany = 16;  // more slots than any engine has

/// Any bytes are a frame: waves, opaque where there is alpha.
std::shared_ptr<Image> picture(Size size, PixelFormat format, std::uint64_t number, const PixelMemory& memory = {}) {
    auto image = std::make_shared<Image>(size, format, memory);
    for (std::size_t i = 0; i < image->bytes(); ++i) {
        const bool alpha = format == PixelFormat::rgba8 && i % 4 == 3;
        image->row(0)[i] = alpha ? 255 : std::uint8_t(128 + 100 * std::sin(0.01 * double(i) + double(number)));
    }
    return image;
}

Frame frameOf(std::shared_ptr<const Image> image, std::uint64_t number = 0) {
    return {std::move(image), number, std::chrono::steady_clock::time_point(std::chrono::milliseconds(1000 + number))};
}
Frame frame(std::uint64_t number, Size size = kSize, PixelFormat format = PixelFormat::rgba8) {
    return frameOf(picture(size, format, number), number);
}

std::vector<std::uint8_t> bytesOf(const Image& image) {
    return {image.row(0), image.row(0) + image.bytes()};
}

}  // namespace

LiveContract::~LiveContract() = default;

CompositeParams LiveContract::plain() {
    CompositeParams params;
    params.background = parseBackground("color:#2080c0");
    params.temporalSmoothing = 0;
    params.removeSmallRegions = false;
    return params;
}

Output LiveContract::show(const Frame& frame) {
    EXPECT_TRUE(engine_->submit(frame, params_));
    return engine_->take();
}

int LiveContract::fill(std::uint64_t first) {
    int taken = 0;
    while (taken < kMany && engine_->submit(frame(first + std::uint64_t(taken)), params_)) ++taken;
    return taken;
}

TEST_P(LiveContract, SaysWhatItIs) {
    EXPECT_FALSE(engine_->info().name.empty());
}

TEST_P(LiveContract, TakesAsManyFramesAsThereAreSlotsAndGivesThemInOrder) {
    for (const std::uint64_t first : {std::uint64_t(7), std::uint64_t(100)}) {
        const int slots = engine_->slots();
        ASSERT_GE(slots, 1);
        ASSERT_EQ(fill(first), slots) << "and nothing of the next one, which was refused";
        for (std::uint64_t number = first; number < first + std::uint64_t(slots); ++number) {
            const Output output = engine_->take();
            EXPECT_EQ(output.frame, number);
            EXPECT_EQ(output.captured, frame(number).captured);
            EXPECT_TRUE(output.matteUsable());
            for (const StageTime& stage : output.times) EXPECT_GE(stage.ms, 0);
        }
        EXPECT_THROW((void)engine_->take(), Error);
    }
}

TEST_P(LiveContract, ASlotIsFreeAgainOnceItsFrameWasTaken) {
    const int slots = fill(0);
    for (std::uint64_t number = 0; number < 6; ++number) {
        EXPECT_EQ(engine_->take().frame, number);
        EXPECT_EQ(fill(number + std::uint64_t(slots)), 1);
    }
}

TEST_P(LiveContract, TakingWithNothingUnderWaySaysSo) {
    try {
        (void)engine_->take();
        ADD_FAILURE() << "took what nobody submitted";
    } catch (const DeviceFailure&) {
        ADD_FAILURE() << "the device has not failed";
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::engine);
    }
    EXPECT_EQ(show(frame(3)).frame, 3U) << "and goes on";
}

TEST_P(LiveContract, WhatIsDroppedNeverComes) {
    fill(0);
    engine_->drop();
    EXPECT_THROW((void)engine_->take(), Error);
    EXPECT_EQ(fill(20), engine_->slots());
    engine_->reset();
    EXPECT_THROW((void)engine_->take(), Error);
    EXPECT_EQ(fill(40), engine_->slots());
    EXPECT_EQ(engine_->take().frame, 40U);
}

TEST_P(LiveContract, AFrameIsHeldUntilItWasTakenOrDropped) {
    for (const int end : {0, 1, 2}) {
        std::weak_ptr<const Image> watched;
        {
            const Frame only = frame(5);
            watched = only.image;
            ASSERT_TRUE(engine_->submit(only, params_));
        }
        EXPECT_FALSE(watched.expired());
        if (end == 0) (void)engine_->take();
        if (end == 1) engine_->drop();
        if (end == 2) engine_->reset();
        EXPECT_TRUE(watched.expired()) << "ended by " << (end == 0 ? "take" : end == 1 ? "drop" : "reset");
    }
}

TEST_P(LiveContract, SizesAndFormatsMayChangeFromFrameToFrame) {
    std::uint64_t number = 0;
    for (const Size size : {Size{64, 48}, Size{96, 54}, Size{33, 91}, Size{2, 2}, Size{64, 48}}) {
        for (const PixelFormat format : GetParam().formats) {
            const bool halvesColours = format == PixelFormat::nv12 || format == PixelFormat::yuyv;
            if (halvesColours && size.width % 2 != 0) continue;
            const Output output = show(frame(number, size, format));
            EXPECT_EQ(output.frame, number++);
            EXPECT_EQ(output.picture->size(), size);
            EXPECT_EQ(output.picture->image()->size(), size);
            EXPECT_EQ(output.picture->image()->format(), PixelFormat::rgba8);
        }
    }
}

TEST_P(LiveContract, FramesMayBeInItsMemoryWhichLastsLonger) {
    const PixelMemory memory = engine_->frameMemory();
    auto there = picture(kSize, PixelFormat::rgba8, 1, memory);
    const auto here = show(frame(1)).picture;
    engine_->reset();
    EXPECT_TRUE(sameBytes(*here->image(), *show(frameOf(there, 1)).picture->image()));
    engine_.reset();
    there->row(0)[0] = 1;
    there.reset();
}

TEST_P(LiveContract, APicturesMemoryIsUsedAgainOnceNobodyHoldsIt) {
    std::vector<std::shared_ptr<const Picture>> held;
    std::vector<std::shared_ptr<const Image>> pixels;
    std::vector<std::vector<std::uint8_t>> expected;
    expected.reserve(12);
    pixels.reserve(12);
    for (std::uint64_t number = 0; number < 12; ++number) {
        auto shown = show(frame(number)).picture;
        expected.push_back(bytesOf(*shown->image()));
        pixels.push_back(shown->image());
        if (number % 2 == 0) held.push_back(std::move(shown));  // or the pixels alone
    }
    for (std::size_t i = 0; i < pixels.size(); ++i) EXPECT_EQ(bytesOf(*pixels[i]), expected[i]) << "picture " << i;
    if (!GetParam().keepsPictures) return;
    held.clear();
    pixels.clear();
    std::set<const std::uint8_t*> used;
    for (std::uint64_t number = 0; number < 12; ++number) used.insert(show(frame(number)).picture->image()->row(0));
    EXPECT_LE(used.size(), 2U);
}

TEST_P(LiveContract, APictureMayOutliveTheEngine) {
    const auto shown = show(frame(1)).picture;
    engine_->reset();
    const auto expected = bytesOf(*show(frame(1)).picture->image());
    engine_.reset();
    EXPECT_EQ(bytesOf(*shown->image()), expected);
}

TEST_P(LiveContract, AFramesPictureDependsOnThoseBeforeOnlyIfTheNetworkIsRecurrent) {
    const auto first = show(frame(1)).picture->image(), other = show(frame(2)).picture->image();
    EXPECT_EQ(!GetParam().draws, bool(sameBytes(*first, *other)));
    EXPECT_EQ(!GetParam().recurrent, bool(sameBytes(*first, *show(frame(1)).picture->image())));
}

TEST_P(LiveContract, TheLayersAreDescribedFromTheFirstFrameOn) {
    EXPECT_TRUE(engine_->layers().empty());
    (void)show(frame(0));
    const auto layers = engine_->layers();
    ASSERT_EQ(layers.empty(), !GetParam().hasNetwork);
    for (const LayerInfo& layer : layers) {
        EXPECT_FALSE(layer.name.empty());
        EXPECT_FALSE(layer.shape.empty()) << layer.name;
        EXPECT_FALSE(layer.kernel.empty()) << layer.name;
        EXPECT_GT(layer.flops, 0) << layer.name;
        EXPECT_GT(layer.bytes, 0) << layer.name;
    }
}

/// The pictures of `count` frames from `first` on.
std::vector<std::vector<std::uint8_t>> showing(LiveEngine& engine,
                                               const CompositeParams& params,
                                               std::uint64_t first,
                                               std::uint64_t count = 3) {
    std::vector<std::vector<std::uint8_t>> pictures;
    pictures.reserve(count);
    for (std::uint64_t number = first; number < first + count; ++number) {
        EXPECT_TRUE(engine.submit(frame(number), params));
        pictures.push_back(bytesOf(*engine.take().picture->image()));
    }
    return pictures;
}

TEST_P(LiveContract, NothingOfASourceIsInThePicturesOfTheNext) {
    const CompositeParams remembering;
    const auto fresh = GetParam().make();
    const auto expected = showing(*fresh, remembering, 50);
    showing(*engine_, remembering, 0);
    engine_->reset();
    EXPECT_EQ(showing(*engine_, remembering, 50), expected);
    fill(70);
    engine_->reset();
    EXPECT_EQ(showing(*engine_, remembering, 50), expected) << "nor of frames that were under way";
}

TEST_P(LiveContract, NothingFromBeforeADropIsInThePicturesAfterIt) {
    const CompositeParams remembering;
    const auto fresh = GetParam().make();
    const auto expected = showing(*fresh, remembering, 50);
    showing(*engine_, remembering, 0);
    engine_->drop();
    EXPECT_EQ(showing(*engine_, remembering, 50), expected);
}

TEST_P(LiveContract, AFrameThatIsRefusedLeavesNoTrace) {
    const auto fresh = GetParam().make();
    const CompositeParams remembering;
    const int slots = engine_->slots();
    const auto expected = showing(*fresh, remembering, 0, std::uint64_t(slots) + 2);
    for (int i = 0; i < slots; ++i) ASSERT_TRUE(engine_->submit(frame(std::uint64_t(i)), remembering));
    EXPECT_FALSE(engine_->submit(frame(90), remembering));
    std::vector<std::vector<std::uint8_t>> pictures;
    pictures.reserve(std::size_t(slots) + 2);
    for (int i = 0; i < slots; ++i) pictures.push_back(bytesOf(*engine_->take().picture->image()));
    std::ranges::move(showing(*engine_, remembering, std::uint64_t(slots), 2), std::back_inserter(pictures));
    EXPECT_EQ(pictures, expected);
}

TEST_P(LiveContract, LayersAreTimedWhileThatIsOnTheNextFramesFirst) {
    EXPECT_TRUE(show(frame(0)).layerMs.empty());
    for (int i = 0; i < 2; ++i) {
        engine_->timeLayers(true);
        const Output timed = show(frame(1));
        ASSERT_EQ(timed.layerMs.size(), engine_->layers().size());
        for (const float ms : timed.layerMs) EXPECT_GE(ms, 0);
        if (GetParam().hasNetwork) {
            EXPECT_GT(*std::ranges::max_element(timed.layerMs), 0);
        }
        engine_->timeLayers(false);
        EXPECT_TRUE(show(frame(2)).layerMs.empty());
    }
}

}  // namespace matte::test
