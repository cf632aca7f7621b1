// SPDX-License-Identifier: Apache-2.0
#include "gui/window/viewport.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QNativeGestureEvent>
#include <QOpenGLContext>
#include <QWheelEvent>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "inference/core/error.h"
#include "inference/core/stopwatch.h"
#include "interop/gl.h"

namespace matte {
namespace {

constexpr double kSplitReach = 14;   // logical pixels beside the line that still grab it
constexpr double kWheelStep = 1.2;   // zoom of one notch
constexpr double kScaleStep = 1.05;  // the person's size, likewise
constexpr double kSharpFrom = 4;     // zoom from which single pixels are shown
constexpr double kNotch = 120;       // angleDelta of one notch, as Qt defines it
constexpr double kSplitLimits[] = {0.02, 0.98};
constexpr std::chrono::milliseconds kWheelRests{500};

Rgb toRgb(const QColor& color) {
    return {std::uint8_t(color.red()), std::uint8_t(color.green()), std::uint8_t(color.blue())};
}

}  // namespace

Viewport::Viewport(QWidget* parent) : QOpenGLWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Picture"));
    setAccessibleDescription(tr("The photo before and after, side by side at a line that can be dragged"));
    connect(this, &QOpenGLWidget::frameSwapped, this, &Viewport::reportLive);
    wheelRests_.setSingleShot(true);
    wheelRests_.setInterval(kWheelRests);
    connect(&wheelRests_, &QTimer::timeout, this, &Viewport::personLetGo);
}

// Qt makes a new context whenever the window that holds the widget is replaced, so that this runs more than once.
void Viewport::initializeGL() {
    connect(context(), &QOpenGLContext::aboutToBeDestroyed, this, &Viewport::releaseGl, Qt::UniqueConnection);
    std::string device;
    try {
        const GlFacts gl = initializeGl();
        device = gl.device;
        renderer_ = QString::fromStdString(gl.renderer);
        presenter_ = std::make_unique<Presenter>(gl, interopAllowed_);
    } catch (const Error& error) {
        Q_EMIT failed(QString::fromStdString(error.what()));
    }
    beforePending_ = before_ != nullptr;
    afterPending_ = after_ != nullptr;
    livePending_ = live_ != nullptr;
    contextSeen_ = true;
    Q_EMIT deviceKnown(device);
}

void Viewport::releaseGl() {
    if (!presenter_) return;
    makeCurrent();
    presenter_.reset();
    doneCurrent();
}

void Viewport::resizeGL(int, int) {
    transform_.setSizes(shownSize(), pixelSize(), devicePixelRatioF());
    Q_EMIT zoomChanged(zoom());
    Q_EMIT splitMoved();
}

Size Viewport::pixelSize() const {
    return {int(std::lround(width() * devicePixelRatioF())), int(std::lround(height() * devicePixelRatioF()))};
}

void Viewport::setPhoto(std::shared_ptr<const Image> before, Size size) {
    after_.reset();
    photoSize_ = size;
    transform_.setSizes(size, pixelSize(), devicePixelRatioF());
    transform_.fit();
    setBefore(std::move(before));
    changed();
}

void Viewport::setBefore(std::shared_ptr<const Image> before) {
    before_ = std::move(before);
    beforePending_ = true;
    update();
}

void Viewport::setAfter(std::shared_ptr<const Image> after) {
    const bool first = !after_;
    after_ = std::move(after);
    afterPending_ = true;
    if (first) Q_EMIT splitMoved();
    update();
}

void Viewport::setLiveMode(bool live) {
    if (live == liveMode_) return;
    liveMode_ = live;
    drag_ = Drag::none;
    std::swap(transform_, otherTransform_);
    transform_.setSizes(shownSize(), pixelSize(), devicePixelRatioF());
    live_.reset();
    beforePending_ = afterPending_ = livePending_ = otherMode_ = true;
    changed();
}

void Viewport::setLive(std::shared_ptr<const LivePicture> live) {
    const bool otherSize = live && !(live_ && live_->picture->size() == live->picture->size());
    live_ = std::move(live);
    livePending_ = true;
    if (otherSize && liveMode_) {
        transform_.setSizes(shownSize(), pixelSize(), devicePixelRatioF());
        Q_EMIT zoomChanged(zoom());
    }
    update();
}

