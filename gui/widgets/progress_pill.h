// SPDX-License-Identifier: Apache-2.0
// ProgressPill: what is being waited for, with a way out. GUI thread.
#pragma once

#include <QFrame>
#include <QTimer>

class QLabel;
class QProgressBar;

namespace matte {

class ProgressPill : public QFrame {
    Q_OBJECT

public:
    explicit ProgressPill(QWidget* parent);
    /// Empty hides it. Appears a moment later, so that quick work does not flicker. `share` of the work is done, 0 to
    /// 1; below 0: nobody knows.
    void setStage(const QString& stage, double share = -1);
    [[nodiscard]] bool isBusy() const { return busy_; }

Q_SIGNALS:
    void cancelRequested();
    void resized();

private:
    QLabel* label_;
    QProgressBar* bar_;
    QTimer showLater_;
    bool busy_ = false;
};

}  // namespace matte
