// SPDX-License-Identifier: Apache-2.0
// People who are far away in a photo are looked at twice: when, where, and what becomes of both mattes.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "inference/backends/create_engine.h"
#include "inference/cpu/cpu_engine.h"
#include "inference/matting/two_pass_refinement.h"
#include "tests/support/engines/painted_network.h"
#include "tests/support/pictures/far_person.h"

namespace matte {
namespace {

constexpr Size kPhoto{1600, 1200}, kSeen{256, 192};

/// A matte of kSeen pixels, 1 from `left`, `top` on.
Planes block(int left, int top, Size size) {
    Planes matte(kSeen, 1);
    for (int y = top; y < top + size.height; ++y) std::fill_n(matte.row(y) + left, size.width, 1.0F);
    return matte;
}

Planes flat(Size size, float value) {
    Planes planes(size, 1);
    std::ranges::fill(planes.values, value);
    return planes;
}

TEST(TwoPassRefinement, TakesThePartAroundThePeopleNearlySquare) {
    // 6.25 pixels of the photo for each that was seen: the person has 100x400 at 400, 250. 100 are left free around
    // them.
    const auto part = regionToRefine(block(64, 40, {16, 64}), kPhoto);
    ASSERT_TRUE(part);
    EXPECT_EQ(part->left, 450 - 300);
    EXPECT_EQ(part->top, 250 - 100);
    EXPECT_EQ(part->size, (Size{600, 600}));
}

TEST(TwoPassRefinement, StaysInsideThePhoto) {
    for (const auto& [left, top] : {std::pair{0, 0}, std::pair{252, 0}, std::pair{0, 188}, std::pair{252, 188}}) {
        const auto part = regionToRefine(block(left, top, {4, 4}), kPhoto);
        ASSERT_TRUE(part);
        EXPECT_GE(part->left, 0);
        EXPECT_GE(part->top, 0);
        EXPECT_LE(part->left + part->size.width, kPhoto.width);
        EXPECT_LE(part->top + part->size.height, kPhoto.height);
        EXPECT_EQ(part->size.width, part->size.height);
    }
}

TEST(TwoPassRefinement, IsNotWorthItForPeopleWhoFillThePhotoNorForPhotosWithoutMorePixelsNorForNobody) {
    EXPECT_TRUE(regionToRefine(block(60, 40, {16, 40}), {800, 600}));
    EXPECT_FALSE(regionToRefine(block(16, 16, {200, 160}), kPhoto));
    EXPECT_FALSE(regionToRefine(block(60, 40, {16, 40}), {320, 240}));
    EXPECT_FALSE(regionToRefine(block(0, 0, {0, 0}), kPhoto));
}

TEST(TwoPassRefinement, TakesPhotosOfAnyShape) {
    for (const Size photo : {Size{4000, 3}, Size{3, 4000}, Size{4000, 1}, Size{20000, 10000}}) {
        const bool wide = photo.width > photo.height;
        Planes matte = flat(wide ? Size{512, 16} : Size{16, 512}, 0.5F);
        matte.values[matte.values.size() / 2] = 1;
        const auto part = regionToRefine(matte, photo);
        ASSERT_TRUE(part) << photo.width;
        EXPECT_LE(part->left + part->size.width, photo.width);
        EXPECT_LE(part->top + part->size.height, photo.height);
        const Planes joined = mergePasses(matte, flat({512, 512}, 0.9F), *part, photo);
        EXPECT_LE(joined.size.longest(), 1024);
        EXPECT_TRUE(std::ranges::all_of(joined.values, [](float value) { return value >= 0 && value <= 1; }));
        EXPECT_TRUE(std::ranges::any_of(joined.values, [](float value) { return std::abs(value - 0.9F) < 1e-3F; }))
            << "the second pass, " << photo.width;
    }
}

TEST(MergedPasses, AreTheSecondInsideTheFirstOutsideAndMeltWhereTheyMeet) {
    const PhotoRegion part{400, 300, {800, 600}, 100};
    const Planes joined = mergePasses(flat({64, 48}, 0.5F), flat({64, 48}, 0.9F), part, kPhoto);
    EXPECT_EQ(joined.size, (Size{128, 96})) << "as fine as the second pass";
    EXPECT_FLOAT_EQ(joined.row(48)[64], 0.9F);
    EXPECT_FLOAT_EQ(joined.row(48)[10], 0.5F);
    EXPECT_FLOAT_EQ(joined.row(10)[64], 0.5F);
    for (int x = 1; x < joined.size.width; ++x) {
        EXPECT_LE(std::abs(joined.row(48)[x] - joined.row(48)[x - 1]), 0.4F / 8 + 1e-5F) << "no step at " << x;
    }
}

TEST(MergedPasses, AreTheFirstAloneWhereTheTwoDisagreeAboutWhoIsThere) {
    // Somebody of 16x64 in the middle of what is looked at again.
    const Planes whole = block(64, 40, {16, 64});
    const auto part = regionToRefine(whole, kPhoto);
    ASSERT_TRUE(part);
    const Planes everything = mergePasses(whole, flat({64, 64}, 1), *part, kPhoto);
    EXPECT_EQ(everything.size, whole.size);
    EXPECT_EQ(everything.values, whole.values) << "the bed behind somebody is no person either";
    EXPECT_EQ(mergePasses(whole, flat({64, 64}, 0), *part, kPhoto).values, whole.values) << "who was there is not gone";

    Planes fuller(Size{256, 256}, 1);  // with arms that the first pass missed
    for (int y = 40; y < 216; ++y) std::fill_n(fuller.row(y) + 96, 64, 1.0F);
    const Planes joined = mergePasses(whole, fuller, *part, kPhoto);
    EXPECT_GT(joined.size.longest(), whole.size.longest());
    const int row = joined.size.height / 2;
    EXPECT_GT(std::count(joined.row(row), joined.row(row) + joined.size.width, 1.0F),
              16 * joined.size.width / kSeen.width);
}

TEST(MergedPasses, HaveNoSeamAtThePhotosOwnBorders) {
    const Planes joined = mergePasses(flat({64, 48}, 0.6F), flat({64, 48}, 1), {0, 600, {800, 600}, 100}, kPhoto);
    EXPECT_FLOAT_EQ(joined.row(joined.size.height - 1)[0], 1);
    EXPECT_FLOAT_EQ(joined.row(joined.size.height / 2)[0], 0.6F + 0.4F / 16) << "but here";
}

/// A bright figure of `size` around 950, 600 in a dark photo.
std::shared_ptr<const Image> figure(Size size) {
    Image image(kPhoto, PixelFormat::bgr8);
    for (int y = 0; y < kPhoto.height; ++y) {
        for (int x = 0; x < kPhoto.width; ++x) {
            const bool inside = 2 * std::abs(x - 950) <= size.width && 2 * std::abs(y - 600) <= size.height;
            std::fill_n(image.row(y) + 3 * x, 3, std::uint8_t(inside ? 220 : 20));
        }
    }
    return std::make_shared<Image>(std::move(image));
}

struct Passes {
    std::vector<double> shares;  ///< of the network's input that the figure filled, pass by pass
    std::shared_ptr<Cutout> cutout;
    Image matte;
};
/// By a network that takes what is bright for a person.
Passes passesOf(Size person, int networkLongestSide = 0, bool failSecond = false) {
    Passes passes;
    const auto bright = [&](const Planes& input, Planes& alpha) {
        for (std::size_t i = 0; i < alpha.values.size(); ++i) alpha.values[i] = input.values[3 * i] > 0 ? 1.0F : 0.0F;
        passes.shares.push_back(double(std::ranges::count(alpha.values, 1.0F)) / double(alpha.values.size()));
        if (passes.shares.size() > 1 && failSecond) alpha.values[0] = std::numeric_limits<float>::quiet_NaN();
    };
    CpuEngine engine(std::make_unique<test::PaintedNetwork>(bright, test::Metadata{{"longest_side", "256"}}),
                     {.networkLongestSide = networkLongestSide}, "");
    passes.shares.clear();  // of the self-test
    passes.cutout = engine.cutOut(figure(person), {});
    passes.matte = engine.matte(*passes.cutout, {}, kPhoto, {});
    return passes;
}

TEST(TwoPassRefinement, ShowsTheNetworkSmallPeopleLarger) {
    const Passes passes = passesOf({100, 200});
    ASSERT_EQ(passes.shares.size(), 2U);
    EXPECT_NEAR(passes.shares[0], 100.0 * 200 / (1600 * 1200), 0.01);
    EXPECT_NEAR(passes.shares[1], 100.0 * 200 / (400 * 400), 0.02);
    EXPECT_EQ(passes.cutout->times().back().stage, Stage::foreground);
    EXPECT_TRUE(
        std::ranges::any_of(passes.cutout->times(), [](const auto& t) { return t.stage == Stage::secondPass; }));
    EXPECT_EQ(passes.matte.row(600)[950], 255);
    EXPECT_EQ(passes.matte.row(600)[500], 0);
    EXPECT_EQ(passes.matte.row(100)[950], 0);
}

TEST(TwoPassRefinement, IsNotTakenAtPeopleWhoAreNearNorAtASizeThatSomebodyChose) {
    EXPECT_EQ(passesOf({1200, 1000}).shares.size(), 1U);
    EXPECT_EQ(passesOf({100, 200}, 256).shares.size(), 1U);
}

TEST(TwoPassRefinement, ThatGivesNoMatteLeavesTheFirst) {
    const Passes passes = passesOf({100, 200}, 0, true);
    EXPECT_EQ(passes.shares.size(), 2U);
    EXPECT_EQ(passes.matte.row(600)[950], 255);
    EXPECT_EQ(passes.matte.row(600)[500], 0);
}

/// Sum of |alpha - truth| by the sum of the truth, of portrait-lite.
double errorOf(const test::FarPerson& person, int networkLongestSide) {
    UNet lite = UNet::load(Safetensors::read(MATTE_RESOURCES "/models/portrait-lite.safetensors"));
    const auto engine =
        createPhotoEngine(std::move(lite), {.kind = EngineKind::cpu, .networkLongestSide = networkLongestSide});
    const auto cutout = engine->cutOut(person.photo);
    const Image matte = engine->matte(*cutout, {}, person.photo->size());
    double wrong = 0, all = 0;
    for (std::size_t i = 0; i < matte.bytes(); ++i) {
        wrong += std::abs(matte.row(0)[i] - person.alpha.row(0)[i]);
        all += person.alpha.row(0)[i];
    }
    return wrong / all;
}

TEST(TwoPassRefinement, FindsMoreOfADrawnPersonFarAway) {
    const test::FarPerson person = test::farPerson();
    const double once = errorOf(person, 512), twice = errorOf(person, 0);
    EXPECT_LT(twice, 0.75 * once) << twice << " and " << once << " with one pass of the same size";
}

}  // namespace
}  // namespace matte
