// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/plate.h"

namespace matte {

const std::uint8_t* Plate::laid(const Background& background, Size frame, Transfer& transfer, cudaStream_t stream) {
    if (background.kind != Background::Kind::image || !background.image) return nullptr;
    const Image& image = *background.image;
    if (picture_ != background.image) {
        picture_.reset();
        frame_ = {};
        uploaded_ = DeviceBuffer();
        uploaded_ = DeviceBuffer(image.bytes());
        transfer.upload(image.row(0), image.bytes(), uploaded_.data(), stream);
        picture_ = background.image;
    }
    if (!(frame_ == frame) || !(background_ == background)) {
        frame_ = {};
        laid_ = DeviceBuffer();
        laid_ = DeviceBuffer(frame.pixels() * 4);
        const Layout layout = layOut(image.size(), frame, background.placement);
        resampling_ = device::Resampling(layout.seen, layout.scaled);
        // The weights were copied by the default stream, for which this one does not wait.
        CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));
        const auto format =
            image.format() == PixelFormat::rgba8 ? device::SourceFormat::rgba8 : device::SourceFormat::bgr8;
        device::layPlate({uploaded_.as<std::uint8_t>(), image.size(), image.strideBytes(), format}, layout, resampling_,
                         frame, background.color, laid_.as<std::uint8_t>(), stream);
        background_ = background;
        frame_ = frame;
    }
    return laid_.as<std::uint8_t>();
}

}  // namespace matte
