// SPDX-License-Identifier: Apache-2.0
// Banner: a message over the picture, about an error or a result, that can be closed. GUI thread.
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
    /// Is hidden after some seconds. With `file`, it has a button that opens the folder.
    void showDone(const QString& sentence, const QString& file = {});
    /// An error that is shown again after other messages, until the user has closed it.
    void showUntilClosed(const QString& sentence);
    /// As showDone(), but stays: after long work the user may be away.
    void showResult(const QString& sentence, const QString& file);
    void dismiss();
    /// The user closes the message.
    void acknowledge();
    [[nodiscard]] QString text() const;
    [[nodiscard]] bool isError() const { return error_; }

Q_SIGNALS:
    void resized();
    /// The message is hidden; text() is still its text.
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
