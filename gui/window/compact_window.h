// SPDX-License-Identifier: Apache-2.0
// CompactWindow: reduces the main window to the picture, in full screen or as a small window in a corner that stays
// above other windows, and restores it. GUI thread.
#pragma once

#include <QMainWindow>

namespace matte {

class CompactWindow : public QObject {
    Q_OBJECT

public:
    /// `surround` is hidden. A drag of `picture`, or of the widgets that its parent has over it, moves the small
    /// window.
    CompactWindow(QMainWindow& window, const QList<QWidget*>& surround, QWidget& picture);
    void setFullScreen(bool on, bool compact);
    void setCorner(bool on);
    [[nodiscard]] bool inCorner() const { return corner_; }
    /// The geometry of the large window, to be stored.
    [[nodiscard]] QByteArray geometry() const { return corner_ ? geometry_ : window_.saveGeometry(); }

Q_SIGNALS:
    /// The small window was double-clicked: the user wants the large one.
    void leaveWanted();
    /// The widgets around the picture are shown again.
    void left();

protected:
    bool eventFilter(QObject* object, QEvent* event) override;

private:
    void setCompact(bool compact);

    QMainWindow& window_;
    QList<QWidget*> surround_, hidden_;
    QWidget& picture_;
    QByteArray geometry_;  ///< of the large window, while there is the small one
    QByteArray windowed_;  ///< before it filled the screen
    QSize leastPicture_;
    bool compact_ = false, corner_ = false;
};

}  // namespace matte
