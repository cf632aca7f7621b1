// SPDX-License-Identifier: Apache-2.0
// CameraLight: the sign over the picture that a camera may be on, also while a lost one is opened again. GUI thread.
#pragma once

#include <QWidget>

namespace matte {

class CameraLight : public QWidget {
    Q_OBJECT

public:
    explicit CameraLight(QWidget* parent);
    /// `name` is the source's; empty turns the light off.
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
