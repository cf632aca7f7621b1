// SPDX-License-Identifier: Apache-2.0
#include "inference/media/video/ffmpeg.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace matte {
namespace {

/// Protocols of FFmpeg that an address of a scheme is read with, and forms beside kForms that it may have.
struct Rule {
    std::string_view scheme;
    const char *protocols, *forms;
};
constexpr std::array<Rule, 8> kRules{{{"http", "http,https,httpproxy,tls,tcp,crypto", ",hls,dash"},
                                      {"https", "http,https,httpproxy,tls,tcp,crypto", ",hls,dash"},
                                      {"rtsp", "rtp,srtp,udp,tcp", ",rtsp"},
                                      {"rtsps", "rtp,srtp,udp,tcp,tls", ",rtsp"},
                                      {"rtmp", "rtmp,tcp", ""},
                                      {"udp", "udp", ""},
                                      {"tcp", "tcp", ""},
                                      {"srt", "srt", ""}}};
/// What holds its pictures and sound itself.
const char* const kForms =
    "mpegts,mpeg,mpegvideo,flv,live_flv,matroska,webm,mov,mp4,avi,ogg,asf,nut,h264,hevc,m4v,av1,obu,ivf,mjpeg,mpjpeg,"
    "gif,mxf,yuv4mpegpipe,dv,h261,h263,vc1,dirac,rm,wtv,aac,mp3,ac3,eac3,flac,wav,webvtt";

using Bytes = std::vector<std::uint8_t>;

/// Up to `most` bytes from there on.
Bytes bytesAt(AVIOContext& io, std::int64_t from, std::int64_t most) {
    Bytes bytes(std::size_t(most), 0);
    const int count = avio_seek(&io, from, SEEK_SET) < 0 ? 0 : avio_read(&io, bytes.data(), int(most));
    bytes.resize(std::size_t(std::max(count, 0)));
    return bytes;
}

/// By its last byte, but for zeros that somebody filled it up with.
bool isGifCut(const Bytes& end) {
    constexpr std::uint8_t kTrailer = 0x3b;
    const auto last = std::find_if(end.rbegin(), end.rend(), [](std::uint8_t byte) { return byte != 0; });
    return last == end.rend() || *last != kTrailer;
}

/// By its last page: a header of 27 bytes, then one for each of its segments that says how long that is.
bool isOggCut(const Bytes& end) {
    constexpr std::string_view kCapture = "OggS";
    constexpr std::size_t kHeader = 27, kCount = 26;
    const auto page = std::find_end(end.begin(), end.end(), kCapture.begin(), kCapture.end());
    const auto left = std::size_t(end.end() - page);
    if (left == 0) return false;
    if (left < kHeader || left < kHeader + page[kCount]) return true;
    std::size_t size = kHeader + page[kCount];
    for (std::size_t i = 0; i < page[kCount]; ++i) size += page[std::ptrdiff_t(kHeader + i)];
    return size > left;
}

/// It consists of packets of one size, each of which begins with the same byte.
bool isTransportStreamCut(const Bytes& begin, std::int64_t size) {
    constexpr std::uint8_t kSync = 0x47;
    constexpr std::size_t kTries = 5;
    for (const std::size_t packet : {188U, 192U, 204U}) {
        const std::size_t first = packet == 192 ? 4 : 0;  // behind a time
        bool isThis = begin.size() >= first + packet * kTries;
        for (std::size_t i = 0; isThis && i < kTries; ++i) isThis = begin[first + i * packet] == kSync;
        if (isThis) return size % std::int64_t(packet) != 0;
    }
    return false;
}

}  // namespace

void setRules(AVDictionary** options, const std::string& where, bool isAddress) {
    if (!isAddress) {
        av_dict_set(options, "protocol_whitelist", "file", 0);
        return;
    }
    const std::string_view scheme = std::string_view(where).substr(0, where.find("://"));
    const auto rule = std::ranges::find(kRules, scheme, &Rule::scheme);
    const bool isKnown = rule != kRules.end();
    av_dict_set(options, "protocol_whitelist", isKnown ? rule->protocols : "none", 0);
    av_dict_set(options, "format_whitelist", (std::string(kForms) + (isKnown ? rule->forms : "")).c_str(), 0);
    av_dict_set(options, "rtsp_transport", "tcp", 0);  // packets that are lost would leave traces
}

bool isCutShort(AVFormatContext& format) {
    const std::int64_t size = format.pb ? avio_size(format.pb) : -1;
    if (size <= 0) return false;
    const std::string_view name = format.iformat->name;
    constexpr std::int64_t kLargestPage = 27 + 255 + 255 * 255, kSome = 1024;
    const auto end = [&](std::int64_t count) {
        return bytesAt(*format.pb, std::max<std::int64_t>(size - count, 0), count);
    };
    // What looks like the end may be a byte in the middle of damage.
    if (name == "gif") return avio_tell(format.pb) < size - kSome || isGifCut(end(kSome));
    if (name == "ogg") return isOggCut(end(kLargestPage));
    return name == "mpegts" && isTransportStreamCut(bytesAt(*format.pb, 0, kSome), size);
}

}  // namespace matte
