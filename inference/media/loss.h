// SPDX-License-Identifier: Apache-2.0
// Loss: how much of a video is missing from the result, as counts and as a sentence. A plain value.
#pragma once

#include <cstdint>
#include <string>

namespace matte {

struct Loss {
    std::uint64_t frames = 0;          ///< that could not be read
    std::uint64_t ofFrames = 0;        ///< those and the ones that were; 0: not known
    std::uint64_t damagedFrames = 0;   ///< that were read, with faults in their pictures
    std::uint64_t soundPackets = 0;    ///< that could not be read
    std::uint64_t soundUnwritten = 0;  ///< packets that were read, and that the result could not take
    std::uint64_t readErrors = 0;      ///< of the disk or the network
    bool endsEarly = false;            ///< the file does: it was cut, or never finished
    std::string soundProblem = {};     ///< why there is no sound at all, a sentence; else empty
    std::string encoderProblem = {};   ///< which encoder failed and which took its place, a sentence; else empty

    [[nodiscard]] bool any() const;
    /// "42 of 200 frames of talk.mp4 could not be read: the file ends early." `name` is the file's. Empty without
    /// any().
    [[nodiscard]] std::string sentence(const std::string& name) const;
    /// Of what was read from the same file.
    Loss& operator+=(const Loss& other);
};

}  // namespace matte
