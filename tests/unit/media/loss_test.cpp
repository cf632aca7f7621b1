// SPDX-License-Identifier: Apache-2.0
// What is missing is told in one sentence.
#include <gtest/gtest.h>

#include "inference/media/loss.h"

namespace matte {
namespace {

TEST(Loss, SaysWhatIsMissing) {
    const auto said = [](const Loss& loss) { return loss.sentence("a.mp4"); };
    EXPECT_EQ(said({}), "");
    EXPECT_EQ(said({.frames = 42, .ofFrames = 200, .endsEarly = true}),
              "42 of 200 frames of a.mp4 could not be read: the file ends early.");
    EXPECT_EQ(said({.frames = 1, .ofFrames = 9, .damagedFrames = 2}),
              "1 of 9 frames of a.mp4 could not be read and 2 are damaged: the file is damaged.");
    EXPECT_EQ(said({.ofFrames = 9, .damagedFrames = 1}), "1 of 9 frames of a.mp4 is damaged: the file is damaged.");
    EXPECT_EQ(said({.frames = 3, .ofFrames = 9, .soundPackets = 1, .readErrors = 1}),
              "3 of 9 frames and 1 sound packet of a.mp4 could not be read: reading failed 1 time.");
    EXPECT_EQ(said({.readErrors = 2}), "a.mp4 could not be read without errors: reading failed 2 times.");
    EXPECT_EQ(said({.endsEarly = true}), "The end of a.mp4 could not be read: the file ends early.");
    EXPECT_EQ(said({.soundUnwritten = 5}),
              "5 sound packets of a.mp4 could not be written because of the file's times.");
    EXPECT_EQ(said({.frames = 3, .ofFrames = 9, .soundProblem = "No sound.", .encoderProblem = "Another."}),
              "3 of 9 frames of a.mp4 could not be read: the file is damaged. No sound. Another.");
}

TEST(Loss, IsAddedUp) {
    Loss loss{.frames = 3, .ofFrames = 9};
    EXPECT_FALSE(Loss().any());
    loss += Loss{.soundPackets = 4, .readErrors = 1, .endsEarly = true, .soundProblem = "None."};
    EXPECT_TRUE(loss.any());
    EXPECT_EQ(loss.sentence("a"),
              "3 of 9 frames and 4 sound packets of a could not be read: reading failed 1 time. None.");
    for (const Loss& one :
         {Loss{.frames = 1}, Loss{.damagedFrames = 1}, Loss{.soundPackets = 1}, Loss{.soundUnwritten = 1},
          Loss{.readErrors = 1}, Loss{.endsEarly = true}, Loss{.soundProblem = "a"}, Loss{.encoderProblem = "a"}}) {
        EXPECT_TRUE(one.any());
        EXPECT_NE(one.sentence("a"), "");
    }
}

}  // namespace
}  // namespace matte
