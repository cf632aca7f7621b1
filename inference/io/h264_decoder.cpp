// SPDX-License-Identifier: Apache-2.0
#include "inference/io/h264_decoder.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

#include <opencv2/videoio.hpp>

#include "inference/error.h"
#include "inference/io/frame_pool.h"

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

struct Unit {
    std::vector<std::uint8_t> bytes;
    std::uint64_t number = 0;
    H264Decoder::Time captured;
};

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

/// What the caller and both threads share. It goes, and the sockets with it, with the last of them.
struct H264Decoder::Work {
    Work(PixelMemory memory, std::function<void(Frame)> deliverFrame, std::function<void()> tellFailure)
        : deliver(std::move(deliverFrame)), fail(std::move(tellFailure)), pool(kFrames, std::move(memory)) {}
    ~Work() {
        for (const int end : {in, out}) {
            if (end >= 0) ::close(end);
        }
    }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

    void put(std::span<const std::uint8_t> unit, std::uint64_t number, Time captured);
    void feed(const std::stop_token& stop);
    bool prime(const std::stop_token& stop);
    bool send(std::span<const std::uint8_t> bytes);
    void decode(const std::stop_token& stop);
    void tellThatItIsOpen();
    void giveOut(const std::function<bool(Image&)>& retrieve, Size size);
    void hangUp();

    std::mutex calling;  // held while one of these two is called, so that none is after the end
    const std::function<void(Frame)> deliver;
    const std::function<void()> fail;
    FramePool pool;
    int in = -1, out = -1;       // a pair of sockets: the units go in, FFmpeg reads
    std::atomic<int> primed{0};  // copies of the first key frame that went in
    std::atomic<bool> isOpen{false};
    std::stop_source left;  // nobody waits any more

    std::mutex mutex;  // guards what follows
    std::condition_variable_any changed;
    std::deque<Unit> units;                        // to be sent
    std::vector<std::vector<std::uint8_t>> spare;  // their memory, to be used again
    std::deque<Unit> sent;                         // without bytes: which frames come next
    std::vector<std::uint8_t> start;               // everything up to the first key frame
    bool isStartWhole = false, needsKey = true;
};

H264Decoder::H264Decoder(PixelMemory memory, std::function<void(Frame)> deliver, std::function<void()> fail)
    : work_(std::make_shared<Work>(std::move(memory), std::move(deliver), std::move(fail))) {
    std::array<int, 2> ends{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        throw Error(Area::source, "H264 can't be decoded because too many files are open: close other programs.");
    }
    work_->in = ends[0];
    work_->out = ends[1];
    try {
        feeder_ = std::jthread([work = work_] { work->feed(work->left.get_token()); });
        std::thread([work = work_] { work->decode(work->left.get_token()); }).detach();
    } catch (const std::system_error&) {
        work_->hangUp();
        throw Error(Area::source, "H264 can't be decoded because too much is running: close other programs.");
    }
}

H264Decoder::~H264Decoder() {
    work_->hangUp();
}

void H264Decoder::put(std::span<const std::uint8_t> unit, std::uint64_t number, Time captured) {
    work_->put(unit, number, captured);
}

void H264Decoder::Work::hangUp() {
    left.request_stop();
    ::shutdown(in, SHUT_RDWR);  // ends both threads' calls
    const std::lock_guard lock(calling);
}

void H264Decoder::Work::put(std::span<const std::uint8_t> unit, std::uint64_t number, Time captured) {
    const Contents contents = contentsOf(unit);
    {
        const std::lock_guard lock(mutex);
        if (!isStartWhole) {
            // Nothing can be decoded before the parameters, which may come as a unit of their own.
            if (start.size() > kMostStart) start.clear();
            if (start.empty() && !contents.parameters) return;
            start.insert(start.end(), unit.begin(), unit.end());
            isStartWhole = contents.keyFrame;
            needsKey = !isStartWhole;
        } else {
            if (units.size() == kMostUnits) {
                units.clear();
                needsKey = true;
            }
            if (needsKey && !contents.keyFrame) return;
            needsKey = false;
            Unit& waiting = units.emplace_back();
            if (!spare.empty()) {
                waiting.bytes = std::move(spare.back());
                spare.pop_back();
            }
            waiting.bytes.assign(unit.begin(), unit.end());
            waiting.number = number;
            waiting.captured = captured;
        }
    }
    changed.notify_all();
}

// --- The feeding thread ---

void H264Decoder::Work::feed(const std::stop_token& stop) {
    if (!prime(stop)) return;
    while (!stop.stop_requested()) {
        Unit unit;
        {
            std::unique_lock lock(mutex);
            changed.wait(lock, stop, [this] { return !units.empty(); });
            if (stop.stop_requested()) return;
            unit = std::move(units.front());
            units.pop_front();
            if (sent.size() == kMostUnits) sent.pop_front();  // units of which no frame came
            sent.push_back({{}, unit.number, unit.captured});
        }
        if (!send(unit.bytes)) return;
        const std::lock_guard lock(mutex);
        spare.push_back(std::move(unit.bytes));
    }
}

/// Until FFmpeg has seen enough.
bool H264Decoder::Work::prime(const std::stop_token& stop) {
    {
        std::unique_lock lock(mutex);
        changed.wait(lock, stop, [this] { return isStartWhole; });
    }
    while (!isOpen) {
        if (stop.stop_requested()) return false;
        if (primed == kMostCopies) {  // the stream itself has to do
            std::unique_lock lock(mutex);
            return changed.wait(lock, stop, [this] { return isOpen || !units.empty(); });
        }
        ++primed;  // before it can come out again
        if (!send(start)) return false;
    }
    return true;
}

bool H264Decoder::Work::send(std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
        const auto count = ::send(in, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        bytes = bytes.subspan(std::size_t(count));
    }
    return true;
}

// --- The decoding thread ---

void H264Decoder::Work::decode(const std::stop_token& stop) {
    {
        // While OpenCV opens one video no other one can be opened: not before there is something to read.
        std::unique_lock lock(mutex);
        if (!changed.wait(lock, stop, [this] { return isStartWhole; })) return;
    }
    try {
        cv::VideoCapture capture;
        const bool canRead = capture.open("pipe:" + std::to_string(out), cv::CAP_FFMPEG);
        tellThatItIsOpen();
        int failures = 0;
        for (int decoded = 0; canRead && failures < kMostFailures && !stop.stop_requested();) {
            const bool isGood = capture.grab();
            failures = isGood ? 0 : failures + 1;
            if (isGood && decoded++ < primed) continue;
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
    const std::lock_guard lock(calling);
    if (!stop.stop_requested()) fail();
}

/// Or that it can't be.
void H264Decoder::Work::tellThatItIsOpen() {
    {
        const std::lock_guard lock(mutex);
        isOpen = true;
    }
    changed.notify_all();
}

/// The next frame, or its gap where it can't be retrieved.
void H264Decoder::Work::giveOut(const std::function<bool(Image&)>& retrieve, Size size) {
    Unit unit;
    {
        const std::lock_guard lock(mutex);
        if (sent.empty()) return;
        unit = std::move(sent.front());
        sent.pop_front();
    }
    if (size.width <= 0 || size.height <= 0 || size.pixels() > Image::kMaxPixels) return;
    auto image = pool.take(size, PixelFormat::bgr8);
    if (!image || !retrieve(*image)) return;
    const std::lock_guard lock(calling);
    if (!left.stop_requested()) deliver({std::move(image), unit.number, unit.captured});
}

}  // namespace matte
