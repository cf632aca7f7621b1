// SPDX-License-Identifier: Apache-2.0
#include "inference/pipeline/video_export.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "inference/core/atomic_file.h"
#include "inference/core/error.h"
#include "inference/media/background_file.h"
#include "inference/media/video/video_source.h"
#include "inference/media/video/video_writer.h"

namespace matte {
namespace {

namespace fs = std::filesystem;
using Seconds = std::chrono::duration<double>;

/// After so many pictures, none of which has a matte, there is no use in going on.
constexpr std::uint64_t kTried = 100;

/// Frames of a video one after the other, each with its time from the first.
class TimedFrames {
public:
    TimedFrames(const fs::path& path, CaptureSettings settings) {
        settings.paced = false;
        source_ = openVideo(path, settings);
        refuseLargeVideo(*source_, path);
    }
    [[nodiscard]] SourceInfo info() const { return source_->info(); }
    [[nodiscard]] Loss loss() const { return source_->loss(); }

    std::optional<Frame> next(const std::stop_token& stop) {
        auto frame = source_->read(stop);
        if (frame && !begin_) begin_ = frame->captured;
        return frame;
    }
    [[nodiscard]] Seconds timeOf(const Frame& frame) const { return frame.captured - *begin_; }

private:
    std::unique_ptr<FrameSource> source_;
    std::optional<std::chrono::steady_clock::time_point> begin_;
};

/// The video behind the person, over and over: at each time of the whole the frame that is to be seen then.
class MovingBackground {
public:
    MovingBackground(const fs::path& path, PixelMemory memory) : frames_(path, {.repeat = true, .memory = memory}) {}

    /// Times only grow.
    std::shared_ptr<const Image> at(Seconds time, const std::stop_token& stop) {
        while (!ended_ && (!shown_ || (next_ && frames_.timeOf(*next_) <= time))) {
            if (next_) shown_ = std::move(next_->image);
            next_ = frames_.next(stop);
            ended_ = !next_;
        }
        return shown_;
    }
    [[nodiscard]] Loss loss() const { return frames_.loss(); }

private:
    TimedFrames frames_;
    std::shared_ptr<const Image> shown_;
    std::optional<Frame> next_;
    bool ended_ = false;
};

/// The alpha of a transparent picture, gray8.
void alphaInto(const Image& picture, Image& matte) {
    for (int y = 0; y < matte.size().height; ++y) {
        const std::uint8_t* from = picture.row(y) + 3;
        std::uint8_t* to = matte.row(y);
        for (int x = 0; x < matte.size().width; ++x) to[x] = from[x * 4];
    }
}

class Export {
public:
    Export(LiveEngines engines, const VideoExport& job, std::stop_token stop)
        : queue_(std::move(engines)),
          stop_(std::move(stop)),
          input_(job.input),
          params_(job.params),
          frames_(job.input, {.memory = queue_.frameMemory()}) {
        if (job.matteOnly) params_.background.kind = Background::Kind::transparent;
        const Background& background = params_.background;
        const bool isFile = background.kind == Background::Kind::image;
        std::vector<fs::path> read = job.alsoRead;
        read.push_back(job.input);
        if (isFile) read.emplace_back(background.imagePath);
        refuseReplacing(job.output, read);
        if (isFile && background.moving) behind_.emplace(background.imagePath, queue_.frameMemory());
        first_ = next();
        if (!first_) refuseEmptyVideo(job.input);
        VideoForm form;
        form.size = frames_.info().size;
        form.rate = frames_.info().rate;
        form.transparent = background.kind == Background::Kind::transparent && !job.matteOnly;
        form.soundFrom = job.matteOnly ? fs::path() : job.input;
        form.soundBegin = first_->inFile;
        writer_ = std::make_unique<VideoWriter>(job.output, form);
        if (job.matteOnly) matte_.emplace(form.size, PixelFormat::gray8);
        result_.size = form.size;
        result_.codec = writer_->codec();
    }

    VideoExportResult run(const std::function<void(std::uint64_t, double)>& progress) {
        for (auto frame = std::move(first_); frame; frame = next()) {
            const Seconds time = frames_.timeOf(*frame);
            if (behind_) {
                if (auto image = behind_->at(time, stop_)) params_.background.image = std::move(image);
            }
            queue_.submit(*frame, params_, time);
            while (queue_.isFull()) writeOldest(progress);
        }
        while (!queue_.isEmpty()) writeOldest(progress);
        if (withoutMatte_ == result_.frames) throw NoMatte();
        writer_->finish();
        if (withoutMatte_ > 0) result_.matteProblem = sayHowManyAreWithoutMatte();
        result_.loss = frames_.loss();
        result_.loss += writer_->loss();
        if (behind_) result_.backgroundLoss = behind_->loss();
        result_.problem = problem();
        result_.engine = queue_.info();
        if (!result_.inputProblem.empty()) countTheRest();
        return result_;
    }

private:
    using Queue = LiveQueue<Seconds>;  ///< with each frame's time

