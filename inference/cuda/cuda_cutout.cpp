// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/cuda_cutout.h"

#include <utility>

namespace matte {

CudaCutout::CudaCutout(std::shared_ptr<const Image> source, BufferPool<DeviceBuffer>& pool)
    : source_(std::move(source)) {
    if (source_->format() == PixelFormat::gray8) {
        throw Error(ErrorCategory::input, "A picture without colour can't be cut out: convert it to RGB.");
    }
    const Size size = source_->size();
    memory_ = FrameMemory(size, source_->format(), pool.take(FrameMemory::bytes(size, source_->format())));
}

device::Source CudaCutout::pictureAt(Size size, cudaStream_t stream) {
    if (size == source_->size()) return memory_.picture();
    if (!(toPreview_.to() == size)) {
        DeviceBuffer pixels(size.pixels() * 4);
        device::Resampling resampling(source_->size(), size);
        device::resamplePicture(memory_.picture(), resampling, pixels.as<std::uint8_t>(), stream);
        preview_ = std::move(pixels);
        toPreview_ = std::move(resampling);
    }
    return {preview_.as<std::uint8_t>(), size, std::ptrdiff_t(size.width) * 4, PixelFormat::rgba8};
}

bool CudaCutout::needsBlur(int radius) {
    return std::exchange(blurred_, radius) != radius;
}

}  // namespace matte
