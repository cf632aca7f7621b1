// SPDX-License-Identifier: Apache-2.0
// What is on the screen, pixel by pixel: Viewport through its framebuffer, GlTexture through an off-screen context.
#include <QMainWindow>
#include <QOffscreenSurface>
#include <QOpenGLContext>
#include <QOpenGLFramebufferObject>
#include <QTest>
#include <QWheelEvent>

#include <cmath>
#include <cstring>

#include "gui/window/viewport.h"
#include "inference/core/error.h"
#include "tests/gui/groups.h"

namespace matte::test {
namespace {

constexpr QColor kSurround(1, 2, 3), kLight(250, 250, 250), kDark(200, 200, 200);
constexpr int kLeftOfSplit = 60, kRightOfSplit = 140;  // in a viewport 200 wide, clear of the handle and its shadow

std::shared_ptr<const Image> filled(Size size, QColor color) {
    auto image = std::make_shared<Image>(size, PixelFormat::rgba8);
    const std::uint8_t pixel[] = {std::uint8_t(color.red()), std::uint8_t(color.green()), std::uint8_t(color.blue()),
                                  std::uint8_t(color.alpha())};
    for (std::size_t i = 0; i < size.pixels(); ++i) std::memcpy(image->row(0) + 4 * i, pixel, sizeof pixel);
    return image;
}

/// Each pixel tells where it is: red = x, green = y.
std::shared_ptr<const Image> coordinates(Size size) {
    auto image = std::make_shared<Image>(size, PixelFormat::rgba8);
    for (int y = 0; y < size.height; ++y) {
        for (int x = 0; x < size.width; ++x) {
            const std::uint8_t pixel[] = {std::uint8_t(x), std::uint8_t(y), 0, 255};
            std::memcpy(image->row(y) + 4 * x, pixel, sizeof pixel);
        }
    }
    return image;
}

void expectNear(const QColor& is, const QColor& wanted, int tolerance = 1) {
    const bool near = std::abs(is.red() - wanted.red()) <= tolerance &&
                      std::abs(is.green() - wanted.green()) <= tolerance &&
                      std::abs(is.blue() - wanted.blue()) <= tolerance;
    QVERIFY2(near, qPrintable(is.name() + " instead of " + wanted.name()));
}

struct Shown {
    Shown() {
        window.setCentralWidget(viewport);
        viewport->setColors({kSurround, kLight, kDark});
        window.resize(200, 200);
        window.show();
        (void)QTest::qWaitForWindowExposed(&window);
    }
    [[nodiscard]] QColor at(int x, int y) const { return viewport->grabFramebuffer().pixelColor(x, y); }
    void wheel(QPointF position, int notches) {
        QWheelEvent event(position, viewport->mapToGlobal(position), {}, {0, 120 * notches}, Qt::NoButton,
                          Qt::NoModifier, Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(viewport, &event);
    }
    QMainWindow window;
    Viewport* viewport = new Viewport;
};

}  // namespace

class ViewportTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void anEmptyViewportShowsItsSurround() {
        const Shown shown;
        expectNear(shown.at(100, 100), kSurround, 0);
    }

    void splitShowsTheOriginalLeftAndTheResultRight() {
        const Shown shown;
        shown.viewport->setPhoto(filled({180, 180}, Qt::red), {180, 180});
        shown.viewport->setAfter(filled({180, 180}, Qt::green));
        expectNear(shown.at(kLeftOfSplit, 40), Qt::red);
        expectNear(shown.at(kRightOfSplit, 40), Qt::green);
        expectNear(shown.at(2, 2), kSurround);
        expectNear(shown.at(100, 40), Qt::white, 12);  // the line
        shown.viewport->setSplitVisible(false);
        expectNear(shown.at(kLeftOfSplit, 40), Qt::green);
        shown.viewport->setOriginalHeld(true);
        expectNear(shown.at(kRightOfSplit, 40), Qt::red);
    }

    void splitIsDraggedByItsLine() {
        const Shown shown;
        shown.viewport->setPhoto(filled({180, 180}, Qt::red), {180, 180});
        shown.viewport->setAfter(filled({180, 180}, Qt::green));
        QTest::mouseMove(shown.viewport, {101, 100});
        QCOMPARE(shown.viewport->cursor().shape(), Qt::SplitHCursor);
        QTest::mousePress(shown.viewport, Qt::LeftButton, {}, {101, 100});
        QTest::mouseMove(shown.viewport, {171, 100});
        QTest::mouseRelease(shown.viewport, Qt::LeftButton, {}, {171, 100});
        QCOMPARE(shown.viewport->splitPosition(), 170.0);
        expectNear(shown.at(130, 40), Qt::red);
        QTest::mouseMove(shown.viewport, {40, 100});
        QVERIFY(shown.viewport->cursor().shape() != Qt::SplitHCursor);
    }

