// SPDX-License-Identifier: Apache-2.0
#include "gui/window/compact_window.h"

#include <QMouseEvent>
#include <QScreen>
#include <QWindow>

namespace matte {
namespace {

constexpr QSize kCornerSize{400, 225}, kLeastCorner{160, 90};
constexpr int kCornerGap = 24;

}  // namespace

CompactWindow::CompactWindow(QMainWindow& window, const QList<QWidget*>& surround, QWidget& picture)
    : QObject(&window), window_(window), surround_(surround), picture_(picture) {
    picture_.installEventFilter(this);
    picture_.parentWidget()->installEventFilter(this);  // to which the page over the picture leaves its clicks
}

void CompactWindow::setCompact(bool compact) {
    if (compact == compact_) return;
    compact_ = compact;
    if (compact) {
        hidden_.clear();
        for (QWidget* part : surround_) {
            if (part->isHidden()) continue;
            part->hide();
            hidden_.append(part);
        }
    } else {
        for (QWidget* part : hidden_) part->show();
        Q_EMIT left();
    }
}

void CompactWindow::setFullScreen(bool on, bool compact) {
    if (corner_) setCorner(false);
    if (on && !window_.isFullScreen()) windowed_ = window_.saveGeometry();
    setCompact(on && compact);
    window_.setWindowState(window_.windowState().setFlag(Qt::WindowFullScreen, on));
}

void CompactWindow::setCorner(bool on) {
    if (on == corner_) return;
    QWidget* canvas = picture_.parentWidget();
    if (on) {
        const bool whole = window_.isFullScreen();
        if (whole) setFullScreen(false, false);
        // The desktop makes it small when it comes to that: until then its size is the screen's.
        geometry_ = whole && !windowed_.isEmpty() ? windowed_ : window_.saveGeometry();
        leastPicture_ = canvas->minimumSize();
    }
    corner_ = on;
    setCompact(on);
    canvas->setMinimumSize(on ? kLeastCorner : leastPicture_);
    window_.setWindowFlag(Qt::FramelessWindowHint, on);
    window_.setWindowFlag(Qt::WindowStaysOnTopHint, on);
    window_.show();  // other flags make another window of it, which is hidden at first
    if (on) {
        const QRect room = window_.screen()->availableGeometry().adjusted(0, 0, -kCornerGap, -kCornerGap);
        window_.resize(kCornerSize);
        window_.move(room.right() - kCornerSize.width(), room.bottom() - kCornerSize.height());
    } else {
        window_.restoreGeometry(geometry_);
    }
    window_.activateWindow();
}

bool CompactWindow::eventFilter(QObject* object, QEvent* event) {
    if (corner_ && event->type() == QEvent::MouseButtonDblClick) {
        Q_EMIT leaveWanted();
        return true;
    }
    if (corner_ && event->type() == QEvent::MouseButtonPress && window_.windowHandle()) {
        const auto& press = static_cast<const QMouseEvent&>(*event);
        if (press.button() == Qt::LeftButton && !press.modifiers()) {
            window_.windowHandle()->startSystemMove();
            return true;
        }
    }
    return QObject::eventFilter(object, event);
}

}  // namespace matte
