// SPDX-License-Identifier: Apache-2.0
// A cut-out on the GPU: the picture and its fields in device memory of its own, taken from a pool so that cutting out
// pictures of one size again and again allocates nothing. The pool: any thread. The cut-out: as engine.h has it.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "inference/cuda/pixels.h"
#include "inference/engine.h"

namespace matte {

/// Device memory that is used again.
class DevicePool : public std::enable_shared_from_this<DevicePool> {
public:
    /// Exactly `bytes`, not initialised. The pool has them again when the last owner lets go, and hands them out in the
    /// same stream's order.
    std::shared_ptr<const DeviceBuffer> take(std::size_t bytes);
    /// Frees what nobody has.
    void clear();

private:
    static constexpr std::size_t kMostSpare = 3;  ///< what a slow reader, a writer and one between them hold
    void giveBack(DeviceBuffer buffer);

    std::mutex mutex_;
    std::vector<DeviceBuffer> spare_;
};

class CudaCutout final : public Cutout {
public:
    /// Throws Error(input) when the picture is neither rgba8 nor bgr8.
    CudaCutout(std::shared_ptr<const Image> source, DevicePool& pool);
    [[nodiscard]] std::shared_ptr<const Image> source() const override { return source_; }
    [[nodiscard]] const StageTimes& times() const override { return times_; }

    [[nodiscard]] std::byte* pictureMemory() const { return memory_->data() + fieldBytes(); }
    [[nodiscard]] const device::Fields& fields() const { return fields_; }
    [[nodiscard]] device::Source picture() const;
    /// The picture itself, or a preview of `size` that is kept for the next time.
    device::Source pictureAt(Size size, cudaStream_t stream);
    /// Blurs the background unless it is blurred so already; `look` lies in device memory and says `strength` too.
    void blur(float strength, const device::Scratch& scratch, const device::LookBlock* look, cudaStream_t stream);

    StageTimes times_;

private:
    [[nodiscard]] std::size_t fieldBytes() const {
        return fields_.size.pixels() * sizeof(float4) * device::Fields::kPlanes;
    }

    std::shared_ptr<const Image> source_;
    std::shared_ptr<const DeviceBuffer> memory_;  ///< the planes of the fields, then the picture
    device::Fields fields_;
    device::Resampling toPreview_;
    DeviceBuffer preview_;
    float blurred_ = -1;
};

}  // namespace matte
