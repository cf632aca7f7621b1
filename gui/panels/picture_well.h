// SPDX-License-Identifier: Apache-2.0
// PictureWell: a thumbnail of the background picture, or of a video's first frame. It can be clicked, and takes a
// dropped file. GUI thread.
#pragma once

#include <QAbstractButton>

#include <memory>

#include "inference/core/image.h"

namespace matte {

class PictureWell : public QAbstractButton {
    Q_OBJECT

public:
    explicit PictureWell(QWidget* parent = nullptr);
    void setPicture(std::shared_ptr<const Image> picture, const QString& name, bool moving);
    [[nodiscard]] QSize sizeHint() const override { return {200, 118}; }

Q_SIGNALS:
    void dropped(const QString& path);

protected:
    void paintEvent(QPaintEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    QPixmap thumbnail_;
    std::shared_ptr<const Image> picture_;  ///< what thumbnail_ was made of
    bool moving_ = false, dropActive_ = false;
};

}  // namespace matte
