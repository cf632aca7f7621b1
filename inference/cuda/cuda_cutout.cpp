// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/cuda_cutout.h"

#include <algorithm>

#include "inference/cpu/refine.h"

namespace matte {

std::shared_ptr<const DeviceBuffer> DevicePool::take(std::size_t bytes) {
    std::unique_ptr<DeviceBuffer> taken;
    {
        const std::scoped_lock lock(mutex_);
        const auto fits = std::ranges::find(spare_, bytes, &DeviceBuffer::bytes);
        if (fits != spare_.end()) {
            taken = std::make_unique<DeviceBuffer>(std::move(*fits));
            spare_.erase(fits);
        } else {
            spare_.clear();  // another size is wanted now, and the device may not hold both
        }
    }
    if (!taken) taken = std::make_unique<DeviceBuffer>(bytes);
    return {taken.release(), [pool = shared_from_this()](DeviceBuffer* buffer) {
                const std::unique_ptr<DeviceBuffer> owned(buffer);
                pool->giveBack(std::move(*owned));
            }};
}

void DevicePool::clear() {
    const std::scoped_lock lock(mutex_);
    spare_.clear();
}

void DevicePool::giveBack(DeviceBuffer buffer) {
    const std::scoped_lock lock(mutex_);
    if (spare_.size() < kMostSpare) spare_.push_back(std::move(buffer));
}

CudaCutout::CudaCutout(std::shared_ptr<const Image> source, DevicePool& pool) : source_(std::move(source)) {
    if (source_->format() == PixelFormat::gray8) {
        throw Error(Area::input, "A picture without colour can't be cut out: convert it to RGB.");
    }
    fields_.size = shrunkTo(source_->size(), kFieldLongestSide);
    memory_ = pool.take(fieldBytes() + source_->bytes());
    auto* plane = memory_->as<float4>();
    for (float4** part :
         {&fields_.coefficients, &fields_.foreground, &fields_.background, &fields_.blurred, &fields_.linear}) {
        *part = plane;
        plane += fields_.size.pixels();
    }
}

device::Source CudaCutout::picture() const {
    const bool rgba = source_->format() == PixelFormat::rgba8;
    return {reinterpret_cast<const std::uint8_t*>(pictureMemory()), source_->size(), source_->strideBytes(),
            rgba ? device::SourceFormat::rgba8 : device::SourceFormat::bgr8};
}

device::Source CudaCutout::pictureAt(Size size, cudaStream_t stream) {
    if (size == source_->size()) return picture();
    if (!(toPreview_.to() == size)) {
        DeviceBuffer pixels(size.pixels() * 4);
        device::Resampling resampling(source_->size(), size);
        // The weights were copied by the default stream, for which this one does not wait.
        CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));
        device::resamplePicture(picture(), resampling, pixels.as<std::uint8_t>(), stream);
        preview_ = std::move(pixels);
        toPreview_ = std::move(resampling);
    }
    return {preview_.as<std::uint8_t>(), size, std::ptrdiff_t(size.width) * 4, device::SourceFormat::rgba8};
}

void CudaCutout::blur(float strength,
                      const device::Scratch& scratch,
                      const device::LookBlock* look,
                      cudaStream_t stream) {
    if (strength == blurred_) return;
    device::blurBackground(fields_, scratch, look, stream);
    blurred_ = strength;
}

}  // namespace matte
