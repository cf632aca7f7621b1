// SPDX-License-Identifier: Apache-2.0
// Canvas: the viewport and what lies over it: the welcome or the live page, the banner, the progress, the names beside
// the split, the camera's light, the mark of a drop. GUI thread.
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
    /// The overlay, which lies over a live picture alone, and only where there is room for it.
    void setTimingWanted(bool wanted);
    /// In live mode: the picture rather than the page.
    void setLiveShown(bool shown);
    [[nodiscard]] bool liveShown() const { return liveShown_; }
    /// The person is not shown: said large in live mode, for as long as it is so.
    void setPersonHidden(bool hidden);
    [[nodiscard]] bool personHidden() const;
    [[nodiscard]] bool welcoming() const;
    void setDropActive(bool active);
    /// Named in a corner; empty for the usual one.
    void setViewName(const QString& name);
    void setAfterName(const QString& name);
    /// Lays everything out again: something over the picture has another size.
    void arrange();

protected:
    void resizeEvent(QResizeEvent* event) override;

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
