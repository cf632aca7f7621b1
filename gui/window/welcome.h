// SPDX-License-Identifier: Apache-2.0
// Welcome: what the canvas shows before there is a photo: where to drop one, and three ways in. GUI thread.
#pragma once

#include <QList>
#include <QWidget>

class QBoxLayout;

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
    void resizeEvent(QResizeEvent* event) override;

private:
    [[nodiscard]] QRectF dropArea() const;

    QBoxLayout* buttons_;
    QList<QWidget*> ornaments_;  ///< what can be left out, from what is missed least on
    bool dropActive_ = false;
};

}  // namespace matte
