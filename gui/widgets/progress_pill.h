// SPDX-License-Identifier: Apache-2.0
// ProgressPill: the work in progress, with a button to cancel it. GUI thread.
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
    /// An empty stage hides it. It is shown after a moment, so that quick work does not flicker. `share` is that of the
    /// work done, 0 to 1; below 0: not known.
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
