// SPDX-License-Identifier: Apache-2.0
#include "gui/timing/timing_overlay.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <utility>

#include "inference/core/stopwatch.h"

namespace matte {
namespace {

constexpr int kDrawsASecond = 4, kFontPixels = 12;
constexpr int kFooterMargin = 14, kBelowFooter = 26;  // the last line is paintTiming()'s
constexpr std::size_t kHistory = 120;                 // half a minute
constexpr std::size_t kEnough = 60;                   // frames for a median that says something

}  // namespace

TimingOverlay::TimingOverlay(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("Timing"));
    setAccessibleDescription(tr("Left and right choose a layer of the network"));
    setFocusPolicy(Qt::TabFocus);
    view_.history = &history_;
    timer_.setInterval(1000 / kDrawsASecond);
    connect(&timer_, &QTimer::timeout, this, &TimingOverlay::refresh);
    hide();
}

void TimingOverlay::clear() {
    history_.clear();
    cost_.frameOnMs = cost_.frameOffMs = 0;
    withIt_.clear();
    remembered_ = 0;
    sampled_ = hidden_ = 0;
}

QSize TimingOverlay::sizeHint() const {
    return {640, timingHeight(view_.selected >= 0) + (footer_ ? footer_->sizeHint().height() : 0)};
}

/// What a frame took just before is what it is compared with, if all that is remembered is of frames without overlay.
void TimingOverlay::showEvent(QShowEvent*) {
    withIt_.clear();
    cost_.frameOnMs = cost_.frameOffMs = 0;
    if (report_) {
        const LiveStatistics before = report_().statistics;
        remembered_ = before.frame.ms.samples;
        sampled_ = before.framesOut;
        if (remembered_ >= kEnough && sampled_ - hidden_ >= remembered_) cost_.frameOffMs = before.frame.ms.p50;
    }
    refresh();
    timer_.start();
}

void TimingOverlay::hideEvent(QHideEvent*) {
    timer_.stop();
    hidden_ = view_.report.statistics.framesOut;
}

void TimingOverlay::setFooter(QWidget* footer) {
    footer_ = footer;
    footer_->setParent(this);
    footer_->show();
    Q_EMIT resized();
}

bool TimingOverlay::event(QEvent* event) {
    const bool isLayout = event->type() == QEvent::LayoutRequest;  // also when the footer only shows another text
    if (isLayout && sizeHint().height() != height()) Q_EMIT resized();
    return QWidget::event(event);
}

void TimingOverlay::resizeEvent(QResizeEvent*) {
    if (footer_) {
        const int high = footer_->sizeHint().height();
        footer_->setGeometry(kFooterMargin, height() - kBelowFooter - high, width() - 2 * kFooterMargin, high);
    }
    draw();
}

void TimingOverlay::refresh() {
    if (!report_ || !isVisible()) return;
    const Stopwatch watch;
    view_.report = report_();
    compare();
    view_.report.overlay = cost_;
    remember();
    draw();
    cost_.drawMs = watch.ms() * kDrawsASecond;
}

/// What the report says of all frames is of some before the overlay was shown too, for the first seconds.
void TimingOverlay::compare() {
    const LiveStatistics& statistics = view_.report.statistics;
    if (statistics.frame.ms.samples < remembered_) {  // another engine or implementation: no comparison
        withIt_.clear();
        cost_.frameOnMs = cost_.frameOffMs = 0;
    }
    remembered_ = statistics.frame.ms.samples;
    if (std::exchange(sampled_, statistics.framesOut) == statistics.framesOut) return;
    withIt_.add(statistics.frame.newest);
    if (withIt_.count() >= kEnough) cost_.frameOnMs = withIt_.percentiles().p50;
}

void TimingOverlay::remember() {
    const auto& layers = view_.report.statistics.layerMs;
    history_.resize(layers.size());
    for (std::size_t i = 0; i < layers.size(); ++i) {
        history_[i].push_back(layers[i].newest);
        if (history_[i].size() > kHistory) history_[i].pop_front();
    }
}

void TimingOverlay::draw() {
    if (size().isEmpty()) return;
    const double ratio = devicePixelRatioF();
    const QSize pixels = size() * ratio;
    if (drawn_.size() != pixels) drawn_ = QPixmap(pixels);
    drawn_.setDevicePixelRatio(ratio);
    drawn_.fill(Qt::transparent);
    QPainter painter(&drawn_);
    QFont small = font();
    small.setPixelSize(kFontPixels);
    painter.setFont(small);
    paintTiming(painter, size(), view_);
    update();
}

void TimingOverlay::paintEvent(QPaintEvent*) {
    QPainter(this).drawPixmap(0, 0, drawn_);
}

void TimingOverlay::select(int layer) {
    if (layer == view_.selected) return;
    view_.selected = layer;
    Q_EMIT resized();
    draw();
}

void TimingOverlay::mousePressEvent(QMouseEvent* event) {
    const int layer = TimingLayout(size()).layerAt(event->pos(), layers());
    select(layer == view_.selected ? -1 : layer);
}

void TimingOverlay::keyPressEvent(QKeyEvent* event) {
    const int step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
    if (step == 0 || layers() == 0) return QWidget::keyPressEvent(event);
    select(std::clamp(view_.selected + step, 0, layers() - 1));
}

}  // namespace matte
