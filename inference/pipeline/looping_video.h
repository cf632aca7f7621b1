// SPDX-License-Identifier: Apache-2.0
// LoopingVideo: a background video, decoded on its own thread in an endless loop. It plays at its own frame rate,
// independent of the camera; the compositor takes the newest frame. Decodes into recycled pictures. Any thread.
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
    /// May be slow: runs on a thread that is abandoned if the video ends meanwhile.
    using Open =
        std::function<std::unique_ptr<FrameSource>(const std::filesystem::path& path, const CaptureSettings& settings)>;

    /// Starts the thread and does not wait for the file to open. `memory` allocates the frames.
    explicit LoopingVideo(std::string path, PixelMemory memory = {}, Open open = openVideo);
    /// Ends the thread and waits for it, at most for the decoding of one frame.
    ~LoopingVideo();
    LoopingVideo(const LoopingVideo&) = delete;
    LoopingVideo& operator=(const LoopingVideo&) = delete;

    /// Asks the thread to end and makes newest() null, without waiting.
    void end();
    [[nodiscard]] bool hasEnded() const;
    [[nodiscard]] const std::string& path() const { return path_; }
    /// The newest frame, bgr8; null before the first. If the video can't continue, its last frame remains.
    [[nodiscard]] std::shared_ptr<const Image> newest() const;
    /// Why the video stopped or what could not be read, as a sentence; else empty.
    [[nodiscard]] std::string problem() const;

private:
    void play(const std::stop_token& stop);
    bool playFile(const std::stop_token& stop);
    void tellLoss(const FrameSource& source);

    const std::string path_;
    const PixelMemory memory_;
    const Open open_;
    mutable std::mutex mutex_;  ///< guards the members below
    std::shared_ptr<const Image> newest_;
    std::string problem_;
    bool ended_ = false;
    std::jthread thread_;  ///< last, so that it is destroyed before the members that it uses
};

}  // namespace matte
