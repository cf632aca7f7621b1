// SPDX-License-Identifier: Apache-2.0
// CudaCutout: a cut-out whose picture and guided-filter coefficients lie in device memory. See engine.h for the rules.
#pragma once

#include <memory>
#include <utility>

#include "inference/core/buffer_pool.h"
#include "inference/cuda/frame_memory.h"
#include "inference/engine/engine.h"

namespace matte {

class CudaCutout final : public Cutout {
public:
    /// Throws Error(input) when `source` is gray8.
    CudaCutout(std::shared_ptr<const Image> source, BufferPool<DeviceBuffer>& pool);
    [[nodiscard]] std::shared_ptr<const Image> source() const override { return source_; }
    [[nodiscard]] const StageTimes& times() const override { return times_; }

    [[nodiscard]] const FrameMemory& memory() const { return memory_; }
    /// Sets times().
    void took(StageTimes times) { times_ = std::move(times); }

    /// The picture at `size`: the original, or a preview that is cached for the next call.
    device::Source pictureAt(Size size, cudaStream_t stream);
    /// Whether the background is not yet blurred by `radius`; records that the caller then does so.
    bool needsBlur(int radius);

private:
    std::shared_ptr<const Image> source_;
    FrameMemory memory_;
    StageTimes times_;
    device::Resampling toPreview_;
    DeviceBuffer preview_;
    int blurred_ = 0;  ///< radius of the blurred background; 0: not blurred yet
};

}  // namespace matte
