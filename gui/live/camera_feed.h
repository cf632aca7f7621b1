// SPDX-License-Identifier: Apache-2.0
// CameraFeed: sends live mode's pictures to a virtual camera for other programs, on a thread of its own. A picture on
// the GPU is copied to the host there, and only while some program reads from the camera. GUI thread; the signals come
// through the event queue.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "gui/live/live_session.h"
#include "inference/core/mailbox.h"
#include "inference/media/virtual_camera/virtual_camera.h"

namespace matte {

class CameraFeed : public QObject {
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(CameraFeed)

public:
    using Open = std::function<std::unique_ptr<VirtualCamera>(const std::stop_token&)>;

    /// `open` is called on the thread, and may throw Error, or Cancelled once it is to stop.
    explicit CameraFeed(Open open, QObject* parent = nullptr) : QObject(parent), open_(std::move(open)) {}
    ~CameraFeed() override { stop(); }

    /// started() or failed() follows.
    void start();
    /// The camera is closed when this returns.
    void stop();
    [[nodiscard]] bool isOn() const { return thread_.joinable(); }
    /// Some program reads from the camera, or whether one does is not known.
    [[nodiscard]] bool isWatched() const { return isWatched_; }
    /// The picture of the camera from now on; null is black.
    void setPicture(LiveSession::Live live) { pictures_.put(std::move(live)); }

Q_SIGNALS:
    /// `names` are those under which other programs list the camera.
    void started(const QStringList& names);
    /// The camera can't be opened, or was lost.
    void failed(const QString& sentence);

private:
    void work(const std::stop_token& stop, int run);
    void feed(VirtualCamera& camera, const std::stop_token& stop);

    Open open_;
    int run_ = 0;  ///< which start() it is: what an earlier one said late is not heard
    std::atomic<bool> isWatched_ = false;
    Mailbox<LiveSession::Live> pictures_;
    LiveSession::Live live_;  ///< the thread's: the last one taken
    std::jthread thread_;     ///< last, so that it ends before everything that it uses
};

}  // namespace matte
