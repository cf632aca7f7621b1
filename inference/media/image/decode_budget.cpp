// SPDX-License-Identifier: Apache-2.0
#include "inference/media/image/decode_budget.h"

#include <ctime>
#include <utility>

#include "inference/core/error.h"

namespace matte {
namespace {

double threadSeconds() {
    std::timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

}  // namespace

DecodeBudget::DecodeBudget(std::string name, std::size_t fileBytes, std::stop_token stop, double seconds)
    : name_(std::move(name)),
      fileBytes_(fileBytes),
      stop_(std::move(stop)),
      begun_(threadSeconds()),
      seconds_(seconds) {}

Size DecodeBudget::begin(std::uint64_t width, std::uint64_t height) {
    if (width == 0 || height == 0) throw Error(ErrorCategory::input, name_ + " has no pixels: open another picture.");
    const std::string claim =
        name_ + " claims to be " + std::to_string(width) + "x" + std::to_string(height) + " pixels";
    const bool tooMany = width > Image::kMaxPixels || height > Image::kMaxPixels || width * height > Image::kMaxPixels;
    if (tooMany || width > kMaxSide || height > kMaxSide) {
        throw Error(ErrorCategory::input,
                    claim + ", which is too large: scale it to at most " +
                        (tooMany ? "200 megapixels." : std::to_string(kMaxSide) + " pixels a side."));
    }
    const std::uint64_t pixels = width * height;
    if (pixels > kFreePixels && pixels / kPixelsPerByte > fileBytes_) {
        throw Error(ErrorCategory::input,
                    claim + " and has " + std::to_string(fileBytes_) +
                        " bytes, too few for a photo: copy or download it again, or scale it down.");
    }
    seconds_ += kSecondsPerPixel * double(pixels);
    return {int(width), int(height)};
}

void DecodeBudget::check() const {
    stopIfAsked(stop_);
    if (threadSeconds() - begun_ > seconds_) {
        throw Error(ErrorCategory::input, name_ + " takes too long to decode: save it again as PNG, or scale it down.");
    }
}

}  // namespace matte
