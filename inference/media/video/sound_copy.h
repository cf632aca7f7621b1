// SPDX-License-Identifier: Apache-2.0
// SoundCopy: copies the first sound stream of a video file, packet by packet, into a file that FFmpeg writes. One
// thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>

#include "inference/media/loss.h"
#include "inference/media/video/packet_reader.h"

namespace matte {

class SoundCopy {
public:
    /// Null when the file has no sound. An absolute path. `begin`: when the first picture is to be seen, in seconds of
    /// the file's own time. Throws Error(input) when it can't be told, because the file can't be read any more.
    static std::unique_ptr<SoundCopy> open(const std::filesystem::path& video, double begin);
    [[nodiscard]] std::string codec() const { return avcodec_get_name(sound_->codecpar->codec_id); }  ///< "aac"
    /// Before the header of `file` is written. False when its form holds no such sound, and after that there is none.
    bool addTo(AVFormatContext& file);
    /// What is to be heard before this time, in seconds from the first picture. What `file` doesn't take, and what has
    /// no time or comes in the wrong order, is left out and counted.
    void writeUntil(AVFormatContext& file, double end);
    /// Its packets that are missing from the copy so far. Those before the first picture are none.
    [[nodiscard]] Loss loss() const;

private:
    SoundCopy() = default;
    [[nodiscard]] double seconds(std::int64_t ticks) const {
        return double(ticks) * av_q2d(sound_->time_base) - begin_;
    }
    bool next();

    std::unique_ptr<PacketReader> packets_;
    const AVStream* sound_ = nullptr;
    AVStream* copy_ = nullptr;
    double begin_ = 0;  ///< when the first picture is to be seen, in the video's own time
    ffmpeg::Packet packet_{av_packet_alloc()};
    bool holds_ = false;                                            ///< a packet that is not written yet
    std::int64_t last_ = std::numeric_limits<std::int64_t>::min();  ///< ticks of the copy's packet before
    std::uint64_t written_ = 0, unwritten_ = 0, before_ = 0;        ///< packets; before_: before the first picture
    bool isRefused_ = false;                                        ///< a packet was: the file takes no more of them
};

}  // namespace matte
