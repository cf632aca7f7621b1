// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/cuda_picture.h"

namespace matte {
namespace {

constexpr std::size_t kMostOfAFrame = std::size_t(3840) * 2160;

}  // namespace

Image Readback::fetch(const PictureMemory& memory, Size size, PixelFormat format) {
    Image image(size, format);
    const std::scoped_lock lock(mutex_);
    copy(memory, image);
    return image;
}

std::shared_ptr<const Image> Readback::fetchFrame(const PictureMemory& memory, Size size) {
    const std::scoped_lock lock(mutex_);
    auto image = size.pixels() <= kMostOfAFrame ? frames_.take(size, PixelFormat::rgba8) : nullptr;
    if (!image) image = std::make_shared<Image>(size, PixelFormat::rgba8);
    copy(memory, *image);
    return image;
}

/// With the lock held.
void Readback::copy(const PictureMemory& memory, Image& image) {
    onDevice(device_, [&] {
        passStep(fault_, "download");
        memory.ready.waitOn(stream_.get());
        copy_.download(memory.pixels.data(), image.bytes(), image.row(0), stream_.get());
    });
}

CudaPicture::CudaPicture(std::shared_ptr<const PictureMemory> memory,
                         Size size,
                         bool opaque,
                         std::shared_ptr<Readback> readback)
    : memory_(std::move(memory)), readback_(std::move(readback)) {
    shown_ = {memory_->pixels.data(), size, readback_->device(), memory_->ready.get(), memory_->read.get(), opaque};
}

std::shared_ptr<const Image> CudaPicture::image() const {
    const std::scoped_lock lock(mutex_);
    if (!image_) image_ = readback_->fetchFrame(*memory_, shown_.size);
    return image_;
}

}  // namespace matte
