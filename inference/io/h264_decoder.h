// SPDX-License-Identifier: Apache-2.0
// H264 as cameras send it, an access unit at a time, decoded by OpenCV's FFmpeg on threads of its own. put() by the
// camera's thread.
//   H264Decoder decoder(memory, [&](Frame frame) { show(frame); }, [&] { tellThatItCantBeDecoded(); });
//   decoder.put(bytes, number, captured);
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "inference/frame.h"
#include "inference/io/frame_pool.h"

namespace matte {

class H264Decoder {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// Both are called on a thread of the decoder's: `deliver` with each frame, bgr8, a few frames after its unit was
    /// put; `fail` once, when nothing can be decoded here. Frames begin about a second after the first key frame, which
    /// FFmpeg takes to look at the stream. Throws Error(source) when the system has no sockets or threads left.
    H264Decoder(PixelMemory memory, std::function<void(Frame)> deliver, std::function<void()> fail);
    /// Waits for at most the decoding of one frame.
    ~H264Decoder();
    H264Decoder(const H264Decoder&) = delete;
    H264Decoder& operator=(const H264Decoder&) = delete;

    /// A unit in Annex B's byte stream. Never waits: when too many wait already, all are left out up to the next key
    /// frame.
    void put(std::span<const std::uint8_t> unit, std::uint64_t number, Time captured);

private:
    struct Unit {
        std::vector<std::uint8_t> bytes;
        std::uint64_t number = 0;
        Time captured;
    };

    void feed(const std::stop_token& stop);
    bool prime(const std::stop_token& stop);
    bool send(std::span<const std::uint8_t> bytes);
    void decode(const std::stop_token& stop);
    void tellThatItIsOpen();
    void giveOut(const std::function<bool(Image&)>& retrieve, Size size);
    void hangUp();

    const std::function<void(Frame)> deliver_;
    const std::function<void()> fail_;
    FramePool pool_;
    int in_ = -1, out_ = -1;      // a pair of sockets: the units go in, FFmpeg reads
    std::atomic<int> primed_{0};  // copies of the first key frame that went in
    std::atomic<bool> isOpen_{false};

    std::mutex mutex_;  // guards what follows
    std::condition_variable_any changed_;
    std::deque<Unit> units_;                        // to be sent
    std::vector<std::vector<std::uint8_t>> spare_;  // their memory, to be used again
    std::deque<Unit> sent_;                         // without bytes: which frames come next
    std::vector<std::uint8_t> start_;               // everything up to the first key frame
    bool isStartWhole_ = false, needsKey_ = true;

    std::jthread feeder_, decoder_;  // last: they begin after everything that they use
};

}  // namespace matte
