// SPDX-License-Identifier: Apache-2.0
// Frame: one picture of a live source. A plain value; any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "inference/core/image.h"

namespace matte {

struct Frame {
    std::shared_ptr<const Image> image;              ///< rgba8, bgr8, nv12 or yuyv
    std::uint64_t number = 0;                        ///< index in its source from 0; dropped frames count
    std::chrono::steady_clock::time_point captured;  ///< when the source received it
    // Video files only:
    std::chrono::duration<double> inFile{0};  ///< presentation time in the file
    std::chrono::duration<double> lasts{0};   ///< presentation duration, if the file gives it
};

}  // namespace matte
