// SPDX-License-Identifier: Apache-2.0
// The errors in the unknown band against values worked out by hand.
#include "inference/tools/evaluate/unknown_band.h"

#include <gtest/gtest.h>

#include "inference/tools/evaluate/matte_metrics.h"

namespace matte {
namespace {

/// A person to the right of column 50 of 100, with an edge of `soft` columns of 1/2.
Planes softEdge(int soft, int height) {
    Planes truth({100, height}, 1);
    for (int y = 0; y < height; ++y) {
        std::fill_n(truth.row(y) + 50, soft, 0.5F);
        std::fill(truth.row(y) + 50 + soft, truth.row(y) + 100, 1.0F);
    }
    return truth;
}

TEST(UnknownBand, IsOfSoftMattes) {
    EXPECT_FALSE(isSoft(softEdge(0, 10)));
    EXPECT_FALSE(isSoft(softEdge(1, 10))) << "a hundredth of the pixels";
    EXPECT_TRUE(isSoft(softEdge(2, 10)));
    Planes nearlySure = softEdge(2, 10);
    for (float& alpha : nearlySure.values) {
        if (alpha == 0.5F) alpha = 0.99F;
    }
    EXPECT_FALSE(isSoft(nearlySure));

    const Planes hard = softEdge(0, 10), oneColumn = softEdge(1, 10);
    EXPECT_FALSE(scoreMatte(oneColumn, oneColumn).band);
    EXPECT_TRUE(scoreMatte(oneColumn, oneColumn, BandOf::everyMatte).band);
    EXPECT_FALSE(scoreMatte(hard, hard, BandOf::everyMatte).band) << "no pixel is soft";
}

TEST(UnknownBand, GrowsWithThePicture) {
    EXPECT_EQ(unknownBand(softEdge(2, 10)).count(), 10U * (2 + 2 * 2)) << "2 pixels at least";
    Planes wide({1000, 1}, 1);
    wide.values[500] = 0.5F;
    EXPECT_EQ(unknownBand(wide).count(), 2U * 10 + 1);
    wide.values[500] = 0.01F;
    EXPECT_EQ(unknownBand(wide).count(), 0U);
}

TEST(UnknownBand, EndsBeforeTheRowThatBeginsAfterAThirdOfThePerson) {
    Planes truth({10, 10}, 1);
    for (int y = 2; y < 8; ++y) std::fill_n(truth.row(y), 10, y < 4 ? 1.0F : 0.5F);  // of an area of 40
    Mask whole(truth.size);
    std::ranges::fill(whole.set, std::uint8_t(1));
    EXPECT_EQ(hairPart(whole, truth).count(), 4U * 10) << "10 are passed at row 3, which ends at 20";
    std::fill_n(truth.row(3), 10, 0.0F);
    std::fill_n(truth.row(7), 10, 0.5F);  // of an area of 30, a third ends with row 2
    EXPECT_EQ(hairPart(whole, truth).count(), 3U * 10);
}

TEST(UnknownBand, HoldsTheErrorsThatCount) {
    const Planes truth = softEdge(2, 12);
    Planes found = truth;
    for (int y = 0; y < 12; ++y) {
        found.row(y)[48] = 0.25F;
        found.row(y)[51] = 0.75F;
        found.row(y)[10] = 1;  // beyond the band, which is columns 48 to 53
    }
    const auto band = scoreMatte(found, truth).band;
    ASSERT_TRUE(band);
    EXPECT_NEAR(band->sad, 12 * 0.5 / 1000, 1e-9);
    EXPECT_NEAR(band->mse, 2 * 0.0625 / 6, 1e-9);
    // 0.25 is held by nobody up to a level of 0, and so are all levels of the pixels that are found for certain: of
    // both columns the differences of .25 count, as they are above .15.
    EXPECT_NEAR(band->connectivity, 12 * 0.5 / 1000, 1e-9);
}

TEST(UnknownBand, HoldsTheGradientOfItsColumns) {
    // The squared response to this edge sums to 15.348038 along the band's columns, by kernels of 9x9 pixels.
    const Planes truth = softEdge(2, 12);
    Planes flat = truth;
    std::ranges::fill(flat.values, 1.0F);
    const MatteScores scores = scoreMatte(flat, truth);
    ASSERT_TRUE(scores.band);
    EXPECT_NEAR(scores.gradient, 12 * 15.491739 / 1000, 1e-6);
    EXPECT_NEAR(scores.band->gradient, 12 * 15.348038 / 1000, 1e-6);
    EXPECT_NEAR(scores.band->hairGradient, 4 * 15.348038 / 1000, 1e-6) << "the upper third of the rows";
}

TEST(UnknownBand, MeansAreOfThePicturesThatHaveOne) {
    std::vector<MatteScores> all(3);
    EXPECT_FALSE(meanScores(all).band);
    all[0].band = BandScores{1, 0.5, 3, 4, 5};
    all[2].band = BandScores{3, 0.1, 5, 6, 7};
    const auto mean = meanScores(all).band;
    ASSERT_TRUE(mean);
    EXPECT_DOUBLE_EQ(mean->sad, 2);
    EXPECT_DOUBLE_EQ(mean->mse, 0.3);
    EXPECT_DOUBLE_EQ(mean->gradient, 4);
    EXPECT_DOUBLE_EQ(mean->connectivity, 5);
    EXPECT_DOUBLE_EQ(mean->hairGradient, 6);
}

}  // namespace
}  // namespace matte
