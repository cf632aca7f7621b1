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

void DecodeBudget::begin(Size size, std::size_t pixelsPerByte) {
    if (size.pixels() > kFreePixels && size.pixels() / pixelsPerByte > fileBytes_) {
        throw Error(ErrorCategory::input,
                    name_ + " claims to be " + std::to_string(size.width) + "x" + std::to_string(size.height) +
                        " pixels and has " + std::to_string(fileBytes_) +
                        " bytes, too few for a photo: copy or download it again, or scale it down.");
    }
    seconds_ += kSecondsPerPixel * double(size.pixels());
}

bool DecodeBudget::isSpent() const {
    return stop_.stop_requested() || threadSeconds() - begun_ > seconds_;
}

void DecodeBudget::check() const {
    stopIfAsked(stop_);
    if (isSpent()) {
        throw Error(ErrorCategory::input, name_ + " takes too long to decode: save it again as PNG, or scale it down.");
    }
}

}  // namespace matte
