// SPDX-License-Identifier: Apache-2.0
#include "inference/io/sound_copy.h"

#include <limits>
#include <utility>

#include "inference/io/ffmpeg.h"

namespace matte {

struct SoundCopy::State {
    ffmpeg::Input input;
    const AVStream* sound = nullptr;
    AVStream* copy = nullptr;
    double begin = 0;  ///< when the first picture is to be seen, in the video's own time
    ffmpeg::Packet packet{av_packet_alloc()};
    bool holds = false;                                            ///< a packet that is not written yet
    std::int64_t last = std::numeric_limits<std::int64_t>::min();  ///< ticks of the copy's packet before

    [[nodiscard]] double seconds(std::int64_t ticks) const { return double(ticks) * av_q2d(sound->time_base) - begin; }

    /// The next packet of the sound that ends after the first picture begins; false at the end.
    bool next() {
        while (!holds && av_read_frame(input.get(), packet.get()) >= 0) {
            const std::int64_t at = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
            holds = packet->stream_index == sound->index && at != AV_NOPTS_VALUE && packet->dts != AV_NOPTS_VALUE &&
                    seconds(at + packet->duration) > 0;
            if (!holds) av_packet_unref(packet.get());
        }
        return holds;
    }
};

SoundCopy::SoundCopy(std::unique_ptr<State> state) : state_(std::move(state)) {}
SoundCopy::~SoundCopy() = default;

std::unique_ptr<SoundCopy> SoundCopy::open(const std::filesystem::path& video, double begin) {
    AVFormatContext* format = nullptr;
    AVDictionary* options = nullptr;
    av_dict_set(&options, "protocol_whitelist", "file", 0);  // a file must not make FFmpeg open others
    const int opened = avformat_open_input(&format, video.c_str(), nullptr, &options);
    av_dict_free(&options);
    if (opened < 0) return nullptr;
    auto state = std::make_unique<State>();
    state->input.reset(format);
    if (!state->packet || avformat_find_stream_info(format, nullptr) < 0) return nullptr;
    const int picture = av_find_best_stream(format, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
    const int sound = av_find_best_stream(format, AVMEDIA_TYPE_AUDIO, -1, picture, nullptr, 0);
    if (sound < 0 || picture < 0) return nullptr;
    state->begin = begin;
    state->sound = format->streams[sound];
    for (unsigned i = 0; i < format->nb_streams; ++i) {
        if (int(i) != sound) format->streams[i]->discard = AVDISCARD_ALL;
    }
    return std::unique_ptr<SoundCopy>(new SoundCopy(std::move(state)));
}

std::string SoundCopy::codec() const {
    return avcodec_get_name(state_->sound->codecpar->codec_id);
}

bool SoundCopy::addTo(AVFormatContext& file) {
    State& s = *state_;
    if (avformat_query_codec(file.oformat, s.sound->codecpar->codec_id, FF_COMPLIANCE_NORMAL) != 1) return false;
    s.copy = avformat_new_stream(&file, nullptr);
    if (!s.copy || avcodec_parameters_copy(s.copy->codecpar, s.sound->codecpar) < 0) return false;
    s.copy->codecpar->codec_tag = 0;  // each form has its own
    s.copy->time_base = s.sound->time_base;
    return true;
}

bool SoundCopy::writeUntil(AVFormatContext& file, double seconds) {
    State& s = *state_;
    while (s.next()) {
        if (s.seconds(s.packet->dts) >= seconds) return true;
        const auto shift = std::int64_t(s.begin / av_q2d(s.sound->time_base));
        if (s.packet->pts != AV_NOPTS_VALUE) s.packet->pts -= shift;
        s.packet->dts -= shift;
        av_packet_rescale_ts(s.packet.get(), s.sound->time_base, s.copy->time_base);
        s.packet->stream_index = s.copy->index;
        s.packet->pos = -1;
        s.holds = false;
        // Of a few codecs (TrueHD) several packets share a time, which mkv holds.
        const bool mustGrow = (file.oformat->flags & AVFMT_TS_NONSTRICT) == 0;
        if (s.packet->dts < s.last + (mustGrow ? 1 : 0)) {
            av_packet_unref(s.packet.get());
            continue;
        }
        s.last = s.packet->dts;
        if (av_interleaved_write_frame(&file, s.packet.get()) < 0) return false;  // takes the packet either way
    }
    return true;
}

}  // namespace matte
