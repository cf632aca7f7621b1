// SPDX-License-Identifier: Apache-2.0
#include "inference/io/video_source.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <utility>
#include <vector>

#include <opencv2/videoio.hpp>

#include "inference/error.h"
#include "inference/io/detached_source.h"
#include "inference/io/frame_clock.h"
#include "inference/io/frame_pool.h"

namespace matte {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kFrames = 8;
/// A reader that is late gets a frame after so many were left out, however late it is,
constexpr int kMostLeftOut = 30;
/// or after so few when leaving them out took as long as showing them would have.
constexpr int kFewLeftOut = 4;
/// The least share of its length that a whole video has pictures for.
constexpr double kWholeFrom = 0.75;

/// The four letters of the codec, as far as they are letters.
std::string codecOf(const cv::VideoCapture& capture) {
    const auto code = std::uint32_t(capture.get(cv::CAP_PROP_FOURCC));
    std::string name;
    for (int shift = 0; shift < 32; shift += 8) {
        const auto letter = char((code >> shift) & 0xff);
        if (std::isalnum(static_cast<unsigned char>(letter))) name += letter;
    }
    return name;
}

double rateOf(const cv::VideoCapture& capture) {
    const double rate = capture.get(cv::CAP_PROP_FPS);
    return rate >= 0.1 && rate <= 1000 ? rate : 30;
}

/// How many quarters clockwise the pictures must be turned to stand upright. OpenCV would turn them itself, but 4.6.0,
/// which both distributions have, turns them the other way (opencv/opencv issue 22088).
int quartersToTurn(const cv::VideoCapture& capture) {
    const int degrees = int(std::lround(capture.get(cv::CAP_PROP_ORIENTATION_META)));
    const int quarters = ((degrees / 90) % 4 + 4) % 4;
    const bool isReversed = cv::getVersionMajor() == 4 && cv::getVersionMinor() == 6 && cv::getVersionRevision() == 0;
    return isReversed ? (4 - quarters) % 4 : quarters;
}

class VideoSource : public FrameSource {
public:
    VideoSource(
        const cv::VideoCapture& capture, SourceInfo info, int quarters, bool isEndless, const CaptureSettings& settings)
        : capture_(capture),
          info_(std::move(info)),
          quarters_(quarters),
          isEndless_(isEndless),
          settings_(settings),
          pool_(kFrames, settings.memory),
          clock_(0) {}

    std::optional<Frame> read(std::stop_token stop) override {
        Clock::duration lateAtFirst{};
        for (int leftOut = 0;; ++leftOut) {
            if (stop.stop_requested()) return std::nullopt;
            const Clock::time_point asked = Clock::now();
            if (!grab()) return end();
            const Clock::time_point now = Clock::now();
            if (settings_.paced && isEndless_) followStream(now, now - asked);
            Clock::time_point due = dueTime();
            if (const auto late = now - due; settings_.paced && late > 2 * period()) {
                if (leftOut == 0) lateAtFirst = late;
                const bool catchesUp = leftOut < kFewLeftOut || lateAtFirst - late > leftOut * period() / 2;
                if (catchesUp && leftOut < kMostLeftOut) continue;
                // What can't be decoded in time plays slowly: better than a picture now and then.
                if (!catchesUp) passStart_ += late;
                due = now;
            }
            if (settings_.paced && !clock_.sleepUntil(due, stop)) return std::nullopt;
            auto image = retrieve();
            if (!image) continue;
            return Frame{std::move(image), number_ - 1, settings_.paced ? due : Clock::now()};
        }
    }
    [[nodiscard]] SourceInfo info() const override { return info_; }

private:
    using Seconds = std::chrono::duration<double>;

    [[nodiscard]] Clock::duration period() const {
        return std::chrono::duration_cast<Clock::duration>(Seconds(1 / info_.rate));
    }

    [[nodiscard]] Clock::time_point dueTime() const {
        return passStart_ + std::chrono::duration_cast<Clock::duration>(position_);
    }

