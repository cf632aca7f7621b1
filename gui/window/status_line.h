// SPDX-License-Identifier: Apache-2.0
// StatusLine: the photo and the times of its stages, or the live source and its frame rate; and the engine, with the
// reason why a better one is not used. GUI thread.
#pragma once

#include <QStatusBar>

#include "gui/live/live_session.h"
#include "gui/photo/photo_session.h"

class QLabel;

namespace matte {

class StatusLine : public QStatusBar {
    Q_OBJECT

public:
    explicit StatusLine(QWidget* parent = nullptr);
    void showPhoto(const OpenedPhoto& photo);
    void showComposite(const Rendered& picture);
    void clearPhoto();
    /// For live mode without a picture.
    void showStage(LiveStage stage, const LiveSource& source);
    void showLive(const LiveStatus& status, const LiveStatistics& statistics);
    void showEngine(const EngineInfo& info);
    [[nodiscard]] QString text() const;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void showTimes();
    void fitEngine();

    QLabel* photo_;
    QLabel* times_;
    QLabel* engine_;
    QString engineText_;
    double networkMs_ = -1, compositeMs_ = -1;
};

}  // namespace matte
