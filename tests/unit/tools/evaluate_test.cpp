// SPDX-License-Identifier: Apache-2.0
// The measures of mattes against values worked out by hand.
#include "inference/tools/evaluate/matte_metrics.h"

#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/media/image/image_file.h"
#include "inference/tools/evaluate/matte_pairs.h"
#include "inference/tools/evaluate/rhemann.h"
#include "inference/tools/evaluate/sequence_metrics.h"
#include "tests/support/files/model_file.h"
#include "tests/support/files/picture_file.h"
#include "tests/support/files/scratch_folder.h"
#include "tests/support/pictures/scene.h"

namespace matte {
namespace {

/// Every row the same.
Planes rows(std::vector<float> row, int height) {
    Planes planes({int(row.size()), height}, 1);
    for (int y = 0; y < height; ++y) std::ranges::copy(row, planes.row(y));
    return planes;
}

/// 0 to the left of `edge`, 1 from there on.
Planes step(int width, int height, int edge) {
    std::vector<float> row(std::size_t(width), 0.0F);
    std::fill(row.begin() + edge, row.end(), 1.0F);
    return rows(row, height);
}

TEST(MatteMetrics, NothingIsWrongWithTheTruth) {
    const Planes truth = test::makeScene({64, 48}).alpha;
    const MatteScores scores = scoreMatte(truth, truth);
    for (const double share : {scores.meanIou, scores.personIou, scores.boundary}) EXPECT_EQ(share, 1);
    for (const double error : {scores.mad, scores.mse, scores.gradient, scores.connectivity, scores.uncertainAway}) {
        EXPECT_EQ(error, 0);
    }
}

TEST(MatteMetrics, CountsOverlapsAndDifferences) {
    // The person of two columns is found one column too far to the right: 1 column in common of 3, and so behind them.
    const MatteScores moved = scoreMatte(rows({0, 1, 1, 0}, 2), rows({1, 1, 0, 0}, 2));
    EXPECT_DOUBLE_EQ(moved.personIou, 1.0 / 3);
    EXPECT_DOUBLE_EQ(moved.meanIou, 1.0 / 3);
    EXPECT_DOUBLE_EQ(moved.mad, 0.5);
    EXPECT_DOUBLE_EQ(moved.mse, 0.5);
    // A quarter of the pixels is 0.4 where 0 is right: background all the same.
    const MatteScores faint = scoreMatte(rows({0.4F, 0, 1, 1}, 2), rows({0, 0, 1, 1}, 2));
    EXPECT_DOUBLE_EQ(faint.meanIou, 1);
    EXPECT_NEAR(faint.mad, 0.1, 1e-7);
    EXPECT_NEAR(faint.mse, 0.04, 1e-7);
    EXPECT_DOUBLE_EQ(faint.uncertain, 0.25);
    // Nobody, and nobody found.
    EXPECT_EQ(scoreMatte(rows({0, 0}, 2), rows({0, 0}, 2)).meanIou, 1);
}

TEST(MatteMetrics, AllowsTheOutlineTwoPixels) {
    const Planes truth = step(40, 8, 20);
    EXPECT_EQ(scoreMatte(step(40, 8, 22), truth).boundary, 1);
    EXPECT_EQ(scoreMatte(step(40, 8, 23), truth).boundary, 0);
    EXPECT_EQ(scoreMatte(rows(std::vector<float>(40, 0.0F), 8), truth).boundary, 0);
}

TEST(MatteMetrics, TellsDoubtAtTheEdgeFromDoubtElsewhere) {
    const Planes truth = step(100, 10, 50);
    Planes found = truth;
    for (int y = 0; y < 10; ++y) {
        found.row(y)[51] = 0.5F;  // at the edge
        found.row(y)[90] = 0.5F;  // far from it
    }
    const MatteScores scores = scoreMatte(found, truth);
    EXPECT_DOUBLE_EQ(scores.uncertain, 0.02);
    EXPECT_DOUBLE_EQ(scores.uncertainAway, 0.01);
}

TEST(MatteMetrics, MeasuresGradients) {
    // The squared response to an upright edge sums to 19.590716 along a row, by kernels of 9x9 pixels.
    const Planes edge = step(24, 10, 12), flat = rows(std::vector<float>(24, 1.0F), 10);
    EXPECT_NEAR(inThousands(gradientErrors(flat, edge)), 10 * 19.590716 / 1000, 1e-6);
    EXPECT_NEAR(inThousands(gradientErrors(rows(std::vector<float>(24, 0.25F), 10), flat)), 0, 1e-12);
}

TEST(MatteMetrics, MeasuresWhatHangsTogether) {
    // A column that stands apart from the person counts in full, one less sure than the truth by its difference.
    const Planes truth = rows({1, 1, 0.8F, 0, 0, 0}, 10);
    EXPECT_NEAR(inThousands(connectivityErrors(rows({1, 1, 0.8F, 0, 1, 0}, 10), truth)), 10 * 1.0 / 1000, 1e-6);
    EXPECT_NEAR(inThousands(connectivityErrors(rows({1, 1, 0.6F, 0, 0, 0}, 10), truth)), 10 * 0.2 / 1000, 1e-6);
    // Differences below 0.15 don't break anything.
    EXPECT_NEAR(inThousands(connectivityErrors(rows({1, 1, 0.7F, 0, 0, 0}, 10), truth)), 0, 1e-6);
}

TEST(MatteMetrics, AveragesAndFindsTheWorst) {
    std::vector<MatteScores> all(20);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].meanIou = double(i) / 20;
    EXPECT_NEAR(meanScores(all).meanIou, 9.5 / 20, 1e-12);
    EXPECT_NEAR(worstTenth(all), 0.5 / 20, 1e-12);
    EXPECT_EQ(worstTenth({all[3]}), 3.0 / 20);
    EXPECT_EQ(meanScores({}).meanIou, 0);
}

TEST(SequenceMetrics, CountFlickerWhereNothingMoves) {
    const Size size{320, 180};
    Planes luma(size, 1), alpha(size, 1);
    SequenceMeter meter;
    meter.add({luma, alpha});
    EXPECT_FALSE(meter.scores().flicker);
    // The left half brightens and its matte jumps; on the right only the matte changes, by 0.1.
    for (int y = 0; y < size.height; ++y) {
        for (int x = 0; x < size.width; ++x) {
            luma.row(y)[x] = x < 160 ? 40.0F : 1.0F;
            alpha.row(y)[x] = x < 160 ? 1.0F : 0.1F;
        }
    }
    meter.add({luma, alpha});
    ASSERT_TRUE(meter.scores().flicker);
    EXPECT_NEAR(*meter.scores().flicker, 0.1, 1e-6);
    EXPECT_FALSE(meter.scores().dtSsd);
    EXPECT_EQ(meter.scores().frames, 2);
}

TEST(SequenceMetrics, ComparesChangesWithTrueChanges) {
    const Planes luma = rows({0, 0, 0, 0}, 4);
    SequenceMeter meter;
    const Planes before = rows({0, 0, 1, 1}, 4), after = rows({0, 1, 1, 1}, 4);
    meter.add({luma, before, &before});
    meter.add({luma, after, &after});
    EXPECT_EQ(meter.scores().dtSsd, 0);
    // Of a change of 1 in a quarter of the pixels none is found: the root of a quarter, and the mean with the 0 before.
    meter.add({luma, after, &before});
    EXPECT_NEAR(*meter.scores().dtSsd, 0.25, 1e-9);
}

TEST(SequenceMetrics, CountATrailWhereSomethingMoves) {
    const Planes luma = rows({0, 0, 0, 0}, 4);
    SequenceMeter meter;
    const Planes before = rows({0, 0, 1, 1}, 4), after = rows({0, 1, 1, 0}, 4);
    meter.add({luma, before, &before});
    EXPECT_FALSE(meter.scores().movingError);
    // A hand came to the second column and left the fourth, where 0.4 of it stays; the first moved nowhere.
    meter.add({luma, rows({0.9F, 1, 1, 0.4F}, 4), &after});
    EXPECT_NEAR(meter.scores().movingError.value_or(-1), 0.2, 1e-6);
}

TEST(SequenceMetrics, CountWhatIsTakenForSomebodyBesideThePerson) {
    const Size size{320, 180};
    const Planes luma(size, 1);
    Planes alpha(size, 1);
    const auto fill = [&](int left, int top, int side, float value) {
        for (int y = top; y < top + side; ++y) std::fill_n(alpha.row(y) + left, side, value);
    };
    SequenceMeter meter;
    EXPECT_FALSE(meter.scores().beside);
    fill(20, 20, 100, 1);
    fill(120, 100, 20, 1);  // a hand of the person
    fill(200, 20, 60, 0.4F);
    meter.add({luma, alpha});
    EXPECT_EQ(meter.scores().beside, 0);
    fill(200, 20, 60, 0.6F);  // a coat on the wall
    fill(140, 120, 10, 1);    // what touches the hand corner to corner is apart
    meter.add({luma, alpha});
    EXPECT_NEAR(*meter.scores().beside, 0.5 * (60 * 60 + 10 * 10) / double(size.pixels()), 1e-9);
}

TEST(SequenceMetrics, CountSwitches) {
    const Planes luma = rows({0, 0}, 4), both = rows({1, 1}, 4), lost = rows({1, 0}, 4);
    SequenceMeter meter;
    meter.add({luma, both, &both, nullptr, nullptr, 0});
    meter.add({luma, lost, &both, nullptr, nullptr, 1.0 / 4});
    meter.add({luma, both, &both, nullptr, nullptr, 2.0 / 4});
    EXPECT_NEAR(meter.scores().switches.value_or(-1), 0.5 / 0.5, 1e-9);
    EXPECT_NEAR(meter.scores().wrongSwitches.value_or(-1), 0.5 / 0.5, 1e-9);
}

TEST(SequenceMetrics, CountLostLimbsAndShownThings) {
    const Size size{100, 4};
    const Planes luma(size, 1), nothing(size, 1);
    /// 1 in the first `columns`.
    const auto upTo = [&](int columns) {
        Planes planes(size, 1);
        for (int y = 0; y < size.height; ++y) std::fill_n(planes.row(y), columns, 1.0F);
        return planes;
    };
    SequenceMeter meter;
    meter.add({luma, upTo(50)});
    EXPECT_FALSE(meter.scores().limbsLost || meter.scores().limbsKept);
    EXPECT_FALSE(meter.scores().thingsShown || meter.scores().thingsShownIn);
    // Of a limb of 100 columns 4 are lost, then 5; of one of 60 in 60 nothing; a frame without limbs says nothing.
    const Planes all = upTo(100), limb = upTo(60);
    meter.add({luma, upTo(96), nullptr, &all});
    meter.add({luma, upTo(95), nullptr, &all});
    meter.add({luma, upTo(60), nullptr, &limb});
    meter.add({luma, upTo(60), nullptr, &nothing});
    EXPECT_NEAR(meter.scores().limbsLost.value_or(-1), 9.0 / 260, 1e-9);
    EXPECT_NEAR(meter.scores().limbsKept.value_or(-1), 2.0 / 3, 1e-9) << "5 % is too much";
    // Of a thing of 100 columns 2 are shown, then 3.
    meter.add({luma, upTo(2), nullptr, nullptr, &all});
    meter.add({luma, upTo(3), nullptr, nullptr, &all});
    EXPECT_NEAR(meter.scores().thingsShown.value_or(-1), 5.0 / 200, 1e-9);
    EXPECT_NEAR(meter.scores().thingsShownIn.value_or(-1), 1.0 / 2, 1e-9) << "2 % is not too much";
    EXPECT_NEAR(meter.scores().limbsLost.value_or(-1), 9.0 / 260, 1e-9);
}

TEST(SequenceMetrics, ReadLumaFromEveryFormat) {
    Image bgr({2, 2}, PixelFormat::bgr8), nv12({2, 2}, PixelFormat::nv12), yuyv({2, 2}, PixelFormat::yuyv);
    std::fill_n(bgr.row(0), bgr.bytes(), std::uint8_t(0));
    bgr.row(0)[0] = 200;  // blue
    std::fill_n(nv12.row(0), nv12.bytes(), std::uint8_t(235));
    std::fill_n(yuyv.row(0), yuyv.bytes(), std::uint8_t(16));
    EXPECT_NEAR(lumaPlane(bgr.view()).values[0], 0.114 * 200, 1e-4);
    EXPECT_NEAR(lumaPlane(nv12.view()).values[3], 255, 1e-3);
    EXPECT_NEAR(lumaPlane(yuyv.view()).values[1], 0, 1e-3);
}

TEST(MattePairs, LieBesideTheirPhotos) {
    const test::ScratchFolder folder;
    std::filesystem::create_directories(folder / "b");
    for (const char* name :
         {"one.jpg", "one.png", "one.limb.png", "two.png", "two-matte.png", "two.thing.png", "b/three.jpg",
          "b/three-matte.png", "b/three.limb.png", "b/three.thing.png", "four.png", "five.limb.png"}) {
        test::writeBytes(folder / name, test::encode(test::sixAreas({6, 4}), std::filesystem::path(name).extension()));
    }
    std::vector<std::string> found;
    for (const MattePair& pair : findMattePairs(folder.path())) {
        found.push_back(pair.photo.filename().string());
        for (const auto& beside : {pair.matte, pair.limbs, pair.things})
            found.back() += " " + beside.filename().string();
    }
    EXPECT_EQ(found, (std::vector<std::string>{"three.jpg three-matte.png three.limb.png three.thing.png",
                                               "five.limb.png   ", "four.png   ", "one.jpg one.png one.limb.png ",
                                               "two.png two-matte.png  two.thing.png"}));
    EXPECT_THROW((void)readMatte(folder / "one.png", {5, 4}), Error);
    EXPECT_THROW((void)findMattePairs(folder / "nowhere"), Error);
}

}  // namespace
}  // namespace matte