// As uploadPhoto().
void Viewport::uploadLive() {
    if (!std::exchange(livePending_, false)) return;
    if (std::exchange(otherMode_, false) || !live_) presenter_->clear();
    if (live_) presenter_->show(*live_->picture);
    liveDrawn_ = live_ != nullptr;
}

PresentFacts Viewport::presentFacts() const {
    PresentFacts facts{renderer_, "upload", {}, 0};
    if (!presenter_) return facts;
    const PresentPath& path = presenter_->path();
    if (path.interop) facts.path = "interop";
    facts.reason = QString::fromStdString(path.reason);
    facts.bytesUp = path.bytesUp;
    return facts;
}

int Viewport::glObjects() {
    if (!presenter_) return 0;
    makeCurrent();
    const int count = countGlObjects();
    doneCurrent();
    return count;
}

void Viewport::reportLive() {
    if (!liveDrawn_ || !live_) return;
    liveDrawn_ = false;
    Q_EMIT livePresented(live_, liveMs_);
}

// Only in paintGL(): the context is current there, and a picture that was replaced meanwhile is never uploaded.
void Viewport::uploadPhoto() {
    const bool before = std::exchange(beforePending_, false), after = std::exchange(afterPending_, false);
    if (std::exchange(otherMode_, false) || (before && !after_)) presenter_->clear();
    if (before && before_) presenter_->setBefore(before_->view());
    if (after && after_) presenter_->setAfter(after_->view());
}

/// Shows nothing where the graphics driver can't do `work`.
template <typename Work>
void Viewport::orNothing(const Work& work) {
    try {
        work();
    } catch (const Error& error) {
        presenter_->clear();
        Q_EMIT failed(QString::fromStdString(error.what()));
    }
}

void Viewport::paintGL() {
    if (!presenter_) return;
    const Stopwatch watch;
    orNothing([this] { liveMode_ ? uploadLive() : uploadPhoto(); });
    const Size pixels = pixelSize();
    View view;
    view.left = transform_.left();
    view.top = transform_.top();
    view.width = transform_.width();
    view.height = transform_.height();
    view.splitHandle = splitShown();
    view.split = originalHeld_ && !liveMode_ ? pixels.width : splitShown() ? std::round(split_ * pixels.width) : 0;
    view.sharpPixels = zoom() >= kSharpFrom;
    view.pixelRatio = devicePixelRatioF();
    view.surround = toRgb(colors_.surround);
    view.checker[0] = toRgb(colors_.checkerLight);
    view.checker[1] = toRgb(colors_.checkerDark);
    orNothing([&] { presenter_->draw(view, pixels); });
    liveMs_ = watch.ms();
}

double Viewport::pictureTop() const {
    return std::max(0.0, transform_.top() / devicePixelRatioF());
}

bool Viewport::overSplit(QPointF at) const {
    return splitShown() && std::abs(at.x() - splitPosition()) <= kSplitReach;
}

void Viewport::setSplitVisible(bool visible) {
    splitVisible_ = visible;
    Q_EMIT splitMoved();
    update();
}

void Viewport::setOriginalHeld(bool held) {
    if (held == originalHeld_) return;
    originalHeld_ = held;
    Q_EMIT splitMoved();
    update();
}

void Viewport::setColors(const CanvasColors& colors) {
    colors_ = colors;
    update();
}

void Viewport::changed() {
    Q_EMIT zoomChanged(zoom());
    Q_EMIT splitMoved();
    update();
}

void Viewport::fit() {
    transform_.fit();
    changed();
}

void Viewport::zoomTo(double zoom) {
    const Size pixels = pixelSize();
    transform_.zoomTo(zoom, pixels.width / 2.0, pixels.height / 2.0);
    changed();
}

void Viewport::zoomBy(double factor) {
    zoomTo(zoom() * factor);
}