    void actualSizeShowsEachPixel() {
        const Shown shown;
        shown.viewport->setPhoto(coordinates({250, 250}), {250, 250});
        shown.viewport->actualSize();
        expectNear(shown.at(0, 0), QColor(25, 25, 0), 0);
        expectNear(shown.at(199, 150), QColor(224, 175, 0), 0);
        shown.viewport->fit();
        expectNear(shown.at(100, 100), QColor(125, 125, 0), 2);
        expectNear(shown.at(0, 100), kSurround);
    }

    void theWheelZoomsToThePointer() {
        Shown shown;
        shown.viewport->setPhoto(coordinates({250, 250}), {250, 250});
        shown.viewport->actualSize();
        const QColor under = shown.at(150, 60);
        shown.wheel({150, 60}, 3);
        QVERIFY(shown.viewport->zoom() > 1.7);
        expectNear(shown.at(150, 60), under, 2);
        QTest::mousePress(shown.viewport, Qt::LeftButton, {}, {150, 60});
        QTest::mouseMove(shown.viewport, {130, 60});
        QTest::mouseRelease(shown.viewport, Qt::LeftButton, {}, {130, 60});
        expectNear(shown.at(130, 60), under, 2);
    }

    void transparencyShowsTheCheckerboard() {
        const Shown shown;
        shown.viewport->setSplitVisible(false);
        shown.viewport->setPhoto(filled({180, 180}, Qt::red), {180, 180});
        shown.viewport->setAfter(filled({180, 180}, QColor(255, 0, 0, 0)));
        expectNear(shown.at(100, 100), kLight, 0);
        expectNear(shown.at(108, 100), kDark, 0);
        shown.viewport->setAfter(filled({180, 180}, QColor(255, 0, 0, 128)));
        expectNear(shown.at(100, 100), QColor(252, 125, 125), 2);
    }

    void aMatteIsShownInGrey() {
        const Shown shown;
        auto matte = std::make_shared<Image>(Size{45, 45}, PixelFormat::gray8);
        std::memset(matte->row(0), 77, matte->bytes());
        shown.viewport->setPhoto(filled({180, 180}, Qt::red), {180, 180});
        shown.viewport->setAfter(matte);
        expectNear(shown.at(kRightOfSplit, 40), QColor(77, 77, 77), 0);
    }

    void oddRowsOfThreeBytesAreNotSheared() {
        const Shown shown;
        auto image = std::make_shared<Image>(Size{181, 3}, PixelFormat::bgr8);
        for (int i = 0; i < 181 * 3; ++i) std::memcpy(image->row(0) + 3 * i, "\x0a\x14\x1e", 3);
        shown.viewport->setPhoto(image, {181, 3});
        expectNear(shown.at(100, 100), QColor(30, 20, 10), 0);
    }

    void aNewContextGetsThePicturesAgain() {
        Shown shown;
        shown.viewport->setPhoto(filled({180, 180}, Qt::red), {180, 180});
        shown.viewport->setAfter(filled({180, 180}, Qt::green));
        expectNear(shown.at(kLeftOfSplit, 40), Qt::red);
        const QOpenGLContext* old = shown.viewport->context();
        QMainWindow other;
        other.setCentralWidget(shown.window.takeCentralWidget());
        other.resize(200, 200);
        other.show();
        (void)QTest::qWaitForWindowExposed(&other);
        const QImage drawn = shown.viewport->grabFramebuffer();
        QVERIFY(shown.viewport->context() != old);
        expectNear(drawn.pixelColor(kLeftOfSplit, 40), Qt::red);
        expectNear(drawn.pixelColor(kRightOfSplit, 40), Qt::green);
    }

    void aPictureBeyondTheLimitIsShownSmaller() {
        QOffscreenSurface surface;
        surface.create();
        QOpenGLContext context;
        QVERIFY(context.create() && context.makeCurrent(&surface));
        GlFacts facts = initializeGl();
        QVERIFY(facts.maxTextureSide >= 4096);
        for (const bool immutable : {true, false}) {
            facts.maxTextureSide = 64;
            facts.immutableStorage = facts.immutableStorage && immutable;
            QOpenGLFramebufferObject target(100, 20);
            target.bind();
            Presenter presenter(facts);
            presenter.setBefore(filled({200, 3}, Qt::blue)->view());
            View view;
            view.width = 100;
            view.height = 20;
            presenter.draw(view, {100, 20});
            expectNear(target.toImage().pixelColor(50, 10), Qt::blue, 0);
            GlTexture texture(facts);
            texture.upload(filled({200, 3}, Qt::blue)->view());
            QVERIFY((texture.size() == Size{50, 1}));
            texture.release();
        }
    }
};

int runViewportTests(int argc, char** argv) {
    ViewportTest test;
    return QTest::qExec(&test, argc, argv);
}

}  // namespace matte::test

#include "viewport_test.moc"
