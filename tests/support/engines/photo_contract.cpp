// SPDX-License-Identifier: Apache-2.0
#include "tests/support/engines/photo_contract.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "inference/core/synthetic_person.h"
#include "tests/support/pictures/same_bytes.h"

namespace matte::test {
namespace {

constexpr Size kSize{96, 64};

/// Opaque, of soft waves of colour.
std::shared_ptr<const Image> photo(Size size, PixelFormat format = PixelFormat::rgba8, int seed = 1) {
    auto image = std::make_shared<Image>(size, format);
    const int channels = format == PixelFormat::rgba8 ? 4 : 3;
    for (int y = 0; y < size.height; ++y) {
        for (int x = 0; x < size.width; ++x) {
            std::uint8_t* pixel = image->row(y) + std::ptrdiff_t(channels) * x;
            for (int c = 0; c < 3; ++c)
                pixel[c] = std::uint8_t(128 + 100 * std::sin(0.05 * (x + 2 * y) * (c + 1) + seed));
            if (channels == 4) pixel[3] = 255;
        }
    }
    return image;
}

CompositeParams over(const char* background) {
    CompositeParams params;
    params.background = parseBackground(background);
    if (params.background.kind == Background::Kind::image) params.background.image = photo({70, 41});
    return params;
}

/// No engine's.
class ForeignCutout final : public Cutout {
public:
    [[nodiscard]] std::shared_ptr<const Image> source() const override { return source_; }
    [[nodiscard]] const StageTimes& times() const override { return times_; }

private:
    std::shared_ptr<const Image> source_ = photo(kSize);
    StageTimes times_;
};

}  // namespace

PhotoContract::~PhotoContract() = default;

std::shared_ptr<const Image> PhotoContract::composite(Cutout& cutout, const CompositeParams& params, Size size) {
    return engine_->composite(cutout, params, size).picture->image();
}

TEST_P(PhotoContract, SaysWhatItIs) {
    EXPECT_FALSE(engine_->info().name.empty());
}

TEST_P(PhotoContract, ACutoutHasItsSourceAndTheTimesOfItsStages) {
    const auto source = photo(kSize);
    const auto cutout = engine_->cutOut(source);
    EXPECT_EQ(cutout->source(), source);
    EXPECT_FALSE(cutout->times().empty());
    for (const StageTime& stage : cutout->times()) EXPECT_GE(stage.ms, 0);
    for (const StageTime& stage : engine_->composite(*cutout, {}, kSize).times) EXPECT_GE(stage.ms, 0);
}

TEST_P(PhotoContract, PicturesOfAnyShapeAndFormatComeOutInRgbaAndMattesInGray) {
    for (const Size size : {Size{1, 1}, Size{1, 300}, Size{301, 3}, Size{97, 61}}) {
        for (const PixelFormat format : {PixelFormat::rgba8, PixelFormat::bgr8}) {
            const auto cutout = engine_->cutOut(photo(size, format));
            for (const char* background : {"blur:3", "color:#00ff00", "image:plate", "transparent"}) {
                const auto picture = engine_->composite(*cutout, over(background), size).picture;
                EXPECT_EQ(picture->size(), size) << background;
                EXPECT_EQ(picture->image()->size(), size) << background;
                EXPECT_EQ(picture->image()->format(), PixelFormat::rgba8) << background;
            }
            const Image matte = engine_->matte(*cutout, {}, size);
            EXPECT_EQ(matte.size(), size);
            EXPECT_EQ(matte.format(), PixelFormat::gray8);
        }
    }
}

TEST_P(PhotoContract, APreviewLooksLikeTheWholePicture) {
    constexpr Size kWhole{320, 240}, kPreview{80, 60};
    const SyntheticPerson person(kWhole, 32);
    auto source = std::make_shared<Image>(kWhole, PixelFormat::bgr8);
    person.drawFrame(3, *source);
    const auto cutout = engine_->cutOut(source);
    EXPECT_EQ(engine_->matte(*cutout, {}, kPreview).size(), kPreview);
    const auto whole = composite(*cutout, over("color:#808080"), kWhole),
               preview = composite(*cutout, over("color:#808080"), kPreview);
    ASSERT_EQ(preview->size(), kPreview);
    if (!GetParam().draws) return;
    double difference = 0;
    for (int y = 0; y < kPreview.height; ++y) {
        for (int x = 0; x < kPreview.width; ++x) {
            for (int c = 0; c < 3; ++c) {
                double mean = 0;
                for (int i = 0; i < 16; ++i) mean += whole->row(4 * y + i / 4)[4 * (4 * x + i % 4) + c] / 16.0;
                difference += std::abs(mean - preview->row(y)[4 * x + c]) / double(kPreview.pixels() * 3);
            }
        }
    }
    EXPECT_LT(difference, 3);
}

TEST_P(PhotoContract, APictureIsOpaqueUnlessItsBackgroundIsTransparent) {
    const auto cutout = engine_->cutOut(photo(kSize));
    for (const char* background : {"blur:50", "color:#2080c0", "image:plate"}) {
        const auto picture = composite(*cutout, over(background), kSize);
        for (std::size_t i = 3; i < picture->bytes(); i += 4) ASSERT_EQ(picture->row(0)[i], 255) << background;
    }
}

TEST_P(PhotoContract, TheSameParamsGiveTheSamePictureAfterOthers) {
    const auto cutout = engine_->cutOut(photo(kSize));
    const auto first = composite(*cutout, over("blur:20"), kSize);
    const auto other = composite(*cutout, over("blur:90"), kSize);
    EXPECT_EQ(!GetParam().draws, bool(sameBytes(*first, *other)));
    EXPECT_TRUE(sameBytes(*first, *composite(*cutout, over("blur:20"), kSize)));
}

TEST_P(PhotoContract, APictureOfOneColourBehindIsAsThatColour) {
    auto red = std::make_shared<Image>(Size{2, 2}, PixelFormat::rgba8);
    for (int i = 0; i < 4; ++i) {
        const std::uint8_t pixel[4] = {255, 0, 0, 255};
        std::copy_n(pixel, 4, red->row(0) + std::ptrdiff_t(4) * i);
    }
    CompositeParams params;
    params.background.kind = Background::Kind::image;
    params.background.image = red;
    const auto cutout = engine_->cutOut(photo(kSize));
    EXPECT_TRUE(sameBytes(*composite(*cutout, over("color:#ff0000"), kSize), *composite(*cutout, params, kSize)));
}

TEST_P(PhotoContract, ACutoutIsNotChangedByLaterOnesOfOtherSizes) {
    const auto kept = engine_->cutOut(photo({97, 61}));
    const auto before = composite(*kept, over("blur:50"), {97, 61});
    for (const Size size : {Size{1, 1}, Size{320, 180}, Size{301, 3}}) {
        const auto other = engine_->cutOut(photo(size, PixelFormat::rgba8, 2));
        (void)composite(*other, over("blur:50"), size);
    }
    EXPECT_TRUE(sameBytes(*before, *composite(*kept, over("blur:50"), {97, 61})));
}

TEST_P(PhotoContract, APhotoLooksTheSameWhateverCameBefore) {
    if (!GetParam().draws) return;
    const auto matteOf = [&](PhotoEngine& engine, int seed) {
        const auto cutout = engine.cutOut(photo(kSize, PixelFormat::rgba8, seed));
        const Image matte = engine.matte(*cutout, {}, kSize);
        return std::vector<std::uint8_t>(matte.row(0), matte.row(0) + matte.bytes());
    };
    const auto fresh = GetParam().make();
    const auto expected = matteOf(*fresh, 1);
    matteOf(*engine_, 2);
    EXPECT_EQ(matteOf(*engine_, 1), expected);
    EXPECT_EQ(matteOf(*engine_, 1), expected);
}

TEST_P(PhotoContract, APictureThatIsHeldIsNotWrittenOver) {
    std::vector<std::shared_ptr<const Picture>> held;
    std::vector<std::vector<std::uint8_t>> expected;
    held.reserve(8);
    expected.reserve(8);
    for (int seed = 0; seed < 8; ++seed) {
        const auto cutout = engine_->cutOut(photo(kSize, PixelFormat::rgba8, seed));
        held.push_back(engine_->composite(*cutout, over("blur:50"), kSize).picture);
        const auto image = composite(*cutout, over("blur:50"), kSize);
        expected.emplace_back(image->row(0), image->row(0) + image->bytes());
    }
    for (std::size_t i = 0; i < held.size(); ++i) {
        const auto image = held[i]->image();
        EXPECT_TRUE(std::equal(expected[i].begin(), expected[i].end(), image->row(0))) << "picture " << i;
    }
}

TEST_P(PhotoContract, StopsWhenAskedAndGoesOn) {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(engine_->cutOut(photo(kSize), stop.get_token()), Cancelled);
    const auto cutout = engine_->cutOut(photo(kSize));
    EXPECT_THROW(engine_->composite(*cutout, {}, kSize, stop.get_token()), Cancelled);
    EXPECT_THROW(engine_->matte(*cutout, {}, kSize, stop.get_token()), Cancelled);
    EXPECT_EQ(engine_->composite(*cutout, {}, kSize).picture->size(), kSize);
    EXPECT_EQ(engine_->matte(*cutout, {}, kSize).size(), kSize);
}

TEST_P(PhotoContract, ACutoutAndAPictureMayOutliveTheEngine) {
    const auto source = photo(kSize);
    auto cutout = engine_->cutOut(source);
    const auto picture = engine_->composite(*cutout, over("blur:50"), kSize).picture;
    const auto expected = composite(*cutout, over("blur:50"), kSize);
    engine_.reset();
    EXPECT_EQ(cutout->source(), source);
    EXPECT_TRUE(sameBytes(*expected, *picture->image()));
    cutout.reset();
    EXPECT_EQ(picture->size(), kSize);
}

TEST_P(PhotoContract, RefusesAnotherEnginesCutout) {
    ForeignCutout foreign;
    EXPECT_THROW(engine_->composite(foreign, {}, kSize), Error);
    EXPECT_THROW(engine_->matte(foreign, {}, kSize), Error);
    EXPECT_EQ(engine_->cutOut(photo(kSize))->source()->size(), kSize) << "and goes on";
}

}  // namespace matte::test
