// SPDX-License-Identifier: Apache-2.0
// Any bytes are a picture with pixels, no more than there may be, or are refused with Error(input).
#include <cstddef>
#include <cstdint>

#include "inference/core/error.h"
#include "inference/media/image/image_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const auto image = matte::decodeImage({data, size}, "picture");
        if (image->size().pixels() == 0 || image->size().pixels() > matte::Image::kMaxPixels) __builtin_trap();
    } catch (const matte::Error& error) {
        if (error.category != matte::ErrorCategory::input) __builtin_trap();
    }
    return 0;
}
