// SPDX-License-Identifier: Apache-2.0
// A cut-out on the GPU: the picture and its coefficients in device memory of its own. As engine.h has it.
#pragma once

#include <memory>
#include <utility>

#include "inference/core/buffer_pool.h"
#include "inference/cuda/frame_memory.h"
#include "inference/engine/engine.h"

namespace matte {

class CudaCutout final : public Cutout {
public:
    /// Throws Error(input) when the picture has no colour.
    CudaCutout(std::shared_ptr<const Image> source, BufferPool<DeviceBuffer>& pool);
    [[nodiscard]] std::shared_ptr<const Image> source() const override { return source_; }
    [[nodiscard]] const StageTimes& times() const override { return times_; }

    [[nodiscard]] const FrameMemory& memory() const { return memory_; }
    /// What cutting out took.
    void took(StageTimes times) { times_ = std::move(times); }

    /// The picture itself, or a preview of `size` that is kept for the next time.
    device::Source pictureAt(Size size, cudaStream_t stream);
    /// Whether the background has yet to be blurred by `radius`, which the caller does now.
    bool needsBlur(int radius);

private:
    std::shared_ptr<const Image> source_;
    FrameMemory memory_;
    StageTimes times_;
    device::Resampling toPreview_;
    DeviceBuffer preview_;
    int blurred_ = 0;  ///< the radius; 0: not blurred yet
};

}  // namespace matte
