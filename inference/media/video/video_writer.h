// SPDX-License-Identifier: Apache-2.0
// VideoWriter: pictures and the sound of another video to a file, by FFmpeg. The extension tells the form: mp4, m4v and
// mkv hold H.264; mov too, or ProRes 4444 when it is to be transparent; webm holds VP9, transparent or not. The colours
// are BT.709. The file appears once it is whole. One thread at a time.
//
//     VideoWriter writer("out.mp4", {.size = {1920, 1080}, .rate = 25, .soundFrom = "in.mp4"});
//     writer.write(picture->view(), 0s);
//     writer.finish();
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "inference/core/image.h"
#include "inference/media/loss.h"

namespace matte {

struct VideoForm {
    Size size;                        ///< of every picture; what the form can't hold of it (an odd row) is left out
    double rate = 30;                 ///< pictures a second, about: each has its own time
    bool transparent = false;         ///< alpha is kept, straight
    std::filesystem::path soundFrom;  ///< a video whose first sound goes along as it is; empty: none
    std::chrono::duration<double> soundBegin{0};  ///< when the first picture is to be seen, in that video's own time
};

class VideoWriter {
public:
    /// Throws Error(output): an extension that can't be written or can't be transparent, no encoder, a size that it
    /// can't do, not writable.
    VideoWriter(const std::filesystem::path& path, const VideoForm& form);
    ~VideoWriter();
    VideoWriter(const VideoWriter&) = delete;
    VideoWriter& operator=(const VideoWriter&) = delete;

    /// The next picture, rgba8, bgr8 or gray8; `at` counts from the first one. How long it `lasts` matters for the last
    /// one; 0: as the rate says. Throws Error(output).
    void write(const ImageView& picture, std::chrono::duration<double> at, std::chrono::duration<double> lasts = {});
    /// Writes what is left, and gives the file its name. Throws Error(output).
    void finish();

    [[nodiscard]] std::string codec() const;  ///< "h264"
    /// What of soundFrom's sound is missing so far, or why all of it is; and the encoder that failed, if one did.
    [[nodiscard]] Loss loss() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Throws Error(output) if no video can be written there, for asking before the work is begun.
void checkVideoTarget(const std::filesystem::path& path, bool transparent);

}  // namespace matte
