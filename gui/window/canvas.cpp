// SPDX-License-Identifier: Apache-2.0
#include "gui/window/canvas.h"

#include <QLabel>
#include <QPainter>

#include <algorithm>

#include "gui/live/camera_light.h"
#include "gui/live/live_page.h"
#include "gui/timing/timing_overlay.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/progress_pill.h"
#include "gui/window/actions.h"
#include "gui/window/viewport.h"
#include "gui/window/welcome.h"

namespace matte {
namespace {

constexpr int kMargin = 14, kBannerWidth = 620;
constexpr double kZoomStep = 1.25;
constexpr int kAboveTiming = 120;  // for the light, and for the mark of a hidden person

/// A frame in the accent colour over the picture: let go here.
class DropMark : public QWidget {
public:
    explicit DropMark(QWidget* parent) : QWidget(parent) {
        setAttribute(Qt::WA_TransparentForMouseEvents);
        hide();
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        const QColor accent = palette().color(QPalette::Highlight);
        QColor veil = accent;
        veil.setAlphaF(0.14F);
        painter.setPen(QPen(accent, 3));
        painter.setBrush(veil);
        painter.drawRoundedRect(QRectF(rect()).adjusted(8, 8, -8, -8), 12, 12);
    }
};

QLabel* chip(QWidget* parent) {
    auto* label = new QLabel(parent);
    label->setObjectName("chip");
    label->setAttribute(Qt::WA_TransparentForMouseEvents);
    label->hide();
    return label;
}

}  // namespace

Canvas::Canvas(const Actions& actions, QWidget* parent)
    : QWidget(parent),
      viewport_(new Viewport(this)),
      welcome_(new Welcome(actions, this)),
      livePage_(new LivePage(actions[ActionId::live], actions[ActionId::useVideo], this)),
      dropMark_(new DropMark(this)),
      before_(chip(this)),
      after_(chip(this)),
      viewName_(chip(this)),
      banner_(new Banner(this)),
      progress_(new ProgressPill(this)),
      light_(new CameraLight(this)),
      timing_(new TimingOverlay(this)),
      hidden_(chip(this)) {
    before_->setText(tr("Before"));
    setAfterName(tr("After"));
    hidden_->setObjectName("hiddenMark");
    hidden_->setAlignment(Qt::AlignCenter);
    hideKey_ = actions[ActionId::hidePerson]->shortcut().toString(QKeySequence::NativeText);
    showPages();
    setMinimumSize(320, 240);
    connect(actions[ActionId::fit], &QAction::triggered, viewport_, &Viewport::fit);
    connect(actions[ActionId::actualSize], &QAction::triggered, viewport_, &Viewport::actualSize);
    connect(actions[ActionId::zoomIn], &QAction::triggered, viewport_, [this] { viewport_->zoomBy(kZoomStep); });
    connect(actions[ActionId::zoomOut], &QAction::triggered, viewport_, [this] { viewport_->zoomBy(1 / kZoomStep); });
    connect(actions[ActionId::split], &QAction::toggled, viewport_, &Viewport::setSplitVisible);
    connect(viewport_, &Viewport::failed, banner_, &Banner::showError);
    connect(viewport_, &Viewport::splitMoved, this, &Canvas::arrangeChips);
    connect(banner_, &Banner::resized, this, &Canvas::arrange);
    connect(progress_, &ProgressPill::resized, this, &Canvas::arrange);
    connect(timing_, &TimingOverlay::resized, this, &Canvas::arrange);
}

void Canvas::hideWelcome() {
    photoShown_ = true;
    showPages();
}

bool Canvas::welcoming() const {
    return !welcome_->isHidden();
}

void Canvas::setMode(Mode mode) {
    mode_ = mode;
    showPages();
}

void Canvas::setLiveShown(bool shown) {
    if (shown == liveShown_) return;
    liveShown_ = shown;
    showPages();
}

void Canvas::setTimingWanted(bool wanted) {
    timingWanted_ = wanted;
    showPages();
}

void Canvas::showPages() {
    welcome_->setVisible(mode_ == Mode::photo && !photoShown_);
    livePage_->setVisible(mode_ == Mode::live && !liveShown_);
    showTiming();
    hidden_->setVisible(mode_ == Mode::live && personHidden_);
    arrangeChips();
}

/// Not over what says that somebody is filmed, or hidden: a window without room for both has no overlay.
void Canvas::showTiming() {
    const bool room = timing_->sizeHint().height() + kAboveTiming <= height();
    timing_->setVisible(mode_ == Mode::live && liveShown_ && timingWanted_ && room);
}

void Canvas::setPersonHidden(bool hidden) {
    personHidden_ = hidden;
    showPages();
    arrange();
}

bool Canvas::personHidden() const {
    return !hidden_->isHidden();
}

void Canvas::setDropActive(bool active) {
    if (welcoming()) {
        welcome_->setDropActive(active);
    } else {
        dropMark_->setVisible(active);
    }
}

void Canvas::setViewName(const QString& name) {
    viewName_->setText(name);
    viewName_->setVisible(!name.isEmpty());
    arrange();
}

void Canvas::setAfterName(const QString& name) {
    after_->setText(name);
    arrangeChips();
}

void Canvas::arrange() {
    for (QWidget* whole : QList<QWidget*>{viewport_, welcome_, livePage_, dropMark_}) whole->setGeometry(rect());
    const int bannerWidth = std::min(kBannerWidth, width() - 2 * kMargin);
    const int bannerHeight = std::max(banner_->heightForWidth(bannerWidth), banner_->minimumSizeHint().height());
    light_->move(width() - light_->width() - kMargin, kMargin);
    const bool beside = light_->isHidden() || (width() + bannerWidth) / 2 < light_->x();
    banner_->setGeometry((width() - bannerWidth) / 2, beside ? kMargin : kMargin + light_->height() + kMargin / 2,
                         bannerWidth, bannerHeight);
    progress_->adjustSize();
    progress_->move((width() - progress_->width()) / 2, height() - progress_->height() - 2 * kMargin);
    viewName_->adjustSize();
    viewName_->move(kMargin, height() - viewName_->height() - kMargin);
    showTiming();
    const int timingHeight = timing_->sizeHint().height();
    timing_->setGeometry(kMargin, height() - timingHeight - kMargin, width() - 2 * kMargin, timingHeight);
    arrangeHidden(timing_->isHidden() ? 0 : timingHeight);
    arrangeChips();
}

/// In one line, or in several where there is no room for that; the key is left out before the picture is covered.
void Canvas::arrangeHidden(int below) {
    const QString hidden = tr("You are hidden."), again = tr("%1 shows you again.").arg(hideKey_);
    const int room = std::max(1, width() - 2 * kMargin);
    for (const QString& text : {hidden + "  " + again, hidden}) {
        hidden_->setText(text);
        hidden_->ensurePolished();
        hidden_->setWordWrap(false);
        const int line = hidden_->sizeHint().width();
        hidden_->setWordWrap(line > room);
        hidden_->resize(line > room ? QSize(room, hidden_->heightForWidth(room)) : hidden_->sizeHint());
        if (2 * hidden_->height() <= height()) break;
    }
    const int gap = std::min(2 * kMargin, std::max(0, (height() - below - hidden_->height()) / 2));
    hidden_->move((width() - hidden_->width()) / 2, height() - hidden_->height() - below - gap);
    livePage_->keepClear(hidden_->isHidden() ? 0 : height() - hidden_->y());
}

void Canvas::arrangeChips() {
    const double at = viewport_->splitPosition();
    for (QLabel* label : {before_, after_}) {
        label->setVisible(at >= 0 && !welcoming());
        label->adjustSize();
    }
    const int y = int(viewport_->pictureTop()) + kMargin;
    before_->move(int(at) - before_->width() - 10, y);
    after_->move(int(at) + 12, y);
}

}  // namespace matte
