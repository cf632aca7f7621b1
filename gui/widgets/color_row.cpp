// SPDX-License-Identifier: Apache-2.0
#include "gui/widgets/color_row.h"

#include <QAbstractButton>
#include <QColorDialog>
#include <QGridLayout>
#include <QPainter>

#include <algorithm>

#include "gui/app/icons.h"

namespace matte {
namespace {

constexpr int kSide = 34, kColumns = 6;

struct Preset {
    const char* hex;
    const char* name;
};

// Studio greys and papers first, then the colours that keying and passport photos ask for.
constexpr Preset kPresets[] = {
    {"#ffffff", QT_TRANSLATE_NOOP("matte::ColorRow", "White")},
    {"#e9e4dc", QT_TRANSLATE_NOOP("matte::ColorRow", "Paper")},
    {"#b9bec6", QT_TRANSLATE_NOOP("matte::ColorRow", "Light grey")},
    {"#5b616b", QT_TRANSLATE_NOOP("matte::ColorRow", "Slate")},
    {"#24272c", QT_TRANSLATE_NOOP("matte::ColorRow", "Charcoal")},
    {"#000000", QT_TRANSLATE_NOOP("matte::ColorRow", "Black")},
    {"#cfe0f5", QT_TRANSLATE_NOOP("matte::ColorRow", "Sky")},
    {"#2f5d8c", QT_TRANSLATE_NOOP("matte::ColorRow", "Blue")},
    {"#00b140", QT_TRANSLATE_NOOP("matte::ColorRow", "Green screen")},
    {"#e8b04a", QT_TRANSLATE_NOOP("matte::ColorRow", "Amber")},
    {"#b5473c", QT_TRANSLATE_NOOP("matte::ColorRow", "Brick")},
};

}  // namespace

/// A round button of one colour; without a colour, a plus.
class Swatch : public QAbstractButton {
public:
    explicit Swatch(const QColor& color) : color_(color) {
        setFixedSize(kSide, kSide);
        setCheckable(true);
        setCursor(Qt::PointingHandCursor);
        setFocusPolicy(Qt::StrongFocus);
    }
    void setColor(const QColor& color) {
        color_ = color;
        update();
    }
    [[nodiscard]] QColor color() const { return color_; }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        QColor edge = palette().color(QPalette::WindowText);
        edge.setAlphaF(0.25F);
        const QRectF disc = QRectF(rect()).adjusted(5, 5, -5, -5);
        if (isChecked() || hasFocus()) {
            painter.setPen(QPen(palette().color(QPalette::Link), 2, isChecked() ? Qt::SolidLine : Qt::DotLine));
            painter.drawEllipse(QRectF(rect()).adjusted(1.5, 1.5, -1.5, -1.5));
        }
        painter.setPen(QPen(edge, 1));
        painter.setBrush(color_.isValid() ? QBrush(color_) : QBrush(Qt::NoBrush));
        painter.drawEllipse(disc);
        if (!color_.isValid()) glyph("plus").paint(&painter, disc.toRect().adjusted(4, 4, -4, -4));
    }

private:
    QColor color_;
};

ColorRow::ColorRow(QWidget* parent) : QWidget(parent), other_(new Swatch(QColor())) {
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(6);
    for (const Preset& preset : kPresets) {
        auto* swatch = new Swatch(QColor(preset.hex));
        swatch->setToolTip(tr(preset.name));
        swatch->setAccessibleName(tr(preset.name));
        connect(swatch, &QAbstractButton::clicked, this, [this, swatch] {
            take(swatch->color());
            Q_EMIT gestureFinished();
        });
        swatches_.append(swatch);
    }
    other_->setToolTip(tr("Another colour…"));
    other_->setAccessibleName(tr("Another colour"));
    connect(other_, &QAbstractButton::clicked, this, &ColorRow::openDialog);
    swatches_.append(other_);
    for (int i = 0; i < swatches_.size(); ++i) grid->addWidget(swatches_[i], i / kColumns, i % kColumns);
    grid->setColumnStretch(kColumns, 1);
}

void ColorRow::showColor(const QColor& color) {
    color_ = color;
    const bool preset = std::any_of(swatches_.begin(), swatches_.end() - 1,
                                    [&](const Swatch* swatch) { return swatch->color() == color; });
    other_->setColor(preset ? QColor() : color);
    for (Swatch* swatch : swatches_) swatch->setChecked(swatch->color() == color);
}

void ColorRow::take(const QColor& color) {
    showColor(color);
    Q_EMIT colorChanged(color);
}

// Shows each colour at once; closing without choosing brings the old one back.
void ColorRow::openDialog() {
    showColor(color_);  // the click has checked the button
    auto* dialog = new QColorDialog(color_, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Background Colour"));
    connect(dialog, &QColorDialog::currentColorChanged, this, &ColorRow::take);
    connect(dialog, &QColorDialog::rejected, this, [this, old = color_] { take(old); });
    connect(dialog, &QColorDialog::finished, this, &ColorRow::gestureFinished);
    Q_EMIT gestureFinished();
    dialog->open();
}

}  // namespace matte
