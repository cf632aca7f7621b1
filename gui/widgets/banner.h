// SPDX-License-Identifier: Apache-2.0
// Banner: one sentence over the picture, about what went wrong or was done, that can be closed. GUI thread.
#pragma once

#include <QFrame>
#include <QTimer>

class QLabel;
class QPushButton;

namespace matte {

class Banner : public QFrame {
    Q_OBJECT

public:
    explicit Banner(QWidget* parent);
    /// Stays until it is closed or replaced.
    void showError(const QString& sentence);
    /// Goes away by itself. With `file`, offers to open its folder.
    void showDone(const QString& sentence, const QString& file = {});
    /// An error that comes back behind everything else that is shown until somebody has closed it.
    void showUntilClosed(const QString& sentence);
    /// As showDone(), but stays: of work that took so long that nobody may be there.
    void showResult(const QString& sentence, const QString& file);
    void dismiss();
    /// As dismiss(), by the user.
    void acknowledge();
    [[nodiscard]] QString text() const;
    [[nodiscard]] bool isError() const { return error_; }

Q_SIGNALS:
    void resized();
    /// It was seen, and is no longer; text() is still what it said.
    void closed();

private:
    void showText(const QString& sentence, bool error, const QString& file);

    QLabel* icon_;
    QLabel* label_;
    QPushButton* folder_;
    QString file_, untilClosed_;
    QTimer hideLater_;
    bool error_ = false;
};

}  // namespace matte
