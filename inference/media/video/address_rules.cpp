// SPDX-License-Identifier: Apache-2.0
#include "inference/media/video/ffmpeg.h"

#include <algorithm>
#include <array>
#include <string_view>

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

}  // namespace matte
