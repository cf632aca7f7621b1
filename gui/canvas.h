// SPDX-License-Identifier: Apache-2.0
// Canvas: the viewport and what lies over it: the welcome, the banner, the progress, the names beside the split, the
// mark of a drop. GUI thread.
#pragma once

#include <QWidget>

class QAction;
class QLabel;

namespace matte {

class Banner;
class ProgressPill;
class Viewport;
class Welcome;

class Canvas : public QWidget {
    Q_OBJECT

public:
    Canvas(QAction* open, QAction* sample, QWidget* parent = nullptr);
    [[nodiscard]] Viewport& viewport() { return *viewport_; }
    [[nodiscard]] Banner& banner() { return *banner_; }
    [[nodiscard]] ProgressPill& progress() { return *progress_; }
    void hideWelcome();
    [[nodiscard]] bool welcoming() const;
    void setDropActive(bool active);
    /// Named in a corner; empty for the usual one.
    void setViewName(const QString& name);
    void setAfterName(const QString& name);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void arrange();
    void arrangeChips();

    Viewport* viewport_;
    Welcome* welcome_;
    QWidget* dropMark_;
    QLabel* before_;
    QLabel* after_;
    QLabel* viewName_;
    Banner* banner_;
    ProgressPill* progress_;
};

}  // namespace matte
