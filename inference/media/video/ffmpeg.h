// SPDX-License-Identifier: Apache-2.0
// What the callers of FFmpeg share: owners for what it allocates, what it may open, and whether a file was cut. Any
// thread, one at a time for each object.
#pragma once

#include <cstring>
#include <memory>
#include <string>
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

namespace matte {

/// Options for avformat_open_input(): what FFmpeg may open on behalf of a file or an address, for playlists name
/// others, and strangers write them. A file opens no other. An address opens what its own scheme needs, nothing of this
/// machine, and only forms that hold pictures and sound; that of HTTP may be a playlist, whose parts come by HTTP too.
void setRules(AVDictionary** options, const std::string& where, bool isAddress);

/// Whether the last part of an animated GIF, an Ogg file or a transport stream is not whole. False for other forms, and
/// for what is no file. Reads at the end.
bool isCutShort(AVFormatContext& format);

}  // namespace matte
