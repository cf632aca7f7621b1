// SPDX-License-Identifier: Apache-2.0
// SourcePicker: the button in the tool bar with the name of the live source, and the menu of sources: the cameras and
// their formats, a video, a folder, an address, and the synthetic person for developers. GUI thread.
#pragma once

#include <QToolButton>

#include <vector>

#include "gui/live/live_source.h"
#include "inference/media/capture/camera.h"

class QMenu;

namespace matte {

class Actions;

class SourcePicker : public QToolButton {
    Q_OBJECT

public:
    explicit SourcePicker(const Actions& actions, QWidget* parent = nullptr);
    void setCameras(const std::vector<CameraInfo>& cameras);
    [[nodiscard]] const std::vector<CameraInfo>& cameras() const { return cameras_; }
    void showSource(const LiveSource& source);

Q_SIGNALS:
    void chosen(const matte::LiveSource& source);

private:
    void fill();
    void addCameras();
    void addFormats(const CameraInfo& camera);
    void addDeveloper();
    QAction* add(QMenu& menu, const QString& text, const LiveSource& source);

    const Actions& actions_;
    QMenu* menu_;
    std::vector<CameraInfo> cameras_;
    LiveSource source_;
};

}  // namespace matte
