// SPDX-License-Identifier: Apache-2.0
// Any text is a background that reads back as itself, or is refused with Error(usage).
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "inference/core/composite_params.h"
#include "inference/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const matte::Background background = matte::parseBackground({reinterpret_cast<const char*>(data), size});
        if (matte::parseBackground(matte::toString(background)) != background) __builtin_trap();
    } catch (const matte::Error& error) {
        if (error.category != matte::ErrorCategory::usage) __builtin_trap();
    }
    return 0;
}
