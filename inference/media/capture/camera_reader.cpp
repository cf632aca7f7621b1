// SPDX-License-Identifier: Apache-2.0
#include "inference/media/capture/camera_reader.h"

#include <algorithm>
#include <utility>

#include "inference/core/error.h"
#include "inference/media/frame_convert.h"
#include "inference/media/image/jpeg_decoder.h"

namespace matte {
namespace {

using Clock = std::chrono::steady_clock;

/// One that waits in the mailbox, one that is being filled, and what the pipeline holds.
constexpr std::size_t kFrames = 8;
/// So many units of H264 may be on their way through the decoder.
constexpr int kMostUndecoded = 60;
/// Cameras take their time to set the exposure before their first picture.
constexpr std::chrono::milliseconds kFirstFrameTime{5000};

}  // namespace

std::chrono::milliseconds stallTime(double rate) {
    const double five = rate > 0 ? 5000 / rate : 0;
    return std::chrono::milliseconds(std::int64_t(std::clamp(five, 3000.0, 10'000.0)));
}

CameraReader::CameraReader(std::string name, const CaptureChoice& wanted, PixelMemory memory, Patience patience)
    : name_(std::move(name)),
      memory_(memory),
      patience_(std::move(patience)),
      pool_(kFrames, memory),
      decodedPool_(kFrames, memory),
      rate_(wanted.rate),
      info_{name_, wanted.size, wanted.rate, true, nameOf(wanted.encoding)} {}

Clock::time_point CameraReader::plausible(Clock::time_point said) {
    const auto now = Clock::now();
    return said <= now && now - said < std::chrono::seconds(1) ? said : now;
}

void CameraReader::setFormat(const CaptureChoice& agreed, std::ptrdiff_t strideBytes) {
    agreed_.reset();
    if (!isPossible(agreed.encoding, agreed.size, strideBytes)) refuseFormat();
    h264_.reset();
    if (agreed.encoding == Encoding::h264) startH264();
    agreed_ = agreed;
    {
        const std::lock_guard lock(mutex_);
        info_.size = agreed.size;
        if (agreed.rate > 0) info_.rate = rate_ = agreed.rate;
        info_.format = nameOf(agreed.encoding);
    }
}

void CameraReader::startH264() {
    h264_ = std::make_unique<H264Decoder>(
        memory_,
        [this, arrival = Arrival{}](Frame frame) mutable {
            undecoded_ = 0;
            arrival.frame = std::move(frame);
            arrivals_.put(arrival);
            arrival.frame = {};
        },
        [this] {
            lose("The camera " + name_ +
                 " sends H264, which can't be decoded here: choose another format, or another camera.");
        });
}

void CameraReader::refuseFormat() const {
    throw Error(ErrorCategory::source,
                "The camera " + name_ + " announces pictures that can't be held: choose another size or format.");
}

void CameraReader::lose(const std::string& sentence) {
    arrivals_.fail(std::make_exception_ptr(Error(ErrorCategory::source, sentence)));
}

void CameraReader::comesAlive() {
    if (isAlive_) return;
    isAlive_ = true;
    {
        const std::lock_guard lock(mutex_);
        isReady_ = true;
    }
    ready_.notify_all();
}

void CameraReader::skip() {
    ++number_;
    comesAlive();
}

void CameraReader::skipDamaged() {
    sendsDamaged_ = true;
    skip();
}

// Called by threads that can't take an exception: a driver's and PipeWire's.
void CameraReader::deliver(std::span<const std::uint8_t> bytes,
                           std::ptrdiff_t strideBytes,
                           std::chrono::steady_clock::time_point captured) {
    try {
        put(bytes, strideBytes, captured);
    } catch (const std::exception&) {
        lose("The pictures of the camera " + name_ + " can't be held: choose a smaller size.");
        comesAlive();
    }
}

void CameraReader::put(std::span<const std::uint8_t> bytes,
                       std::ptrdiff_t strideBytes,
                       std::chrono::steady_clock::time_point captured) {
    if (!agreed_) return skip();
    if (bytes.empty()) return skipDamaged();
    if (h264_) {
        ++undecoded_;
        h264_->put(bytes, number_++, captured);
        return comesAlive();
    }
    next_.frame = Frame{nullptr, number_++, captured};
    if (agreed_->encoding == Encoding::mjpg) {
        next_.jpeg.assign(bytes.begin(), bytes.end());  // decoding takes longer than this thread may
        // Some cameras leave the end marker out. A second one does no harm, and one after half a picture is seen.
        next_.jpeg.insert(next_.jpeg.end(), {0xff, 0xd9});
        arrivals_.put(next_);
        return comesAlive();
    }
    const auto image = pool_.take(agreed_->size, frameFormat(agreed_->encoding));
    const auto stride = strideBytes == 0 ? packedRawStride(agreed_->encoding, agreed_->size.width) : strideBytes;
    if (!image) return comesAlive();
    sendsDamaged_ = !copyRaw({agreed_->encoding, agreed_->size, bytes, stride}, *image);
    if (sendsDamaged_) return comesAlive();
    next_.jpeg.clear();
    next_.frame.image = image;
    arrivals_.put(next_);
    next_.frame.image.reset();  // what the mailbox gave back is free for the next picture
    comesAlive();
}

void CameraReader::waitUntilReady(std::chrono::milliseconds most, const std::stop_token& stop) {
    const auto until = Clock::now() + most;
    std::unique_lock lock(mutex_);
    while (!isReady_) {
        stopIfAsked(stop);
        arrivals_.throwFailure();
        if (Clock::now() >= until) {
            throw Error(ErrorCategory::source, "The camera " + name_ +
                                                   " does not start: another program may hold it; close it "
                                                   "there, or unplug the camera and plug it in again.");
        }
        // A loss and a stop do not wake this up: they are looked for in short steps.
        ready_.wait_for(lock, std::chrono::milliseconds(20));
    }
}

std::optional<Frame> CameraReader::read(const std::stop_token& stop) {
    // One time for all that arrives: a camera whose pictures are all damaged must not look busy for ever.
    const auto until = Clock::now() + (hasRead_ ? patience_(rate_) : kFirstFrameTime);
    for (bool sawDamaged = false;; sawDamaged = true) {
        const auto left = std::max(Clock::duration::zero(), until - Clock::now());
        try {
            if (!arrivals_.take(taken_, std::chrono::ceil<std::chrono::milliseconds>(left), stop))
                refuseSilence(sawDamaged || sendsDamaged_ || undecoded_ > kMostUndecoded);
        } catch (const Cancelled&) {
            return std::nullopt;
        }
        Frame frame = std::move(taken_.frame);
        taken_.frame = {};
        if (!frame.image) frame.image = decodeJpegFrame(taken_.jpeg, decodedPool_);
        if (frame.image) {
            hasRead_ = true;
            return frame;
        }
        if (Clock::now() >= until) refuseSilence(true);
    }
}

void CameraReader::refuseSilence(bool sawDamaged) const {
    throw Error(ErrorCategory::source,
                sawDamaged ? "All pictures of the camera " + name_ +
                                 " come damaged: unplug it and plug it in again, or choose another size or format."
                           : "The camera " + name_ + " sends no pictures any more: unplug it and plug it in again.");
}

SourceInfo CameraReader::info() const {
    const std::lock_guard lock(mutex_);
    return info_;
}

}  // namespace matte
