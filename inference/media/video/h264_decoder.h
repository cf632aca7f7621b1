// SPDX-License-Identifier: Apache-2.0
// H264Decoder: decodes a camera's H264, an access unit at a time, by FFmpeg on a thread of its own. put() by the
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

#include "inference/core/frame.h"
#include "inference/core/image.h"

namespace matte {

class H264Decoder {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// Both are called on the decoder's thread: `deliver` with each frame, bgr8, in the order in which they are to be
    /// seen and with its own unit's number; `fail` once, when nothing can be decoded here. Throws Error(source) when
    /// the system has no decoder or no thread for it.
    H264Decoder(PixelMemory memory, std::function<void(Frame)> deliver, std::function<void()> fail);
    /// Waits for no more than a frame that is being decoded or delivered; nothing is called afterwards.
    ~H264Decoder();
    H264Decoder(const H264Decoder&) = delete;
    H264Decoder& operator=(const H264Decoder&) = delete;

    /// A unit in Annex B's byte stream. Never waits: when too many wait already, all are left out up to the next key
    /// frame.
    void put(std::span<const std::uint8_t> unit, std::uint64_t number, Time captured);

private:
    struct Work;
    std::unique_ptr<Work> work_;
    std::jthread thread_;
};

}  // namespace matte
