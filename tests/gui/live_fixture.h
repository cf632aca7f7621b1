// SPDX-License-Identifier: Apache-2.0
// A window in live mode whose frames the test pushes and whose live engine does what the test says. GUI thread.
#pragma once

#include "tests/gui/window_fixture.h"
#include "tests/support/engines/scripted_live.h"

namespace matte::test {

constexpr Rgb kBehind{12, 34, 56};  ///< the fixture's background: what is seen of a hidden person

struct LiveFixture {
    /// With a factory of its own, `script` stays unused.
    explicit LiveFixture(const MakeLiveEngines& liveEngines = {}, const EnginePicker::EnginesFor& enginesFor = {});
    ~LiveFixture();
    LiveFixture(const LiveFixture&) = delete;
    LiveFixture& operator=(const LiveFixture&) = delete;
    /// Starts, and pushes a frame until its picture is shown.
    void start();
    /// Pushes one frame and waits until the engine's picture of it is on the screen.
    void showNext(int width = 160, int height = 120);
    /// Pushes a frame and waits until the window knows all that comes of it, be it no picture.
    void pushThrough(int width = 160, int height = 120);
    void press(int key, Qt::KeyboardModifiers modifiers = {});
    [[nodiscard]] MainWindow& window() const { return *base.window; }
    [[nodiscard]] QColor shown() const { return base.shownColor(); }
    /// Whether the middle of the viewport is a picture of the scripted engine, rather than the background.
    [[nodiscard]] bool personShown() const;
    [[nodiscard]] bool backgroundShown() const;

    LiveScript script;
    FrameFeed feed;
    WindowFixture base;  ///< last: its window's threads end before what they use
};

}  // namespace matte::test
