// SPDX-License-Identifier: Apache-2.0
// Which of the program's own models works on frame after frame.
#include <gtest/gtest.h>

#include "inference/live/frame_engine.h"
#include "tests/support/scene.h"

namespace matte {
namespace {

/// Of the first layer, by which the models differ, on the processor.
std::string firstLayer(const std::string& model) {
    const auto engine = makeFrameEngine(model, {.kind = EngineKind::cpu, .networkLongestSide = 64});
    (void)engine->cutOut(std::make_shared<Image>(test::makeScene({64, 64}).photo));
    return engine->layers().front().shape;
}

TEST(FrameEngine, IsTheLightModelOnAProcessorUnlessAnotherIsNamed) {
    EXPECT_EQ(firstLayer(""), firstLayer(kLiteModel));
    EXPECT_NE(firstLayer(""), firstLayer("portrait"));
}

TEST(FrameEngine, SaysWhichModelItDoesNotFind) {
    EXPECT_ANY_THROW(makeFrameEngine("no such model", {.kind = EngineKind::cpu}));
}

}  // namespace
}  // namespace matte
