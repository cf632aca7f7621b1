// SPDX-License-Identifier: Apache-2.0
#include "tests/gui/live_fixture.h"

#include <QTest>

#include "gui/live/live_control.h"

namespace matte::test {
namespace {

constexpr int kMark = 201;  // the scripted engine's green

Background behind() {
    Background background;
    background.kind = Background::Kind::color;
    background.color = kBehind;
    return background;
}

}  // namespace

LiveFixture::LiveFixture(const MakeLiveEngines& liveEngines, const EnginePicker::EnginesFor& enginesFor)
    : base({},
           {.background = behind(),
            .makeLiveEngines = liveEngines ? liveEngines : [this] { return scriptedEngine(script); },
            .enginesFor = enginesFor,
            .open = [this](const SourceSpec&, const CaptureSettings&, const std::stop_token&) { return feed.open(); },
            .watchCameras = false}) {
    window().setMode(Mode::live);
}

LiveFixture::~LiveFixture() {
    script.submit.open();  // a test may have ended before it did
    script.take.open();
}

void LiveFixture::start() {
    press(Qt::Key_Space);
    QTRY_VERIFY(window().live().isOn());
    showNext();
}

void LiveFixture::showNext(int width, int height) {
    const auto before = window().live().framesPresented();
    feed.push(width, height);
    QTRY_VERIFY(window().live().framesPresented() > before);
}

void LiveFixture::pushThrough(int width, int height) {
    // What the first one brings is told before the second one is taken.
    for (int i = 0; i < 2; ++i) {
        const auto before = window().live().statistics().framesOut;
        feed.push(width, height);
        QTRY_VERIFY(window().live().statistics().framesOut > before);
    }
    WindowFixture::flushEvents();
}

void LiveFixture::press(int key, Qt::KeyboardModifiers modifiers) {
    QTest::keyClick(&window(), Qt::Key(key), modifiers);
}

bool LiveFixture::personShown() const {
    return shown().green() == kMark;
}

bool LiveFixture::backgroundShown() const {
    return shown() == QColor(kBehind.r, kBehind.g, kBehind.b);
}

}  // namespace matte::test