    /// A stream's frame for which it had to be waited is the newest there is, whatever its time says: a camera's clock
    /// may be slow, and its rate a guess. After a pause in the network, though, all that was held up comes at once: it
    /// plays twice as fast until it has to be waited again.
    void followStream(Clock::time_point now, Clock::duration waited) {
        const bool isNewest = waited > period() / 4;
        const auto late = now - dueTime();
        if (isNewest && late > 2 * period()) {
            passStart_ += late;
            putOff_ += late;
        } else if (!isNewest) {
            const auto sooner = std::min(putOff_, period() / 2);
            passStart_ -= sooner;
            putOff_ -= sooner;
        }
    }

    /// The next frame of the stream, at `position_`; false at the end. Repeated, the beginning follows the end.
    bool grab() {
        if (!capture_.grab()) {
            if (settings_.whole) checkWhole();
            if (!settings_.repeat || inPass_ == 0 || !capture_.set(cv::CAP_PROP_POS_FRAMES, 0) || !capture_.grab()) {
                return false;
            }
            passStart_ += std::chrono::duration_cast<Clock::duration>(position_ + Seconds(1 / info_.rate));
            inPass_ = 0;
        }
        if (number_ == 0) passStart_ = Clock::now();
        // Some containers have no times, and some begin late: then the rate says when a frame is due.
        const Seconds said(capture_.get(cv::CAP_PROP_POS_MSEC) / 1000);
        if (inPass_ == 0) firstPosition_ = std::isfinite(said.count()) ? said : Seconds(0);
        const Seconds previous = position_, step(1 / info_.rate);
        position_ = said - firstPosition_;
        if (inPass_ == 0) position_ = Seconds(0);
        if (inPass_ > 0 && !(position_ > previous && position_ < previous + Seconds(10))) position_ = previous + step;
        ++inPass_;
        ++number_;
        return true;
    }

    /// At the end of a pass. By frames and by time: neither is exact in every file, and sound may go on for a while.
    void checkWhole() const {
        const double frames = capture_.get(cv::CAP_PROP_FRAME_COUNT), length = frames / capture_.get(cv::CAP_PROP_FPS);
        const double reached = inPass_ == 0 ? 0 : position_.count() + 1 / info_.rate;
        if (!(reached < kWholeFrom * length && double(inPass_) < kWholeFrom * frames)) return;
        std::array<char, 64> seconds{};
        std::snprintf(seconds.data(), seconds.size(), "%.1f of its %.1f seconds", reached, length);
        throw Error(Area::input, "The video " + info_.name + " breaks off after " + seconds.data() +
                                     ": choose another, or convert it.");
    }

    /// What has no length can't have come to its end.
    std::optional<Frame> end() const {
        if (!isEndless_) return std::nullopt;
        throw Error(Area::source, "Nothing comes from " + info_.name + " any more: check the network, and try again.");
    }

    /// Null when the frame can't be decoded, or when everyone holds on to frames and one has to be left out.
    std::shared_ptr<const Image> retrieve() {
        std::shared_ptr<Image> image = pool_.take(info_.size, PixelFormat::bgr8);
        if (!image && settings_.paced) return nullptr;
        if (!image) image = std::make_shared<Image>(info_.size, PixelFormat::bgr8, settings_.memory);
        cv::Mat target(info_.size.height, info_.size.width, CV_8UC3, image->row(0));
        cv::Mat& decoded = quarters_ == 0 ? target : lying_;
        if (!capture_.retrieve(decoded) || decoded.type() != CV_8UC3) return nullptr;
        if (quarters_ != 0) cv::rotate(lying_, target, quarters_ - 1);  // 0 is a quarter clockwise there
        if (target.cols != info_.size.width || target.rows != info_.size.height) {
            throw Error(Area::input, "The video " + info_.name + " changes its size on the way: convert it first.");
        }
        return image;
    }

