// SPDX-License-Identifier: Apache-2.0
#include "gui/live/camera_watch.h"

namespace matte {

CameraWatch::CameraWatch(QObject* parent)
    : QObject(parent), list_([this] { QMetaObject::invokeMethod(this, &CameraWatch::tell, Qt::QueuedConnection); }) {}

}  // namespace matte
