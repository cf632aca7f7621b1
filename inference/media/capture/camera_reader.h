// SPDX-License-Identifier: Apache-2.0
// CameraReader: the common part of all camera sources. It copies or decodes pictures into frames, numbers them, keeps
// the newest for the reader, and notices silence. One thread delivers, one reads; info() on any.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "inference/core/frame_pool.h"
#include "inference/core/mailbox.h"
#include "inference/media/capture/camera.h"
#include "inference/media/video/h264_decoder.h"

namespace matte {

/// How long a camera may be silent at that rate: five frames, at least three seconds. Where it is dark, cameras give
/// one or two frames a second whatever rate was agreed on, and one that is opened again for it would never show any.
std::chrono::milliseconds stallTime(double rate);

class CameraReader {
public:
    /// How long a camera of that rate may be silent, once a first picture was read.
    using Patience = std::function<std::chrono::milliseconds(double rate)>;

    CameraReader(std::string name, const CaptureChoice& wanted, PixelMemory memory, Patience patience = stallTime);

    /// `said`, the time that a driver gives a picture, if it lies within the last second; else the present.
    static std::chrono::steady_clock::time_point plausible(std::chrono::steady_clock::time_point said);

    // The camera's thread.

    /// What it has agreed to send from now on, the stride 0 where it isn't known yet. Throws Error(source) for what
    /// can't be: no size or an absurd one, rows longer than the stride. Then nothing is delivered.
    void setFormat(const CaptureChoice& agreed, std::ptrdiff_t strideBytes = 0);
    /// What setFormat throws; for a buffer too, when it is too small for the format.
    [[noreturn]] void refuseFormat() const;
    /// A picture in the agreed format; a stride of 0 means rows without padding. Damaged and short ones are left out.
    void deliver(std::span<const std::uint8_t> bytes,
                 std::ptrdiff_t strideBytes,
                 std::chrono::steady_clock::time_point captured);
    /// A picture that was lost on the way.
    void skip();
    /// A picture that the camera itself calls damaged.
    void skipDamaged();
    /// The end, with the sentence that read() throws.
    void lose(const std::string& sentence);

    // The reader's thread.

    /// Waits until the first picture has come; throws Error(source) when the camera was lost before, or took longer,
    /// Cancelled when `stop` was asked for.
    void waitUntilReady(std::chrono::milliseconds most, const std::stop_token& stop);
    /// As FrameSource::read. Silence counts as a loss after `patience`, the first time after some seconds, and so do
    /// pictures of which not one can be read in that time.
    std::optional<Frame> read(const std::stop_token& stop);

    [[nodiscard]] SourceInfo info() const;

private:
    /// Pixels that can be used as they are, or a JPEG that the reader has to decode.
    struct Arrival {
        Frame frame;                     ///< without an image for a JPEG
        std::vector<std::uint8_t> jpeg;  ///< keeps its room while it goes back and forth
    };

    void put(std::span<const std::uint8_t> bytes,
             std::ptrdiff_t strideBytes,
             std::chrono::steady_clock::time_point captured);
    void comesAlive();
    void startH264();
    [[noreturn]] void refuseSilence(bool sawDamaged) const;

    const std::string name_;
    const PixelMemory memory_;
    const Patience patience_;
    FramePool pool_;  // the camera's thread takes raw frames from it, or the reader decoded ones
    FramePool decodedPool_;
    Mailbox<Arrival> arrivals_;
    // The camera's thread alone:
    std::optional<CaptureChoice> agreed_;
    Arrival next_;
    std::uint64_t number_ = 0;
    bool isAlive_ = false;
    // The reader's alone:
    Arrival taken_;
    bool hasRead_ = false;

    std::atomic<double> rate_;               // as in info_, without its lock and its strings
    std::atomic<bool> sendsDamaged_{false};  // the newest picture was: the camera's thread tells the reader
    mutable std::mutex mutex_;               // guards info_ and isReady_
    std::condition_variable ready_;
    SourceInfo info_;
    bool isReady_ = false;

    std::atomic<int> undecoded_{0};  // units of H264 since the last frame that came of one
    std::unique_ptr<H264Decoder>
        h264_;  // while that is what comes; its thread then puts the arrivals, so it ends first
};

}  // namespace matte
