// SPDX-License-Identifier: Apache-2.0
// Any bytes have an orientation from 1 to 8, and a colour profile that is not huge or none.
#include <cstddef>
#include <cstdint>

#include "inference/media/image/orientation.h"
#include "inference/media/image/picture_metadata.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const int orientation = matte::exifOrientation({data, size});
    if (orientation < 1 || orientation > 8) __builtin_trap();
    if (matte::colorProfileOf({data, size}).size() > std::size_t(16) << 20) __builtin_trap();
    return 0;
}
