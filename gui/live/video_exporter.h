// SPDX-License-Identifier: Apache-2.0
// VideoExporter: writes a whole video with another background. It has a thread and an engine of its own, and writes one
// video at a time; its end cancels, and waits for the frame in work. GUI thread; the signals come through the event
// queue.
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
    explicit VideoExporter(MakeLiveEngines makeEngines, QObject* parent = nullptr)
        : QObject(parent), makeEngines_(std::move(makeEngines)) {}

    /// Does nothing while another video is being written.
    void begin(const VideoExport& job);
    /// Removes what was written so far.
    void cancel() { thread_.request_stop(); }
    [[nodiscard]] bool isBusy() const { return busy_; }

Q_SIGNALS:
    /// `stage` is a text for the user, empty at the end. `share` is that of the work done, 0 to 1; -1: not known.
    void busyChanged(const QString& stage, double share);
    /// `remark` says which frames, sound or mattes are missing; empty for none.
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
