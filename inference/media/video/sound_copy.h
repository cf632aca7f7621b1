// SPDX-License-Identifier: Apache-2.0
// SoundCopy: the first sound of a video file, packet by packet as it is, into a file that FFmpeg writes. One thread at
// a time.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "inference/media/loss.h"

struct AVFormatContext;

namespace matte {

class SoundCopy {
public:
    /// Null when the file has no sound. An absolute path. `begin`: when the first picture is to be seen, in seconds of
    /// the file's own time. Throws Error(input) when it can't be told, because the file can't be read any more.
    static std::unique_ptr<SoundCopy> open(const std::filesystem::path& video, double begin);
    ~SoundCopy();
    SoundCopy(const SoundCopy&) = delete;
    SoundCopy& operator=(const SoundCopy&) = delete;

    [[nodiscard]] std::string codec() const;  ///< "aac"
    /// Before the header of `file` is written. False when its form holds no such sound, and after that there is none.
    bool addTo(AVFormatContext& file);
    /// What is to be heard before this time, in seconds from the first picture. What `file` doesn't take, and what has
    /// no time or comes in the wrong order, is left out and counted.
    void writeUntil(AVFormatContext& file, double seconds);
    /// Its packets that are missing from the copy so far. Those before the first picture are none.
    [[nodiscard]] Loss loss() const;

private:
    struct State;
    explicit SoundCopy(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace matte
