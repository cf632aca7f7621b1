// SPDX-License-Identifier: Apache-2.0
// Where frames come from: a camera, a video, a folder of pictures, an address, the synthetic person. One thread reads;
// info() may be called from any thread.
//   auto source = openSource(parseSource("camera"), {});
//   while (auto frame = source->read(stop)) post(*frame);
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "inference/core/frame.h"
#include "inference/media/loss.h"
#include "inference/media/source_spec.h"

namespace matte {

/// How a camera sends its pictures.
enum class Encoding { any, mjpg, yuyv, uyvy, nv12, i420, bgr, rgb, bgra, rgba, h264, other };
/// "MJPG", "YUYV"; what people know the encoding as.
std::string nameOf(Encoding encoding);
/// Whether pictures of that encoding can be read.
bool isReadable(Encoding encoding);

/// What to ask a source for. A camera takes the nearest that it has; a video has its own size.
struct CaptureSettings {
    Encoding encoding = Encoding::any;
    Size size{};           ///< 0x0: what suits the camera best, see chooseMode
    double rate = 0;       ///< frames a second; 0: the camera's highest, the video's own, 30 for a folder of pictures
    bool paced = true;     ///< false: a video, a folder and the test person give every frame as fast as they are read
    bool repeat = false;   ///< a video or a folder begins again at its end
    PixelMemory memory{};  ///< what frames are kept in
};

struct SourceInfo {
    std::string name;    ///< for people
    Size size;           ///< of the newest frame
    double rate = 0;     ///< frames a second; 0: not known, or as fast as they are read
    bool live = false;   ///< the frames come by themselves: those that nobody reads in time are lost
    std::string format;  ///< as it arrives: "MJPG", "NV12"
    double frames = 0;   ///< of a video, as far as it says how many there are to be; else 0
};

class FrameSource {
public:
    virtual ~FrameSource() = default;

    /// Waits for the next frame. Null at the end, and when `stop` was asked for. Throws Error(source) when the source
    /// is lost, silent or busy; open it again then (ResumingSource does). The frame is bgr8, rgba8, nv12 or yuyv; its
    /// memory is used again once nobody holds it, and a source whose frames are all held drops what comes.
    virtual std::optional<Frame> read(std::stop_token stop) = 0;
    [[nodiscard]] virtual SourceInfo info() const = 0;
    /// Of a video or a folder: what of it could not be read so far; after the end, all of it. By the reading thread.
    [[nodiscard]] virtual Loss loss() const { return {}; }
};

/// A source, and something that is held from before it is opened until after it is closed.
template <typename Held>
class HoldingSource : public FrameSource {
public:
    /// Throws what `open` throws.
    template <typename Open>
    HoldingSource(Held held, const Open& open) : held_(std::move(held)), source_(open()) {}

    std::optional<Frame> read(std::stop_token stop) override { return source_->read(std::move(stop)); }
    [[nodiscard]] SourceInfo info() const override { return source_->info(); }

private:
    const Held held_;  ///< first, and so destroyed last
    std::unique_ptr<FrameSource> source_;
};

/// Opens what `spec` names and waits for its first sign of life. Throws Error(input) for a file that is missing or no
/// video, Error(source) for a camera or an address that can't be had; the sentence says what to do. Throws Cancelled
/// when `stop` was asked for while a camera starts, or an address or a file is slow to open.
std::unique_ptr<FrameSource> openSource(const SourceSpec& spec,
                                        const CaptureSettings& settings,
                                        const std::stop_token& stop = {});

/// A source that may be slow to open, to read and to close, such as an address on a network that does not answer: all
/// of it happens on a thread of its own, and whoever waits can leave at once. A thread that was left ends, and closes
/// its source, as soon as the call returns that it is in. One thread reads; info() on any.
///
/// `open` is called on the new thread, where its source is also read and destroyed, perhaps after everything here: what
/// it holds must be its own. It, and the source, get a token that tells them that nobody waits any more. Throws what it
/// throws, and Cancelled when `stop` was asked for first.
std::unique_ptr<FrameSource> openDetached(std::function<std::unique_ptr<FrameSource>(std::stop_token)> open,
                                          const std::stop_token& stop);

/// The same for what only opening may be slow for: its source is the caller's, who reads it and waits for its end.
std::unique_ptr<FrameSource> openOrLeave(std::function<std::unique_ptr<FrameSource>(std::stop_token)> open,
                                         const std::stop_token& stop);

}  // namespace matte
