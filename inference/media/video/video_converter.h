// SPDX-License-Identifier: Apache-2.0
// VideoConverter: converts pictures that FFmpeg decoded to bgr8 for display: by the stream's colour description, tone
// mapped where needed, upright and with square pixels. One thread
// at a time.
#pragma once

#include <optional>

#include <opencv2/core.hpp>

#include "inference/core/image.h"
#include "inference/media/video/ffmpeg.h"
#include "inference/media/video/tone_map.h"

namespace matte {

/// What makes a stream's pictures stand upright: mirrored left to right, if at all, and then turned clockwise.
struct Turn {
    bool isMirrored = false;
    int quarters = 0;
};

class VideoConverter {
public:
    /// Pixels are `aspect` times as wide as high.
    VideoConverter(Size coded, double aspect, const Turn& turn);

    [[nodiscard]] Size coded() const { return coded_; }  ///< of what convert() takes
    [[nodiscard]] Size size() const;                     ///< and turned, of what it gives
    /// Into `image`, bgr8 of size(); false when it can't be converted.
    bool convert(const AVFrame& frame, Image& image);

private:
    bool scale(const AVFrame& frame, int format);
    cv::Mat tonesMapped(const ToneMap::Signal& signal);

    Size coded_, lying_;
    Turn turn_;
    ffmpeg::Scaler scaler_;
    cv::Mat padded_;  ///< [h, w, 3] with rows that are wider: swscale writes whole vectors
    cv::Mat mapped_;  ///< of a wider signal: the same for usual screens
    std::optional<ToneMap> toneMap_;
};

}  // namespace matte
