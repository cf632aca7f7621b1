// SPDX-License-Identifier: Apache-2.0
#include "gui/timing_overlay.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <chrono>

namespace matte {
namespace {

constexpr int kDrawsASecond = 4, kFontPixels = 12;
constexpr int kFooterMargin = 14, kBelowFooter = 26;  // the last line is paintTiming()'s
constexpr std::size_t kHistory = 120;                 // half a minute

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
    cost_.frameOffMs = 0;
}

QSize TimingOverlay::sizeHint() const {
    return {640, timingHeight(view_.selected >= 0) + (footer_ ? footer_->sizeHint().height() : 0)};
}

/// What a frame took just before is what it is compared with.
void TimingOverlay::showEvent(QShowEvent*) {
    if (report_) cost_.frameOffMs = report_().statistics.frame.ms.p50;
    refresh();
    timer_.start();
}

void TimingOverlay::hideEvent(QHideEvent*) {
    timer_.stop();
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
    const auto begin = std::chrono::steady_clock::now();
    view_.report = report_();
    cost_.frameOnMs = view_.report.statistics.frame.ms.p50;
    view_.report.overlay = cost_;
    remember();
    draw();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    cost_.drawMs = took.count() * kDrawsASecond;
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
