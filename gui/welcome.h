// SPDX-License-Identifier: Apache-2.0
// Welcome: what the canvas shows before there is a photo: where to drop one, and three ways in. GUI thread.
#pragma once

#include <QWidget>

namespace matte {

class Actions;

class Welcome : public QWidget {
    Q_OBJECT

public:
    Welcome(const Actions& actions, QWidget* parent);
    /// Marks the place while something is dragged over the window.
    void setDropActive(bool active);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    [[nodiscard]] QRectF dropArea() const;
    bool dropActive_ = false;
};

}  // namespace matte
