// SPDX-License-Identifier: Apache-2.0
// CompactWindow: the main window with nothing but the picture: over the whole screen, or as a small window in a corner
// that stays above the others. Everything comes back as it was. GUI thread.
#pragma once

#include <QMainWindow>

namespace matte {

class CompactWindow : public QObject {
    Q_OBJECT

public:
    /// `surround` is what is hidden; `picture`, and what its parent lays over it, moves the small window when it is
    /// dragged.
    CompactWindow(QMainWindow& window, const QList<QWidget*>& surround, QWidget& picture);
    void setFullScreen(bool on, bool compact);
    void setCorner(bool on);
    [[nodiscard]] bool inCorner() const { return corner_; }
    /// The geometry to remember: the large window's.
    [[nodiscard]] QByteArray geometry() const { return corner_ ? geometry_ : window_.saveGeometry(); }

Q_SIGNALS:
    /// The small window was double-clicked: it is to be large again.
    void leaveWanted();
    /// What surrounds the picture is back.
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
