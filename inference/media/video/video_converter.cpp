// SPDX-License-Identifier: Apache-2.0
#include "inference/media/video/video_converter.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace matte {
namespace {

/// Without a word about it, pictures of so many lines are taken for BT.709, smaller ones for BT.601, as players do.
constexpr int kHighDefinition = 720;

/// `size` with square pixels instead of ones that are `aspect` times as wide as high; never made smaller.
Size squared(Size size, double aspect) {
    if (!(aspect > 0.1 && aspect < 10) || std::abs(aspect - 1) < 0.005) return size;
    if (aspect > 1) return {int(std::lround(size.width * aspect)), size.height};
    return {size.width, int(std::lround(size.height / aspect))};
}

/// One of FFmpeg's tables that turn YUV to RGB.
const int* coefficientsOf(const AVFrame& frame) {
    switch (ffmpeg::numberOf(frame.colorspace)) {
        case AVCOL_SPC_BT709: return sws_getCoefficients(SWS_CS_ITU709);
        case AVCOL_SPC_BT2020_NCL:
        case AVCOL_SPC_BT2020_CL: return sws_getCoefficients(SWS_CS_BT2020);
        case AVCOL_SPC_SMPTE240M: return sws_getCoefficients(SWS_CS_SMPTE240M);
        case AVCOL_SPC_FCC: return sws_getCoefficients(SWS_CS_FCC);
        case AVCOL_SPC_UNSPECIFIED:
            return sws_getCoefficients(std::min(frame.width, frame.height) >= kHighDefinition ? SWS_CS_ITU709
                                                                                              : SWS_CS_ITU601);
        default: return sws_getCoefficients(SWS_CS_ITU601);
    }
}

/// The format without FFmpeg's old names for those of full range: swscale changes them, and would take each picture for
/// one of another format than the one before.
AVPixelFormat plainFormat(const AVFrame& frame) {
    switch (frame.format) {
        case AV_PIX_FMT_YUVJ420P: return AV_PIX_FMT_YUV420P;
        case AV_PIX_FMT_YUVJ422P: return AV_PIX_FMT_YUV422P;
        case AV_PIX_FMT_YUVJ444P: return AV_PIX_FMT_YUV444P;
        case AV_PIX_FMT_YUVJ440P: return AV_PIX_FMT_YUV440P;
        case AV_PIX_FMT_YUVJ411P: return AV_PIX_FMT_YUV411P;
        default: return AVPixelFormat(frame.format);
    }
}

/// What a picture keeps its light as; nothing for what usual screens show as it is.
std::optional<ToneMap::Signal> widerSignalOf(const AVFrame& frame) {
    using Transfer = ToneMap::Transfer;
    using Primaries = ToneMap::Primaries;
    const int transfer = ffmpeg::numberOf(frame.color_trc), primary = ffmpeg::numberOf(frame.color_primaries);
    const bool isP3 = primary == AVCOL_PRI_SMPTE432;
    const Primaries primaries = isP3 ? Primaries::p3 : Primaries::bt2020;
    if (transfer == AVCOL_TRC_ARIB_STD_B67) return ToneMap::Signal{Transfer::hlg, primaries};
    if (transfer == AVCOL_TRC_SMPTE2084) return ToneMap::Signal{Transfer::pq, primaries};
    const bool isLinear = transfer == AVCOL_TRC_LINEAR;
    if (isLinear || (!isP3 && primary != AVCOL_PRI_BT2020)) return std::nullopt;
    return ToneMap::Signal{Transfer::usual, primaries};
}

bool isFullRange(const AVFrame& frame) {
    return ffmpeg::numberOf(frame.color_range) == AVCOL_RANGE_JPEG || plainFormat(frame) != frame.format;
}

}  // namespace

VideoConverter::VideoConverter(Size coded, double aspect, const Turn& turn)
    : coded_(coded), lying_(squared(coded, aspect)), turn_(turn) {}

Size VideoConverter::size() const {
    return turn_.quarters % 2 == 0 ? lying_ : Size{lying_.height, lying_.width};
}

bool VideoConverter::convert(const AVFrame& frame, Image& image) {
    if (frame.format < 0 || frame.format >= AV_PIX_FMT_NB) return false;
    const auto wider = widerSignalOf(frame);
    if (!scale(frame, wider ? AV_PIX_FMT_BGR48 : AV_PIX_FMT_BGR24)) return false;
    cv::Mat picture = wider ? tonesMapped(*wider) : padded_.colRange(0, lying_.width);
    cv::Mat target(image.size().height, image.size().width, CV_8UC3, image.row(0));
    if (turn_.isMirrored) cv::flip(picture, picture, 1);
    if (turn_.quarters == 0) {
        picture.copyTo(target);
    } else {
        cv::rotate(picture, target, turn_.quarters - 1);  // 0 is a quarter clockwise there
    }
    return true;
}

/// Into `padded_`, with square pixels.
bool VideoConverter::scale(const AVFrame& frame, int format) {
    const int flags = SWS_BICUBIC | (format == AV_PIX_FMT_BGR48 ? SWS_ACCURATE_RND : 0);
    scaler_.reset(sws_getCachedContext(scaler_.release(), frame.width, frame.height, plainFormat(frame), lying_.width,
                                       lying_.height, AVPixelFormat(format), flags, nullptr, nullptr, nullptr));
    if (!scaler_) return false;
    constexpr int unit = 1 << 16;  // brightness, contrast and saturation as they are
    sws_setColorspaceDetails(scaler_.get(), coefficientsOf(frame), isFullRange(frame) ? 1 : 0,
                             sws_getCoefficients(SWS_CS_DEFAULT), 1, 0, unit, unit);
    constexpr int vector = 64;
    padded_.create(lying_.height, (lying_.width + vector - 1) / vector * vector + vector,
                   format == AV_PIX_FMT_BGR48 ? CV_16UC3 : CV_8UC3);
    std::uint8_t* rows[4] = {padded_.data};
    const int strides[4] = {int(padded_.step)};
    return sws_scale(scaler_.get(), frame.data, frame.linesize, 0, frame.height, rows, strides) > 0;
}

/// `padded_` of 16 bits for usual screens.
cv::Mat VideoConverter::tonesMapped(const ToneMap::Signal& signal) {
    if (!toneMap_ || toneMap_->signal() != signal) toneMap_.emplace(signal);
    mapped_.create(lying_.height, lying_.width, CV_8UC3);
    for (int y = 0; y < lying_.height; ++y) {
        toneMap_->apply(padded_.ptr<std::uint16_t>(y), mapped_.ptr<std::uint8_t>(y), lying_.width);
    }
    return mapped_;
}

}  // namespace matte
