// SPDX-License-Identifier: Apache-2.0
#include "gui/panels/picture_well.h"

#include <QDragEnterEvent>
#include <QMimeData>
#include <QPainter>
#include <QPainterPath>
#include <QUrl>

#include "gui/app/icons.h"
#include "gui/app/qt_image.h"

namespace matte {
namespace {

constexpr int kThumbnailSide = 640;  // enough for the panel's width at 2x

QString droppedFile(const QDropEvent& event) {
    const QList<QUrl> urls = event.mimeData()->urls();
    return urls.size() == 1 ? urls.first().toLocalFile() : QString();
}

}  // namespace

PictureWell::PictureWell(QWidget* parent) : QAbstractButton(parent) {
    setAcceptDrops(true);
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Background picture"));
    setToolTip(tr("Choose a picture or a video, or drop one here"));
}

void PictureWell::setPicture(std::shared_ptr<const Image> picture, const QString& name, bool moving) {
    if (picture == picture_) return;
    picture_ = std::move(picture);
    moving_ = moving;
    setAccessibleDescription(name);
    thumbnail_ = {};
    if (picture_) {
        thumbnail_ = QPixmap::fromImage(
            toQImage(picture_).scaled(kThumbnailSide, kThumbnailSide, Qt::KeepAspectRatio, Qt::FastTransformation));
    }
    update();
}

void PictureWell::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHints(QPainter::Antialiasing | QPainter::SmoothPixmapTransform);
    const QRectF area = QRectF(rect()).adjusted(1, 1, -1, -1);
    QPainterPath shape;
    shape.addRoundedRect(area, 8, 8);
    painter.fillPath(shape, palette().color(QPalette::Base));
    if (thumbnail_.isNull()) {
        const QPoint middle = rect().center();
        glyph("image").paint(&painter, QRect(middle.x() - 13, middle.y() - 28, 26, 26));
        painter.setPen(palette().color(QPalette::PlaceholderText));
        painter.drawText(rect().adjusted(8, 34, -8, 0), Qt::AlignCenter, tr("Choose or drop a picture or video"));
    } else {
        painter.setClipPath(shape);
        QSizeF size = thumbnail_.size();
        size.scale(area.size(), Qt::KeepAspectRatioByExpanding);
        QRectF target(QPointF(), size);
        target.moveCenter(area.center());
        painter.drawPixmap(target, thumbnail_, QRectF(thumbnail_.rect()));
        painter.setClipping(false);
        if (moving_) drawPlayMark(painter, QRectF(rect()).center(), 18);
    }
    const bool marked = dropActive_ || hasFocus() || underMouse();
    QColor edge = palette().color(marked ? QPalette::Link : QPalette::Mid);
    if (!marked) edge.setAlphaF(0.4F);
    painter.setPen(QPen(edge, dropActive_ ? 2 : 1));
    painter.drawPath(shape);
}

void PictureWell::dragEnterEvent(QDragEnterEvent* event) {
    if (droppedFile(*event).isEmpty()) return;
    dropActive_ = true;
    event->acceptProposedAction();
    update();
}

void PictureWell::dragLeaveEvent(QDragLeaveEvent*) {
    dropActive_ = false;
    update();
}

void PictureWell::dropEvent(QDropEvent* event) {
    dropActive_ = false;
    update();
    event->acceptProposedAction();
    Q_EMIT dropped(droppedFile(*event));
}

}  // namespace matte