    /// Null at the end, also where the video breaks off: what was read by then is worth having.
    std::optional<Frame> next() {
        std::optional<Frame> frame;
        try {
            frame = frames_.next(stop_);
        } catch (const Error& error) {
            if (result_.frames + queue_.size() == 0) throw;
            result_.inputProblem = error.what();
        }
        stopIfAsked(stop_);
        return frame;
    }

    void writeOldest(const std::function<void(std::uint64_t, double)>& progress) {
        Queue::Taken taken = queue_.take();
        const auto picture = fetch(taken);
        const auto& [output, entry] = taken;
        if (matte_) alphaInto(*picture, *matte_);
        writer_->write(matte_ ? matte_->view() : picture->view(), entry.tag, entry.frame.lasts);
        ++result_.frames;
        result_.seconds = (entry.tag + entry.frame.lasts).count();
        if (!output.matteUsable()) ++withoutMatte_;
        if (output.matteFault == MatteFault::everything) ++refused_;
        if (result_.frames == kTried && withoutMatte_ == kTried) throw NoMatte();
        if (progress) progress(result_.frames, frames_.info().frames);
    }

    /// If the device is lost before the picture is fetched, the standby computes it again. After a temporary lack of
    /// memory, tries once more.
    std::shared_ptr<const Image> fetch(Queue::Taken& taken) {
        for (bool isFirst = true;; isFirst = false) {
            try {
                return taken.output.picture->image();
            } catch (const DeviceFailure& failure) {
                if (isFirst && !failure.lasting) continue;
                taken = queue_.takeAgain(std::move(taken), failure);
                return taken.output.picture->image();
            }
        }
    }

    /// Counts the frames after the last readable one as lost, if the video gives its number of frames.
    void countTheRest() {
        Loss& loss = result_.loss;
        const auto all = std::uint64_t(frames_.info().frames);
        loss.frames = std::max(loss.frames, all - std::min(all, result_.frames));
        loss.ofFrames = result_.frames + loss.frames;
    }

    [[nodiscard]] std::string problem() const {
        std::string said;
        const auto say = [&](const std::string& sentence) {
            if (!sentence.empty()) said += (said.empty() ? "" : " ") + sentence;
        };
        const Loss& loss = result_.loss;
        say(loss.sentence(input_.filename().string()));
        say(result_.inputProblem);
        if (!result_.inputProblem.empty())
            say("The result has the " + std::to_string(result_.frames) + " frames before.");
        else if (loss.frames + loss.soundPackets + loss.soundUnwritten > 0)
            say("The result has the others.");
        say(result_.backgroundLoss.sentence(fs::path(params_.background.imagePath).filename().string()));
        say(result_.matteProblem);
        return said;
    }
    [[nodiscard]] std::string sayHowManyAreWithoutMatte() const {
        const std::string why = refused_ == 0               ? "values for them are not finite"
                                : refused_ == withoutMatte_ ? "mattes suddenly cover the whole picture"
                                                            : "mattes are not finite or suddenly cover everything";
        return std::to_string(withoutMatte_) + " of " + std::to_string(result_.frames) +
               " pictures show the background alone, because the model's " + why + ": try another model.";
    }

    Queue queue_;
    std::stop_token stop_;
    fs::path input_;
    CompositeParams params_;
    TimedFrames frames_;
    std::optional<Frame> first_;  ///< until run()
    std::optional<MovingBackground> behind_;
    std::unique_ptr<VideoWriter> writer_;
    std::optional<Image> matte_;
    VideoExportResult result_;
    std::uint64_t withoutMatte_ = 0;
    std::uint64_t refused_ = 0;  ///< of these, by MatteGuard
};

}  // namespace

VideoExportResult exportVideo(LiveEngines engines,
                              const VideoExport& job,
                              const std::function<void(std::uint64_t done, double of)>& progress,
                              std::stop_token stop) {
    return Export(std::move(engines), job, std::move(stop)).run(progress);
}

}  // namespace matte
