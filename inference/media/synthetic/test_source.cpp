// SPDX-License-Identifier: Apache-2.0
#include "inference/media/synthetic/test_source.h"

#include <algorithm>

#include "inference/core/error.h"
#include "inference/core/parallel.h"
#include "inference/media/frame_convert.h"

namespace matte {
namespace {

constexpr std::size_t kMostBytes = 256U << 20;
constexpr int kLeastFrames = 4, kMostFrames = 32;

PixelFormat formatOf(Encoding encoding) {
    switch (encoding) {
        case Encoding::nv12: return PixelFormat::nv12;
        case Encoding::yuyv: return PixelFormat::yuyv;
        case Encoding::any:
        case Encoding::bgr: return PixelFormat::bgr8;
        default:
            throw Error(ErrorCategory::input, "The test person comes as BGR, NV12 or YUYV, not as " + nameOf(encoding) +
                                                  ": choose one of them.");
    }
}

/// Memory is had before the threads begin: what they would throw could not leave them.
std::vector<Image> makeImages(std::size_t count, Size size, PixelFormat format, PixelMemory memory) {
    std::vector<Image> images;
    for (std::size_t i = 0; i < count; ++i) images.emplace_back(size, format, memory);
    return images;
}

}  // namespace

int loopFrames(Size size) {
    const auto fitting = kMostBytes / packedBytes(PixelFormat::bgr8, size);
    return std::clamp(int(std::min<std::size_t>(fitting, kMostFrames)), kLeastFrames, kMostFrames);
}

TestSource::TestSource(Size size, double rate, const CaptureSettings& settings)
    : info_{"Test person", size, rate >= kUnthrottled ? 0 : rate, true, nameOf(Encoding::bgr)},
      person_(size, loopFrames(size)),
      clock_(settings.paced ? rate : 0) {
    const PixelFormat format = formatOf(settings.encoding);
    if (format != PixelFormat::bgr8) info_.format = nameOf(settings.encoding);
    if (!settings.paced) info_.rate = 0;
    const auto workers = std::size_t(threads());
    auto frames = makeImages(std::size_t(loopFrames(size)), size, format, settings.memory);
    auto cutouts = makeImages(workers, size, PixelFormat::rgba8, {});
    auto drawn = makeImages(format == PixelFormat::bgr8 ? 0 : workers, size, PixelFormat::bgr8, {});
    parallelFor(int(frames.size()), 1, [&](int index, int, int worker) {
        const auto i = std::size_t(index), thread = std::size_t(worker);
        if (format == PixelFormat::bgr8) {
            person_.drawFrame(i, frames[i], cutouts[thread]);
        } else {
            person_.drawFrame(i, drawn[thread], cutouts[thread]);
            bgrToYuv(drawn[thread].view(), frames[i]);
        }
    });
    for (auto& frame : frames) loop_.push_back(std::make_shared<const Image>(std::move(frame)));
}

std::optional<Frame> TestSource::read(std::stop_token stop) {
    const auto number = clock_.next(stop);
    if (!number) return std::nullopt;
    return Frame{loop_[*number % loop_.size()], *number, clock_.due()};
}

}  // namespace matte
