// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/cuda_picture.h"

namespace matte {

Image Downloader::fetch(const PictureMemory& memory, Size size, PixelFormat format) {
    Image image(size, format);
    const std::scoped_lock lock(mutex_);
    onDevice(device_, [&] {
        passStep(fault_, "download");
        memory.ready.holdUp(stream_.get());
        copy_.download(memory.pixels.data(), image.bytes(), image.row(0), stream_.get());
    });
    return image;
}

CudaPicture::CudaPicture(std::shared_ptr<const PictureMemory> memory,
                         Size size,
                         bool opaque,
                         std::shared_ptr<Downloader> downloader)
    : memory_(std::move(memory)), downloader_(std::move(downloader)) {
    shown_ = {memory_->pixels.data(), size, downloader_->device(), memory_->ready.get(), memory_->read.get(), opaque};
}

std::shared_ptr<const Image> CudaPicture::image() const {
    const std::scoped_lock lock(mutex_);
    if (!image_) image_ = std::make_shared<const Image>(downloader_->fetch(*memory_, shown_.size, PixelFormat::rgba8));
    return image_;
}

}  // namespace matte
