// SPDX-License-Identifier: Apache-2.0
// FramePool: recycles pictures, so that a source allocates nothing per frame. take() on one thread at a time; pictures
// may be released on any thread and may outlive the pool.
//   FramePool pool(6);
//   if (auto image = pool.take({1920, 1080}, PixelFormat::nv12)) fill(*image);
#pragma once

#include <cstddef>
#include <memory>

#include "inference/core/image.h"

namespace matte {

class FramePool {
public:
    /// At most `most` pictures are in use at a time. `memory` allocates their pixels, for instance page-locked.
    explicit FramePool(std::size_t most, PixelMemory memory = {});
    ~FramePool();
    FramePool(const FramePool&) = delete;
    FramePool& operator=(const FramePool&) = delete;

    /// A picture with undefined pixels, or null while all are in use. Allocates only for a new size or format.
    std::shared_ptr<Image> take(Size size, PixelFormat format);

    struct State;

private:
    std::shared_ptr<State> state_;
};

}  // namespace matte
