// SPDX-License-Identifier: Apache-2.0
// CameraFeed: what live mode shows, sent to a virtual camera for other programs, on a thread of its own: a picture that
// lies on the GPU is fetched there, and only while somebody watches. GUI thread; its signals come through the event
// queue.
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
    explicit CameraFeed(Open open, QObject* parent = nullptr);
    ~CameraFeed() override;

    /// The camera is there a moment later, and started() or failed() says so.
    void start();
    /// It is gone when this returns.
    void stop();
    [[nodiscard]] bool isOn() const { return thread_.joinable(); }
    /// Some program reads from the camera, or it can't be told whether one does.
    [[nodiscard]] bool isWatched() const { return isWatched_; }
    /// From now on this is seen; null: black.
    void setPicture(const LiveSession::Live& live);

Q_SIGNALS:
    /// Under these names other programs list it.
    void started(const QStringList& names);
    /// There is no camera, or no longer.
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
