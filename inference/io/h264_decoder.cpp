// SPDX-License-Identifier: Apache-2.0
#include "inference/io/h264_decoder.h"

#include <array>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include <opencv2/videoio.hpp>

#include "inference/error.h"

namespace matte {
namespace {

constexpr std::size_t kFrames = 8;
/// Some seconds: the time that opening takes, and more than a decoder that keeps up ever needs.
constexpr std::size_t kMostUnits = 240;
/// FFmpeg looks at 5 seconds or 5 MB of a stream before it gives out the first frame. OpenCV has no way to ask for
/// less; copies of the first key frame are looked at as fast as they are read.
constexpr int kMostCopies = 1000;
/// Bytes between the parameters and the first key frame; real cameras send it at once.
constexpr std::size_t kMostStart = std::size_t(8) << 20;
/// Units in a row that can't be decoded before it is given up.
constexpr int kMostFailures = 300;

struct Contents {
    bool parameters = false, keyFrame = false;
};

/// What a unit has in it, by the types that follow its start codes.
Contents contentsOf(std::span<const std::uint8_t> unit) {
    constexpr int kKeyFrame = 5, kParameters = 7;
    Contents contents;
    for (std::size_t i = 0; i + 3 < unit.size(); ++i) {
        if (unit[i] != 0 || unit[i + 1] != 0 || unit[i + 2] != 1) continue;
        const int type = unit[i + 3] & 0x1f;
        contents.parameters |= type == kParameters;
        contents.keyFrame |= type == kKeyFrame;
    }
    return contents;
}

}  // namespace

H264Decoder::H264Decoder(PixelMemory memory, std::function<void(Frame)> deliver, std::function<void()> fail)
    : deliver_(std::move(deliver)), fail_(std::move(fail)), pool_(kFrames, memory) {
    std::array<int, 2> ends{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        throw Error(Area::source, "H264 can't be decoded because too many files are open: close other programs.");
    }
    in_ = ends[0];
    out_ = ends[1];
    try {
        feeder_ = std::jthread([this](const std::stop_token& stop) { feed(stop); });
        decoder_ = std::jthread([this](const std::stop_token& stop) { decode(stop); });
    } catch (const std::system_error&) {
        hangUp();
        throw Error(Area::source, "H264 can't be decoded because too much is running: close other programs.");
    }
}

H264Decoder::~H264Decoder() {
    hangUp();
}

void H264Decoder::hangUp() {
    feeder_.request_stop();
    decoder_.request_stop();
    ::shutdown(in_, SHUT_RDWR);  // ends both threads' calls
    if (feeder_.joinable()) feeder_.join();
    if (decoder_.joinable()) decoder_.join();
    ::close(in_);
    ::close(out_);
}

void H264Decoder::put(std::span<const std::uint8_t> unit, std::uint64_t number, Time captured) {
    const Contents contents = contentsOf(unit);
    {
        const std::lock_guard lock(mutex_);
        if (!isStartWhole_) {
            // Nothing can be decoded before the parameters, which may come as a unit of their own.
            if (start_.size() > kMostStart) start_.clear();
            if (start_.empty() && !contents.parameters) return;
            start_.insert(start_.end(), unit.begin(), unit.end());
            isStartWhole_ = contents.keyFrame;
            needsKey_ = !isStartWhole_;
        } else {
            if (units_.size() == kMostUnits) {
                units_.clear();
                needsKey_ = true;
            }
            if (needsKey_ && !contents.keyFrame) return;
            needsKey_ = false;
            Unit& waiting = units_.emplace_back();
            if (!spare_.empty()) {
                waiting.bytes = std::move(spare_.back());
                spare_.pop_back();
            }
            waiting.bytes.assign(unit.begin(), unit.end());
            waiting.number = number;
            waiting.captured = captured;
        }
    }
    changed_.notify_all();
}

// --- The feeding thread ---

void H264Decoder::feed(const std::stop_token& stop) {
    if (!prime(stop)) return;
    while (!stop.stop_requested()) {
        Unit unit;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, stop, [this] { return !units_.empty(); });
            if (stop.stop_requested()) return;
            unit = std::move(units_.front());
            units_.pop_front();
            if (sent_.size() == kMostUnits) sent_.pop_front();  // units of which no frame came
            sent_.push_back({{}, unit.number, unit.captured});
        }
        if (!send(unit.bytes)) return;
        const std::lock_guard lock(mutex_);
        spare_.push_back(std::move(unit.bytes));
    }
}

/// Until FFmpeg has seen enough.
bool H264Decoder::prime(const std::stop_token& stop) {
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, stop, [this] { return isStartWhole_; });
    }
    while (!isOpen_) {
        if (stop.stop_requested()) return false;
        if (primed_ == kMostCopies) {  // the stream itself has to do
            std::unique_lock lock(mutex_);
            return changed_.wait(lock, stop, [this] { return isOpen_ || !units_.empty(); });
        }
        ++primed_;  // before it can come out again
        if (!send(start_)) return false;
    }
    return true;
}

bool H264Decoder::send(std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(in_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        bytes = bytes.subspan(std::size_t(sent));
    }
    return true;
}

// --- The decoding thread ---

void H264Decoder::decode(const std::stop_token& stop) {
    {
        // While OpenCV opens one video no other one can be opened: not before there is something to read.
        std::unique_lock lock(mutex_);
        if (!changed_.wait(lock, stop, [this] { return isStartWhole_; })) return;
    }
    try {
        cv::VideoCapture capture;
        const bool isOpen = capture.open("pipe:" + std::to_string(out_), cv::CAP_FFMPEG);
        tellThatItIsOpen();
        int failures = 0;
        for (int decoded = 0; isOpen && failures < kMostFailures && !stop.stop_requested();) {
            const bool isGood = capture.grab();
            failures = isGood ? 0 : failures + 1;
            if (isGood && decoded++ < primed_) continue;
            const Size size{int(capture.get(cv::CAP_PROP_FRAME_WIDTH)), int(capture.get(cv::CAP_PROP_FRAME_HEIGHT))};
            giveOut(
                [&](Image& image) {
                    cv::Mat target(image.size().height, image.size().width, CV_8UC3, image.row(0));
                    return isGood && capture.retrieve(target) && target.data == image.row(0);
                },
                size);
        }
    } catch (const std::exception&) {  // OpenCV's own, or no memory
        tellThatItIsOpen();
    }
    if (!stop.stop_requested()) fail_();
}

/// Or that it can't be.
void H264Decoder::tellThatItIsOpen() {
    {
        const std::lock_guard lock(mutex_);
        isOpen_ = true;
    }
    changed_.notify_all();
}

/// The next frame, or its gap where it can't be retrieved.
void H264Decoder::giveOut(const std::function<bool(Image&)>& retrieve, Size size) {
    Unit unit;
    {
        const std::lock_guard lock(mutex_);
        if (sent_.empty()) return;
        unit = std::move(sent_.front());
        sent_.pop_front();
    }
    if (size.width <= 0 || size.height <= 0 || size.pixels() > Image::kMaxPixels) return;
    auto image = pool_.take(size, PixelFormat::bgr8);
    if (image && retrieve(*image)) deliver_({std::move(image), unit.number, unit.captured});
}

}  // namespace matte
