// SPDX-License-Identifier: Apache-2.0
#include "gui/app/qt_image.h"

#include <QColorSpace>

#include <cstring>

#include "inference/core/error.h"

namespace matte {

std::shared_ptr<const Image> fromQImage(const QImage& picture) {
    if (picture.isNull())
        throw Error(ErrorCategory::input, "The clipboard holds no picture: copy one and paste again.");
    auto image = std::make_shared<Image>(Size{picture.width(), picture.height()}, PixelFormat::rgba8);
    QImage rgba = picture.convertToFormat(QImage::Format_RGBA8888);
    if (rgba.isNull()) throw Error(ErrorCategory::input, "There is not enough memory for this picture: scale it down.");
    if (rgba.colorSpace().isValid()) rgba.convertToColorSpace(QColorSpace::SRgb);
    for (int y = 0; y < rgba.height(); ++y) {
        std::memcpy(image->row(y), rgba.constScanLine(y), std::size_t(image->strideBytes()));
    }
    return image;
}

QImage toQImage(std::shared_ptr<const Image> picture) {
    const ImageView view = picture->view();
    const auto format = view.format == PixelFormat::gray8  ? QImage::Format_Grayscale8
                        : view.format == PixelFormat::bgr8 ? QImage::Format_BGR888
                                                           : QImage::Format_RGBA8888;
    auto* keep = new std::shared_ptr<const Image>(std::move(picture));
    const auto release = [](void* held) { delete static_cast<std::shared_ptr<const Image>*>(held); };
    return QImage(view.data, view.size.width, view.size.height, view.strideBytes, format, release, keep);
}

}  // namespace matte
