// SPDX-License-Identifier: Apache-2.0
// SliderRow: a named slider with its value. Signals the end of a gesture, so that a drag can be undone in one step. A
// double click sets the default value. GUI thread.
#pragma once

#include <QTimer>
#include <QWidget>

class QSlider;
class QSpinBox;

namespace matte {

class SliderRow : public QWidget {
    Q_OBJECT

public:
    struct Range {
        int least, most, standard;
    };
    SliderRow(const QString& name, const QString& tip, Range range, QWidget* parent = nullptr);

    [[nodiscard]] int value() const;
    /// Without signals.
    void showValue(int value);
    [[nodiscard]] QSlider& slider() { return *slider_; }

Q_SIGNALS:
    void valueChanged(int value);
    void gestureFinished();

protected:
    bool eventFilter(QObject* object, QEvent* event) override;

private:
    void take(int value);

    Range range_;
    QSlider* slider_;
    QSpinBox* box_;
    QTimer settled_;  ///< ends a gesture of keys or the wheel, which have no release
};

}  // namespace matte
