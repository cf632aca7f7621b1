// SPDX-License-Identifier: Apache-2.0
// H264 as cameras send it, an access unit at a time, decoded by OpenCV's FFmpeg on threads of its own. put() by the
// camera's thread.
//   H264Decoder decoder(memory, [&](Frame frame) { show(frame); }, [&] { tellThatItCantBeDecoded(); });
//   decoder.put(bytes, number, captured);
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <thread>

#include "inference/frame.h"
#include "inference/image.h"

namespace matte {

class H264Decoder {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// Both are called on a thread of the decoder's: `deliver` with each frame, bgr8, a few frames after its unit was
    /// put; `fail` once, when nothing can be decoded here. Frames begin about a second after the first key frame, which
    /// FFmpeg takes to look at the stream. Throws Error(source) when the system has no sockets or threads left.
    H264Decoder(PixelMemory memory, std::function<void(Frame)> deliver, std::function<void()> fail);
    /// Waits for no more than a frame that is being delivered; nothing is called afterwards. The decoding thread may be
    /// left behind: while OpenCV opens an address that does not answer, it opens nothing else. It ends as soon as
    /// OpenCV lets it.
    ~H264Decoder();
    H264Decoder(const H264Decoder&) = delete;
    H264Decoder& operator=(const H264Decoder&) = delete;

    /// A unit in Annex B's byte stream. Never waits: when too many wait already, all are left out up to the next key
    /// frame.
    void put(std::span<const std::uint8_t> unit, std::uint64_t number, Time captured);

private:
    struct Work;
    std::shared_ptr<Work> work_;  ///< the decoding thread has it too
    std::jthread feeder_;
};

}  // namespace matte
