// SPDX-License-Identifier: Apache-2.0
// A live pipeline with a scripted source and engine.
#pragma once

#include <atomic>

#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/pipeline/pipeline.h"
#include "tests/support/engines/scripted_live.h"
#include "tests/support/running/eventually.h"

namespace matte::test {

struct Live : ::testing::Test {
    LiveScript script;
    FrameFeed feed, other;  // before the pipeline, which reads them to its end
    std::atomic<int> news = 0;
    std::atomic<bool> mayMake = false, madeTooSoon = false;
    Pipeline pipeline{[this] {
                          if (!mayMake) madeTooSoon = true;
                          return test::scriptedEngine(script);
                      },
                      [this] { ++news; }};

    Live() {
        CompositeParams params;
        params.background.kind = Background::Kind::color;
        params.background.color = {10, 20, 30};
        pipeline.setParams(params);
    }
    ~Live() override {
        script.submit.open();  // a test may have ended before it did
        script.take.open();
    }
    void start() {
        mayMake = true;
        pipeline.start([this](PixelMemory, std::stop_token) { return feed.open(); });
    }
    [[nodiscard]] bool shows(int number) const {
        return eventually([&] {
            const auto live = pipeline.newest();
            return live && !live->placeholder && numberIn(*live->picture) == number;
        });
    }
    /// The background alone.
    [[nodiscard]] bool showsPlaceholder() const {
        const auto live = pipeline.newest();
        if (!live || !live->placeholder) return false;
        const std::uint8_t* pixel = live->picture->image()->row(0);
        return pixel[0] == 10 && pixel[1] == 20 && pixel[2] == 30 && pixel[3] == 255;
    }
};

}  // namespace matte::test
