// SPDX-License-Identifier: Apache-2.0
// ProgressPill: what is being waited for, with a way out. GUI thread.
#pragma once

#include <QFrame>
#include <QTimer>

class QLabel;

namespace matte {

class ProgressPill : public QFrame {
    Q_OBJECT

public:
    explicit ProgressPill(QWidget* parent);
    /// Empty hides it. Appears a moment later, so that quick work does not flicker.
    void setStage(const QString& stage);
    [[nodiscard]] bool isBusy() const { return busy_; }

Q_SIGNALS:
    void cancelRequested();
    void resized();

private:
    QLabel* label_;
    QTimer showLater_;
    bool busy_ = false;
};

}  // namespace matte
