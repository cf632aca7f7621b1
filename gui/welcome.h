// SPDX-License-Identifier: Apache-2.0
// Welcome: what the canvas shows before there is a photo: where to drop one, and two ways in. GUI thread.
#pragma once

#include <QWidget>

class QAction;

namespace matte {

class Welcome : public QWidget {
    Q_OBJECT

public:
    Welcome(QAction* open, QAction* sample, QWidget* parent);
    /// Marks the place while something is dragged over the window.
    void setDropActive(bool active);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    [[nodiscard]] QRectF dropArea() const;
    bool dropActive_ = false;
};

}  // namespace matte