    cv::VideoCapture capture_;
    SourceInfo info_;
    int quarters_;
    bool isEndless_;
    CaptureSettings settings_;
    cv::Mat lying_;  // the frame before it is turned
    FramePool pool_;
    FrameClock clock_;
    Clock::time_point passStart_;  // when the first frame of this pass through the video was due
    Clock::duration putOff_{};     // of that by followStream()
    Seconds position_{0}, firstPosition_{0};
    std::uint64_t number_ = 0, inPass_ = 0;
};

/// Whether FFmpeg may take this for a text to draw, or for a list that makes it open other files. Such a list need not
/// begin the file (a tag of music may), nor be text throughout.
bool isTextOrList(const std::filesystem::path& path) {
    constexpr std::size_t kTextBytes = 4096, kListBytes = 1 << 20;  // FFmpeg looks at no more for what a file is
    constexpr std::array kLists{"#extm3u", "ffconcat version", "dash:profile:", "<compositionplaylist"};
    std::string begin(kListBytes, '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(begin.data(), std::streamsize(begin.size()));
    begin.resize(std::size_t(file.gcount()));
    const auto isPrintable = [](char c) {
        return (static_cast<unsigned char>(c) >= ' ' && c != 0x7f) || c == '\n' || c == '\r' || c == '\t' ||
               c == '\f' || c == 0x1b;
    };
    if (std::ranges::all_of(begin.substr(0, kTextBytes), isPrintable)) return true;
    for (char& c : begin) c = char(std::tolower(static_cast<unsigned char>(c)));
    return std::ranges::any_of(kLists, [&](const char* list) { return begin.find(list) != std::string::npos; });
}

std::unique_ptr<FrameSource> makeSource(cv::VideoCapture capture,
                                        SourceInfo info,
                                        bool isAddress,
                                        const CaptureSettings& settings) {
    capture.set(cv::CAP_PROP_ORIENTATION_AUTO, 0);
    const int quarters = quartersToTurn(capture);
    const bool isEndless = isAddress && !(capture.get(cv::CAP_PROP_FRAME_COUNT) > 0);
    info.size = {int(capture.get(cv::CAP_PROP_FRAME_WIDTH)), int(capture.get(cv::CAP_PROP_FRAME_HEIGHT))};
    if (quarters % 2 == 1) std::swap(info.size.width, info.size.height);
    if (info.size.width <= 0 || info.size.height <= 0 || info.size.pixels() > Image::kMaxPixels) {
        throw Error(Area::input, "The pictures of " + info.name + " have a size that can't be held: convert it first.");
    }
    info.rate = rateOf(capture);
    info.live = settings.paced;
    info.format = codecOf(capture);
    return std::make_unique<VideoSource>(capture, std::move(info), quarters, isEndless, settings);
}

}  // namespace

std::unique_ptr<FrameSource> openVideo(const std::filesystem::path& path, const CaptureSettings& settings) {
    namespace fs = std::filesystem;
    const std::string name = path.string();
    std::error_code error;
    if (!fs::exists(path, error)) throw Error(Area::input, "There is no file " + name + ": check its name.");
    if (!fs::is_regular_file(path, error)) throw Error(Area::input, name + " is no file: choose a video.");
    if (!std::ifstream(path, std::ios::binary)) {
        throw Error(Area::input, name + " can't be read: look at its permissions.");
    }
    if (fs::file_size(path, error) == 0) throw Error(Area::input, name + " is empty: choose another video.");
    cv::VideoCapture capture;
    // An absolute path can't be taken for an address or an option.
    if (isTextOrList(path) || !capture.open(fs::absolute(path).string(), cv::CAP_FFMPEG)) {
        throw Error(Area::input, name + " is no video that can be read, or is damaged: choose another or convert it.");
    }
    return makeSource(capture, {path.filename().string(), {}, 0, false, {}}, false, settings);
}

std::unique_ptr<FrameSource> openAddress(const std::string& address,
                                         const CaptureSettings& settings,
                                         const std::stop_token& stop,
                                         const AddressPatience& patience) {
    const std::string shown = withoutPassword(address);
    // FFmpeg can't be interrupted through OpenCV, and the system's search for an address not at all.
    return openDetached(
        [=](const std::stop_token& left) {
            cv::VideoCapture capture;
            const std::vector<int> limits{cv::CAP_PROP_OPEN_TIMEOUT_MSEC, int(patience.open.count()),
                                          cv::CAP_PROP_READ_TIMEOUT_MSEC, int(patience.read.count())};
            if (!capture.open(address, cv::CAP_FFMPEG, limits)) {
                throw Error(Area::source, "Nothing that is a video comes from " + shown +
                                              ": check the address and the network, and try again.");
            }
            if (left.stop_requested()) throw Cancelled{};
            return makeSource(capture, {shown, {}, 0, true, {}}, true, settings);
        },
        stop);
}

}  // namespace matte