void Viewport::wheelEvent(QWheelEvent* event) {
    if (!hasPicture()) return event->ignore();
    const QPointF at = inPixels(event->position());
    if (event->modifiers() & Qt::ShiftModifier) {
        // Some desktops turn the wheel sideways with Shift.
        const QPoint turned = event->angleDelta();
        Q_EMIT personScaled(std::pow(kScaleStep, (turned.y() ? turned.y() : turned.x()) / kNotch));
        wheelRests_.start();
        return event->accept();
    }
    const bool touchpad = !event->pixelDelta().isNull() && event->phase() != Qt::NoScrollPhase;
    if (touchpad && !(event->modifiers() & Qt::ControlModifier)) {
        const QPointF by = inPixels(QPointF(event->pixelDelta()));
        transform_.pan(by.x(), by.y());
    } else {
        transform_.zoomAt(std::pow(kWheelStep, event->angleDelta().y() / kNotch), at.x(), at.y());
    }
    changed();
    event->accept();
}

bool Viewport::event(QEvent* event) {
    if (event->type() == QEvent::NativeGesture && hasPicture()) {
        const auto& gesture = static_cast<const QNativeGestureEvent&>(*event);
        if (gesture.gestureType() == Qt::ZoomNativeGesture) {
            const QPointF at = inPixels(gesture.position());
            transform_.zoomAt(1 + gesture.value(), at.x(), at.y());
            changed();
            return true;
        }
    }
    return QOpenGLWidget::event(event);
}

void Viewport::updateCursor(QPointF at) {
    if (drag_ == Drag::pan) {
        setCursor(Qt::ClosedHandCursor);
    } else if (drag_ == Drag::person) {
        setCursor(Qt::SizeAllCursor);
    } else if (drag_ == Drag::split || (overSplit(at) && !spaceHeld_)) {
        setCursor(Qt::SplitHCursor);
    } else if (hasPicture() && (spaceHeld_ || !transform_.fitted())) {
        setCursor(Qt::OpenHandCursor);
    } else {
        unsetCursor();
    }
}

void Viewport::mousePressEvent(QMouseEvent* event) {
    const bool left = event->button() == Qt::LeftButton;
    lastMouse_ = event->position();
    if (left && !spaceHeld_ && overSplit(lastMouse_)) {
        drag_ = Drag::split;
        grabOffset_ = splitPosition() - lastMouse_.x();
    } else if (hasPicture() && left && event->modifiers() & Qt::ShiftModifier) {
        drag_ = Drag::person;
    } else if (hasPicture() && (left || event->button() == Qt::MiddleButton)) {
        drag_ = Drag::pan;
    }
    updateCursor(lastMouse_);
}

void Viewport::mouseMoveEvent(QMouseEvent* event) {
    const QPointF at = event->position();
    if (drag_ == Drag::split) {
        split_ = std::clamp((at.x() + grabOffset_) / width(), kSplitLimits[0], kSplitLimits[1]);
        Q_EMIT splitMoved();
        update();
    } else if (drag_ == Drag::pan) {
        const QPointF by = inPixels(at - lastMouse_);
        transform_.pan(by.x(), by.y());
        Q_EMIT splitMoved();
        update();
    } else if (drag_ == Drag::person && hasPicture()) {
        const QPointF by = inPixels(at - lastMouse_);
        Q_EMIT personDragged({by.x() / transform_.width(), by.y() / transform_.height()});
    }
    lastMouse_ = at;
    updateCursor(at);
}

void Viewport::mouseReleaseEvent(QMouseEvent* event) {
    if (drag_ == Drag::person) Q_EMIT personLetGo();
    drag_ = Drag::none;
    updateCursor(event->position());
}

void Viewport::mouseDoubleClickEvent(QMouseEvent* event) {
    if (!hasPicture() || overSplit(event->position())) return mousePressEvent(event);
    const QPointF at = inPixels(event->position());
    if (transform_.fitted()) {
        transform_.zoomTo(1, at.x(), at.y());
    } else {
        transform_.fit();
    }
    changed();
}

void Viewport::keyPressEvent(QKeyEvent* event) {
    if (event->key() != Qt::Key_Space || liveMode_) return event->ignore();
    spaceHeld_ = true;
    updateCursor(lastMouse_);
}

void Viewport::keyReleaseEvent(QKeyEvent* event) {
    if (event->key() != Qt::Key_Space || liveMode_) return event->ignore();
    spaceHeld_ = event->isAutoRepeat();
    updateCursor(lastMouse_);
}

}  // namespace matte
