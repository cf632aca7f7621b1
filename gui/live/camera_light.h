// SPDX-License-Identifier: Apache-2.0
// CameraLight: says over the picture that somebody is being filmed, for as long as it may be so, while a lost camera
// is tried again too. GUI thread.
#pragma once

#include <QWidget>

namespace matte {

class CameraLight : public QWidget {
    Q_OBJECT

public:
    explicit CameraLight(QWidget* parent);
    /// `name` of what is captured; empty puts the light out.
    void showCapturing(const QString& name, bool camera);
    [[nodiscard]] QString text() const { return text_; }
    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString text_;
    bool camera_ = false;
};

}  // namespace matte
