// SPDX-License-Identifier: Apache-2.0
// ColorRow: buttons for some colours, and a dialog for any other. GUI thread.
#pragma once

#include <QColor>
#include <QList>
#include <QWidget>

namespace matte {

class Swatch;

class ColorRow : public QWidget {
    Q_OBJECT

public:
    explicit ColorRow(QWidget* parent = nullptr);
    [[nodiscard]] QColor color() const { return color_; }
    /// Without signals.
    void showColor(const QColor& color);

Q_SIGNALS:
    void colorChanged(const QColor& color);
    void gestureFinished();  ///< the dialog was closed, or a swatch was clicked

private:
    void take(const QColor& color);
    void openDialog();

    QColor color_;
    QList<Swatch*> swatches_;
    Swatch* other_;
};

}  // namespace matte
