// SPDX-License-Identifier: Apache-2.0
// LoopingVideo: a video as the background, decoded on a thread of its own and repeated. It plays at its own rate,
// whatever the camera's is: the newest frame is composited. The memory of frames is reused. Any thread.
//
//     LoopingVideo video("waves.mp4", engine.frameMemory());
//     if (auto picture = video.newest()) params.background.image = picture;
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "inference/core/image.h"
#include "inference/media/video/video_source.h"

namespace matte {

class LoopingVideo {
public:
    /// May be slow; called on a thread that is left behind when the video ends meanwhile.
    using Open =
        std::function<std::unique_ptr<FrameSource>(const std::filesystem::path& path, const CaptureSettings& settings)>;

    /// Begins at once; nothing here waits for the file to open. `memory` is where the frames are kept.
    explicit LoopingVideo(std::string path, PixelMemory memory = {}, Open open = openVideo);
    /// Ends, and waits for the thread: as long as one frame takes to decode.
    ~LoopingVideo();
    LoopingVideo(const LoopingVideo&) = delete;
    LoopingVideo& operator=(const LoopingVideo&) = delete;

    /// The thread ends by itself, and newest() is null from then on. Waits for nothing.
    void end();
    [[nodiscard]] bool hasEnded() const;
    [[nodiscard]] const std::string& path() const { return path_; }
    /// bgr8; null before the first. When the video can't go on, its last frame stays.
    [[nodiscard]] std::shared_ptr<const Image> newest() const;
    /// A sentence on why it has stopped, or on what could not be read; else empty.
    [[nodiscard]] std::string problem() const;

private:
    void play(const std::stop_token& stop);
    bool playFile(const std::stop_token& stop);
    void tellLoss(const FrameSource& source);

    const std::string path_;
    const PixelMemory memory_;
    const Open open_;
    mutable std::mutex mutex_;  ///< guards what follows
    std::shared_ptr<const Image> newest_;
    std::string problem_;
    bool ended_ = false;
    std::jthread thread_;  ///< last, so that it ends before what it uses
};

}  // namespace matte
