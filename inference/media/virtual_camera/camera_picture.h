// SPDX-License-Identifier: Apache-2.0
// CameraPicture: a picture scaled and laid out as a camera's buffer holds it. One thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "inference/media/capture/camera.h"
#include "inference/media/frame_source.h"
#include "inference/media/video/ffmpeg.h"

namespace matte {

class CameraPicture {
public:
    /// yuyv, nv12 or bgra, of even sides.
    CameraPicture(Encoding encoding, Size size);

    /// `picture`, rgba8 of any size, as large as it fits, centred on black; over black where it is transparent.
    const std::vector<std::uint8_t>& draw(const ImageView& picture);
    const std::vector<std::uint8_t>& drawBlack();

    [[nodiscard]] Encoding encoding() const { return encoding_; }
    [[nodiscard]] Size size() const { return size_; }

private:
    Encoding encoding_;
    Size size_, last_;  ///< last_: of the picture before
    std::vector<std::uint8_t> bytes_, overBlack_;
    ffmpeg::Scaler scaler_;
};

}  // namespace matte
