// SPDX-License-Identifier: Apache-2.0
// On Windows a camera's H264 is decoded by Media Foundation before it gets here (media_foundation_camera.cpp), and
// this check has no FFmpeg.
#include "inference/core/error.h"
#include "inference/media/video/h264_decoder.h"

namespace matte {

struct H264Decoder::Work {};

H264Decoder::H264Decoder(PixelMemory /*memory*/,
                         std::function<void(Frame)> /*deliver*/,
                         std::function<void()> /*fail*/) {
    throw Error(ErrorCategory::source, "H264 can't be decoded here: choose another format, or another camera.");
}
H264Decoder::~H264Decoder() = default;
void H264Decoder::put(std::span<const std::uint8_t> /*unit*/, std::uint64_t /*number*/, Time /*captured*/) {}

}  // namespace matte
