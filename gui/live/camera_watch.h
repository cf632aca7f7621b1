// SPDX-License-Identifier: Apache-2.0
// CameraWatch: the list of cameras as the window sees it: told at the start and whenever one comes, goes, or is better
// known. GUI thread.
#pragma once

#include <QObject>

#include <vector>

#include "inference/media/capture/camera_list.h"

namespace matte {

class CameraWatch : public QObject {
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(CameraWatch)

public:
    explicit CameraWatch(QObject* parent = nullptr);
    /// Says what is known now, once.
    void tell() { Q_EMIT changed(list_.cameras()); }

Q_SIGNALS:
    void changed(const std::vector<matte::CameraInfo>& cameras);

private:
    CameraList list_;  ///< last: it calls until its end
};

}  // namespace matte
