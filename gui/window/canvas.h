// SPDX-License-Identifier: Apache-2.0
// Canvas: the viewport and the widgets over it: the welcome page or the live page, the banner, the progress, the labels
// beside the split, the camera light and the drop mark. GUI thread.
#pragma once

#include <QWidget>

#include "gui/app/settings.h"

class QLabel;

namespace matte {

class Actions;
class Banner;
class CameraLight;
class LivePage;
class ProgressPill;
class TimingOverlay;
class Viewport;
class Welcome;

class Canvas : public QWidget {
    Q_OBJECT

public:
    explicit Canvas(const Actions& actions, QWidget* parent = nullptr);
    [[nodiscard]] Viewport& viewport() { return *viewport_; }
    [[nodiscard]] Banner& banner() { return *banner_; }
    [[nodiscard]] ProgressPill& progress() { return *progress_; }
    [[nodiscard]] LivePage& livePage() { return *livePage_; }
    [[nodiscard]] CameraLight& light() { return *light_; }
    [[nodiscard]] TimingOverlay& timing() { return *timing_; }
    void hideWelcome();
    void setMode(Mode mode);
    /// Shows the timing overlay over live pictures, where there is room for it.
    void setTimingWanted(bool wanted);
    /// In live mode, shows the picture in place of the page.
    void setLiveShown(bool shown);
    [[nodiscard]] bool liveShown() const { return liveShown_; }
    /// In live mode, shows a large label while the person is hidden.
    void setPersonHidden(bool hidden);
    [[nodiscard]] bool personHidden() const;
    [[nodiscard]] bool welcoming() const;
    void setDropActive(bool active);
    /// The label of the view in a corner; empty for none.
    void setViewName(const QString& name);
    void setAfterName(const QString& name);
    /// Lays the widgets out again, after one of them has changed its size.
    void arrange();

protected:
    void resizeEvent(QResizeEvent*) override { arrange(); }

private:
    void arrangeChips();
    void arrangeHidden(int below);
    void showPages();
    void showTiming();

    Viewport* viewport_;
    Welcome* welcome_;
    LivePage* livePage_;
    QWidget* dropMark_;
    QLabel* before_;
    QLabel* after_;
    QLabel* viewName_;
    Banner* banner_;
    ProgressPill* progress_;
    CameraLight* light_;
    TimingOverlay* timing_;
    QLabel* hidden_;
    QString hideKey_;
    Mode mode_ = Mode::photo;
    bool photoShown_ = false, liveShown_ = false, timingWanted_ = false, personHidden_ = false;
};

}  // namespace matte
