// SPDX-License-Identifier: Apache-2.0
// VideoExporter: writes a whole video with another background, on a thread and with an engine of its own, one at a
// time. GUI thread; its signals come through the event queue.
//
//     exporter.begin({"talk.mp4", "new.mp4", params});   // saved(), failed() or cancelled()
#pragma once

#include <QObject>
#include <QString>

#include <functional>
#include <memory>
#include <thread>

#include "inference/core/error.h"
#include "inference/pipeline/video_export.h"

namespace matte {

class VideoExporter : public QObject {
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(VideoExporter)

public:
    /// The factory runs on the thread, for each video.
    explicit VideoExporter(MakeLiveEngines makeEngines, QObject* parent = nullptr);
    /// Cancels, and waits for the frame that is being worked on.
    ~VideoExporter() override;

    /// Nothing happens while another one is being written.
    void begin(const VideoExport& job);
    /// What was written so far goes.
    void cancel() { thread_.request_stop(); }
    [[nodiscard]] bool isBusy() const { return busy_; }

Q_SIGNALS:
    /// `stage` is for people, and empty when there is nothing to wait for; `share` of the work is done, -1: not known.
    void busyChanged(const QString& stage, double share);
    /// `remark`: what is missing in it, frames, sound or mattes; else empty.
    void saved(const QString& path, const QString& remark);
    void failed(const QString& sentence, matte::ErrorCategory category);
    void cancelled();

private:
    void work(const VideoExport& job, const std::stop_token& stop);
    void tell(const std::function<void()>& news);
    void end(const std::function<void()>& news);

    MakeLiveEngines makeEngines_;
    bool busy_ = false;
    std::jthread thread_;  ///< last, so that it ends before everything that it uses
};

}  // namespace matte
