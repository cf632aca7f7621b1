// SPDX-License-Identifier: Apache-2.0
#include "inference/pipeline/looping_video.h"

#include <chrono>
#include <utility>

#include "inference/core/error.h"
#include "inference/core/thread.h"
#include "inference/media/background_file.h"
#include "inference/media/frame_source.h"

namespace matte {

LoopingVideo::LoopingVideo(std::string path, PixelMemory memory, Open open)
    : path_(std::move(path)), memory_(memory), open_(std::move(open)) {
    const auto tell = [this](const char* sentence, ErrorCategory) {
        const std::scoped_lock lock(mutex_);
        problem_ = sentence;
    };
    guarded(
        [&] {
            thread_ = startThread(
                "the video behind", ErrorCategory::source, [this](const std::stop_token& stop) { play(stop); }, tell);
        },
        tell);
}

LoopingVideo::~LoopingVideo() {
    end();
}

void LoopingVideo::end() {
    thread_.request_stop();
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    newest_.reset();
}

bool LoopingVideo::hasEnded() const {
    const std::scoped_lock lock(mutex_);
    return ended_;
}

std::shared_ptr<const Image> LoopingVideo::newest() const {
    const std::scoped_lock lock(mutex_);
    return newest_;
}

std::string LoopingVideo::problem() const {
    const std::scoped_lock lock(mutex_);
    return problem_;
}

void LoopingVideo::play(const std::stop_token& stop) {
    while (playFile(stop)) {
    }
}

/// Opens the file and plays it, in a loop if the source can rewind. Returns whether to open it again.
bool LoopingVideo::playFile(const std::stop_token& stop) {
    // Its disk may be one on a network that does not answer.
    const auto source =
        openOrLeave([open = open_, path = path_, memory = memory_](
                        const std::stop_token&) { return open(path, {.repeat = true, .memory = memory}); },
                    stop);
    refuseLargeVideo(*source, path_);
    int frames = 0;
    std::chrono::duration<double> last{-1};
    for (; auto frame = source->read(stop); ++frames) {
        if (frame->inFile <= last) tellLoss(*source);  // from the beginning again
        last = frame->inFile;
        const std::scoped_lock lock(mutex_);
        if (ended_) return false;
        newest_ = std::move(frame->image);
    }
    if (stop.stop_requested()) return false;
    tellLoss(*source);
    if (frames == 0) refuseEmptyVideo(path_);
    return frames > 1;  // a single picture stays as it is
}

/// Reports a loss; the video continues.
void LoopingVideo::tellLoss(const FrameSource& source) {
    const Loss loss = source.loss();
    if (!loss.any()) return;
    const std::scoped_lock lock(mutex_);
    if (problem_.empty()) problem_ = loss.sentence(std::filesystem::path(path_).filename().string());
}

}  // namespace matte
