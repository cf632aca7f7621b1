// SPDX-License-Identifier: Apache-2.0
// Small videos for tests, in which each frame tells which one it is. Any thread.
#pragma once

#include <filesystem>
#include <vector>

#include "inference/core/image.h"

namespace matte::test {

/// At most 20 different frames, each of one colour. The extension names the container: .mp4 and .ts hold MPEG-4, .avi
/// Motion JPEG, .mkv MPEG-2 in which few pictures can be decoded by themselves.
std::filesystem::path writeVideo(const std::filesystem::path& path,
                                 int frames = 5,
                                 double rate = 25,
                                 Size size = {96, 64});

/// A second copy of a video (.mov or .mkv) with sound, PCM of 16 bits: sample number n is n, kSoundRate of them a
/// second, from the beginning.
constexpr int kSoundRate = 8000;
struct SoundForm {
    double later = 0;     ///< seconds from its beginning to that of the pictures
    int missing = 0;      ///< so many of the first pictures are left out
    int sharesTime = 1;   ///< so many packets of the sound say the same time
    bool isLive = false;  ///< .mkv: as written by who can't know how long it will be
};
std::filesystem::path withSound(const std::filesystem::path& video,
                                const std::filesystem::path& path,
                                const SoundForm& form = {});
/// A second copy whose pictures are to be seen at these times, and the last one of them for so long; all in seconds.
std::filesystem::path atTimes(const std::filesystem::path& video,
                              const std::filesystem::path& path,
                              const std::vector<double>& times,
                              double lastLasts);
/// The first sample and its time in seconds of every packet of a video's sound; empty: there is none.
struct SoundPacket {
    double time = 0;
    int sample = 0;
};
std::vector<SoundPacket> soundOf(const std::filesystem::path& video);

/// Which frame of such a video is in the middle of a picture, bgr8 or rgba8; -1 when it is none.
int videoFrameIn(const Image& picture);

}  // namespace matte::test
