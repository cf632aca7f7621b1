// SPDX-License-Identifier: Apache-2.0
// What FFmpeg's callers here share: owners for what it allocates. For .cpp files that speak FFmpeg. Any thread,
// one at a time for each object.
#pragma once

#include <cstring>
#include <memory>
#include <type_traits>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswscale/swscale.h>
}

namespace matte::ffmpeg {

template <auto release>
struct Release {
    template <typename T>
    void operator()(T* thing) const {
        release(&thing);
    }
};
struct FreeScaler {
    void operator()(SwsContext* scaler) const { sws_freeContext(scaler); }
};

/// An enumeration as the number that it is: FFmpeg puts into its fields what a file says, whether there is such a value
/// or not, and to read that as an enumeration is undefined.
template <typename Field>
int numberOf(const Field& field) {
    static_assert(std::is_enum_v<Field> && sizeof(Field) == sizeof(int));
    int number = 0;
    std::memcpy(&number, &field, sizeof number);
    return number;
}

using Codec = std::unique_ptr<AVCodecContext, Release<avcodec_free_context>>;
using Packet = std::unique_ptr<AVPacket, Release<av_packet_free>>;
using Frame = std::unique_ptr<AVFrame, Release<av_frame_free>>;
using Scaler = std::unique_ptr<SwsContext, FreeScaler>;
using Input = std::unique_ptr<AVFormatContext, Release<avformat_close_input>>;

}  // namespace matte::ffmpeg
