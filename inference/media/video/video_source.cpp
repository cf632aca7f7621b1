// SPDX-License-Identifier: Apache-2.0
#include "inference/media/video/video_source.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <utility>
#include <vector>

#include "inference/core/error.h"
#include "inference/core/frame_pool.h"
#include "inference/media/frame_clock.h"
#include "inference/media/frame_source.h"
#include "inference/media/video/video_reader.h"

namespace matte {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kFrames = 8;
/// A reader that is late gets a frame after so many were left out, however late it is,
constexpr int kMostLeftOut = 30;
/// or after so few when leaving them out took as long as showing them would have.
constexpr int kFewLeftOut = 4;

class VideoSource : public FrameSource {
public:
    VideoSource(std::unique_ptr<VideoReader> reader, SourceInfo info, bool isAddress, const CaptureSettings& settings)
        : reader_(std::move(reader)),
          info_(std::move(info)),
          isAddress_(isAddress),
          isEndless_(isAddress && !(info_.frames > 0)),
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
            return Frame{std::move(image), number_ - 1, due, said_, lasts_};
        }
    }
    [[nodiscard]] SourceInfo info() const override { return info_; }
    [[nodiscard]] Loss loss() const override { return reader_->loss(); }

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
        if (!reader_->grab()) {
            if (!settings_.repeat || inPass_ == 0 || !reader_->rewind() || !reader_->grab()) return false;
            passStart_ += std::chrono::duration_cast<Clock::duration>(position_ + lasts_);
            inPass_ = 0;
        }
        if (number_ == 0) passStart_ = Clock::now();
        // Some containers have no times, and some begin late: then the rate says when a frame is due.
        said_ = reader_->time().value_or(Seconds(0));
        if (inPass_ == 0) firstPosition_ = said_;
        const Seconds previous = position_, step(1 / info_.rate);
        position_ = inPass_ == 0 ? Seconds(0) : said_ - firstPosition_;
        if (inPass_ > 0 && !(position_ > previous && position_ < farthestAfter(previous))) position_ = previous + step;
        lasts_ = reader_->lasts() > Seconds(0) ? reader_->lasts() : step;
        ++inPass_;
        ++number_;
        return true;
    }

    /// A longer pause is a damaged time; a file that is read for all its frames may stand still for as long as it says
    /// that it lasts.
    [[nodiscard]] Seconds farthestAfter(Seconds previous) const {
        const Seconds longest = previous + Seconds(10);
        return settings_.paced || isEndless_ ? longest : std::max(longest, reader_->length());
    }

    /// What has no length can't have come to its end, nor what comes from a network that failed.
    std::optional<Frame> end() const {
        if (!isEndless_ && !(isAddress_ && (reader_->isLate() || reader_->loss().any()))) return std::nullopt;
        throw Error(ErrorCategory::source,
                    "Nothing comes from " + info_.name + " any more: check the network, and try again.");
    }

    /// Null when the frame can't be decoded, or when everyone holds on to frames and one has to be left out.
    std::shared_ptr<const Image> retrieve() {
        std::shared_ptr<Image> image = pool_.take(info_.size, PixelFormat::bgr8);
        if (!image && settings_.paced) return nullptr;
        if (!image) image = std::make_shared<Image>(info_.size, PixelFormat::bgr8, settings_.memory);
        if (!reader_->hasItsSize()) {
            // A stream is opened anew after a loss, and has its new size then.
            if (isEndless_)
                throw Error(ErrorCategory::source,
                            "The pictures of " + info_.name + " have another size now: open it again.");
            throw Error(ErrorCategory::input,
                        "The video " + info_.name + " changes its size on the way: convert it first.");
        }
        return reader_->retrieve(*image) ? image : nullptr;
    }

    std::unique_ptr<VideoReader> reader_;
    SourceInfo info_;
    bool isAddress_, isEndless_;
    CaptureSettings settings_;
    FramePool pool_;
    FrameClock clock_;
    Clock::time_point passStart_;             // when the first frame of this pass through the video was due
    Clock::duration putOff_{};                // of that by followStream()
    Seconds position_{0}, firstPosition_{0};  // from the beginning of the pass, and where that is in the file
    Seconds said_{0}, lasts_{0};              // of the frame that was grabbed last, by the file
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

std::unique_ptr<FrameSource> makeSource(std::unique_ptr<VideoReader> reader,
                                        const std::string& name,
                                        bool isAddress,
                                        const CaptureSettings& settings) {
    SourceInfo info{name, reader->size(), reader->rate(), settings.paced, reader->codec(), reader->frames()};
    return std::make_unique<VideoSource>(std::move(reader), std::move(info), isAddress, settings);
}

}  // namespace

std::unique_ptr<FrameSource> openVideo(const std::filesystem::path& path, const CaptureSettings& settings) {
    namespace fs = std::filesystem;
    const std::string name = path.string();
    std::error_code error;
    if (!fs::exists(path, error)) throw Error(ErrorCategory::input, "There is no file " + name + ": check its name.");
    if (!fs::is_regular_file(path, error)) throw Error(ErrorCategory::input, name + " is no file: choose a video.");
    if (!std::ifstream(path, std::ios::binary)) {
        throw Error(ErrorCategory::input, name + " can't be read: look at its permissions.");
    }
    if (fs::file_size(path, error) == 0) throw Error(ErrorCategory::input, name + " is empty: choose another video.");
    // An absolute path can't be taken for an address or an option.
    auto reader = isTextOrList(path) ? nullptr : VideoReader::open(fs::absolute(path).string(), false, {});
    if (!reader) {
        throw Error(ErrorCategory::input,
                    name + " is no video that can be read, or is damaged: choose another or convert it.");
    }
    return makeSource(std::move(reader), path.filename().string(), false, settings);
}

std::unique_ptr<FrameSource> openAddress(const std::string& address,
                                         const CaptureSettings& settings,
                                         const std::stop_token& stop,
                                         const AddressPatience& patience) {
    const std::string shown = shownAddress(address);
    // The system's search for an address can't be interrupted.
    return openDetached(
        [=](const std::stop_token& left) {
            auto reader = VideoReader::open(address, true, {patience.open, patience.read});
            if (!reader) {
                throw Error(ErrorCategory::source, "Nothing that is a video comes from " + shown +
                                                       ": check the address and the network, and try again.");
            }
            stopIfAsked(left);
            return makeSource(std::move(reader), shown, true, settings);
        },
        stop);
}

}  // namespace matte
