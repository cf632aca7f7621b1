// SPDX-License-Identifier: Apache-2.0
// Which of the program's own models works on live pictures.
#include <gtest/gtest.h>

#include "inference/backends/create_engine.h"
#include "inference/model/default_model.h"
#include "tests/support/pictures/scene.h"

namespace matte {
namespace {

/// On the processor; the models differ by them.
std::size_t layers(const std::string& model) {
    const auto engine = makeLiveEngines(model, {.kind = EngineKind::cpu, .networkLongestSide = 64}).first;
    engine->submit({std::make_shared<Image>(test::makeScene({64, 64}).photo), 0, {}}, {});
    (void)engine->take();
    return engine->layers().size();
}

TEST(LiveEngine, IsTheLightModelOnAProcessorUnlessAnotherIsNamed) {
    EXPECT_EQ(layers(""), layers(kLiteModel));
    EXPECT_NE(layers(""), layers("portrait"));
}

TEST(LiveEngine, SaysWhichModelItDoesNotFind) {
    EXPECT_ANY_THROW(makeLiveEngines("no such model", {.kind = EngineKind::cpu}));
}

}  // namespace
}  // namespace matte
