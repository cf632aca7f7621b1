// SPDX-License-Identifier: Apache-2.0
// Frame: one picture of a live source. A plain value; any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "inference/core/image.h"

namespace matte {

struct Frame {
    std::shared_ptr<const Image> image;  ///< rgba8, bgr8, nv12 or yuyv
    std::uint64_t number = 0;            ///< counts the frames of its source from 0, those that were dropped included
    std::chrono::steady_clock::time_point captured;  ///< when the source had it
    // Of a video's frame only:
    std::chrono::duration<double> inFile{0};  ///< when it is to be seen, in the file's own time
    std::chrono::duration<double> lasts{0};   ///< how long it is to be seen, as far as the file says
};

}  // namespace matte
