// SPDX-License-Identifier: Apache-2.0
// Toggle: a check box that looks like a switch. GUI thread.
#pragma once

#include <QCheckBox>

namespace matte {

class Toggle : public QCheckBox {
    Q_OBJECT

public:
    explicit Toggle(const QString& text, QWidget* parent = nullptr);
    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    [[nodiscard]] bool hitButton(const QPoint& at) const override { return rect().contains(at); }
};

}  // namespace matte
