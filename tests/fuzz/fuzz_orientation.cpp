// SPDX-License-Identifier: Apache-2.0
// Any bytes have an orientation from 1 to 8.
#include <cstddef>
#include <cstdint>

#include "inference/io/orientation.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const int orientation = matte::exifOrientation({data, size});
    if (orientation < 1 || orientation > 8) __builtin_trap();
    return 0;
}
