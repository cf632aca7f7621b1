// SPDX-License-Identifier: Apache-2.0
#include "inference/media/virtual_camera/camera_picture.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "inference/media/frame_convert.h"

namespace matte {
namespace {

AVPixelFormat formatOf(Encoding encoding) {
    switch (encoding) {
        case Encoding::yuyv: return AV_PIX_FMT_YUYV422;
        case Encoding::nv12: return AV_PIX_FMT_NV12;
        default: return AV_PIX_FMT_BGRA;
    }
}

/// As large as `picture` fits into `room`; even, because two columns and two rows may share a colour.
Size fitted(Size picture, Size room) {
    const double scale = std::min(double(room.width) / picture.width, double(room.height) / picture.height);
    const auto even = [&](int side, int most) {
        return std::clamp(int(std::lround(side * scale / 2)) * 2, 2, most & ~1);
    };
    return {even(picture.width, room.width), even(picture.height, room.height)};
}

}  // namespace

CameraPicture::CameraPicture(Encoding encoding, Size size)
    : encoding_(encoding), size_(size), bytes_(rawBytes(encoding, size, packedRawStride(encoding, size.width))) {}

const std::vector<std::uint8_t>& CameraPicture::drawBlack() {
    constexpr std::uint8_t kBlack = 16, kNoColor = 128;  // studio range
    const std::size_t pixels = size_.pixels();
    switch (encoding_) {
        case Encoding::yuyv:
            for (std::size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = i % 2 == 0 ? kBlack : kNoColor;
            break;
        case Encoding::nv12:
            std::fill_n(bytes_.begin(), pixels, kBlack);
            std::fill(bytes_.begin() + std::ptrdiff_t(pixels), bytes_.end(), kNoColor);
            break;
        default:
            for (std::size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = i % 4 == 3 ? 255 : 0;
    }
    last_ = {};
    return bytes_;
}

const std::vector<std::uint8_t>& CameraPicture::draw(const ImageView& picture) {
    const Size from = picture.size, to = fitted(from, size_);
    if (!(from == last_)) drawBlack();  // other bars
    last_ = from;
    // Its colours go on where it is transparent, and may be those of the room.
    overBlack_.resize(from.pixels() * 4);
    for (int y = 0; y < from.height; ++y) {
        const std::uint8_t* in = picture.row(y);
        std::uint8_t* out = overBlack_.data() + std::size_t(y) * std::size_t(from.width) * 4;
        for (int x = 0; x < from.width; ++x, in += 4, out += 4) {
            const int alpha = in[3];
            for (int c = 0; c < 3; ++c) out[c] = std::uint8_t((in[c] * alpha + 127) / 255);
            out[3] = 255;
        }
    }
    const AVPixelFormat format = formatOf(encoding_);
    scaler_.reset(sws_getCachedContext(scaler_.release(), from.width, from.height, AV_PIX_FMT_RGBA, to.width, to.height,
                                       format, SWS_BILINEAR, nullptr, nullptr, nullptr));
    if (!scaler_) return bytes_;
    constexpr int unit = 1 << 16;
    sws_setColorspaceDetails(scaler_.get(), sws_getCoefficients(SWS_CS_DEFAULT), 1, sws_getCoefficients(SWS_CS_ITU601),
                             0, 0, unit, unit);
    const int left = (size_.width - to.width) / 4 * 2, top = (size_.height - to.height) / 4 * 2;
    const auto stride = int(packedRawStride(encoding_, size_.width));
    const int pixelBytes = encoding_ == Encoding::nv12 ? 1 : stride / size_.width;
    std::uint8_t* first = bytes_.data() + std::ptrdiff_t(top) * stride + std::ptrdiff_t(left) * pixelBytes;
    std::uint8_t* colors = bytes_.data() + size_.pixels() + std::ptrdiff_t(top / 2) * stride + left;
    std::uint8_t* planes[4] = {first, encoding_ == Encoding::nv12 ? colors : nullptr};
    const int strides[4] = {stride, stride};
    const std::uint8_t* rows[4] = {overBlack_.data()};
    const int rowBytes[4] = {from.width * 4};
    sws_scale(scaler_.get(), rows, rowBytes, 0, from.height, planes, strides);
    return bytes_;
}

}  // namespace matte
