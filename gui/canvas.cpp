// SPDX-License-Identifier: Apache-2.0
#include "gui/canvas.h"

#include <QLabel>
#include <QPainter>

#include <algorithm>

#include "gui/banner.h"
#include "gui/progress_pill.h"
#include "gui/viewport.h"
#include "gui/welcome.h"

namespace matte {
namespace {

constexpr int kMargin = 14, kBannerWidth = 620;

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

Canvas::Canvas(QAction* open, QAction* sample, QWidget* parent)
    : QWidget(parent),
      viewport_(new Viewport(this)),
      welcome_(new Welcome(open, sample, this)),
      dropMark_(new DropMark(this)),
      before_(chip(this)),
      after_(chip(this)),
      viewName_(chip(this)),
      banner_(new Banner(this)),
      progress_(new ProgressPill(this)) {
    before_->setText(tr("Before"));
    setAfterName(tr("After"));
    setMinimumSize(320, 240);
    connect(viewport_, &Viewport::splitMoved, this, &Canvas::arrangeChips);
    connect(banner_, &Banner::resized, this, &Canvas::arrange);
    connect(progress_, &ProgressPill::resized, this, &Canvas::arrange);
}

void Canvas::hideWelcome() {
    welcome_->hide();
}

bool Canvas::welcoming() const {
    return !welcome_->isHidden();
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

void Canvas::resizeEvent(QResizeEvent*) {
    arrange();
}

void Canvas::arrange() {
    for (QWidget* whole : {static_cast<QWidget*>(viewport_), static_cast<QWidget*>(welcome_), dropMark_}) {
        whole->setGeometry(rect());
    }
    const int bannerWidth = std::min(kBannerWidth, width() - 2 * kMargin);
    const int bannerHeight = std::max(banner_->heightForWidth(bannerWidth), banner_->minimumSizeHint().height());
    banner_->setGeometry((width() - bannerWidth) / 2, kMargin, bannerWidth, bannerHeight);
    progress_->adjustSize();
    progress_->move((width() - progress_->width()) / 2, height() - progress_->height() - 2 * kMargin);
    viewName_->adjustSize();
    viewName_->move(kMargin, height() - viewName_->height() - kMargin);
    arrangeChips();
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
