// SPDX-License-Identifier: Apache-2.0
// Pictures that are used again and again, so that a source allocates nothing for a frame. take() by one thread at a
// time; the pictures may be let go on any thread, and may outlive the pool.
//   FramePool pool(6);
//   if (auto image = pool.take({1920, 1080}, PixelFormat::nv12)) fill(*image);
#pragma once

#include <cstddef>
#include <memory>

#include "inference/core/image.h"

namespace matte {

class FramePool {
public:
    /// At most `most` pictures are out at one time. `memory` is where their pixels are kept, for instance page-locked.
    explicit FramePool(std::size_t most, PixelMemory memory = {});
    ~FramePool();
    FramePool(const FramePool&) = delete;
    FramePool& operator=(const FramePool&) = delete;

    /// A picture with undefined pixels, or null while all are held. Only new sizes and formats allocate.
    std::shared_ptr<Image> take(Size size, PixelFormat format);

    struct State;

private:
    std::shared_ptr<State> state_;
};

}  // namespace matte
