// SPDX-License-Identifier: Apache-2.0
#include "inference/media/video/sound_copy.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "inference/core/error.h"
#include "inference/media/video/ffmpeg.h"
#include "inference/media/video/packet_reader.h"

namespace matte {

struct SoundCopy::State {
    std::unique_ptr<PacketReader> packets;
    const AVStream* sound = nullptr;
    AVStream* copy = nullptr;
    double begin = 0;  ///< when the first picture is to be seen, in the video's own time
    ffmpeg::Packet packet{av_packet_alloc()};
    bool holds = false;                                            ///< a packet that is not written yet
    std::int64_t last = std::numeric_limits<std::int64_t>::min();  ///< ticks of the copy's packet before
    std::uint64_t written = 0, unwritten = 0, before = 0;          ///< packets; `before` the first picture
    bool isRefused = false;                                        ///< a packet was: the file takes no more of them

    [[nodiscard]] double seconds(std::int64_t ticks) const { return double(ticks) * av_q2d(sound->time_base) - begin; }

    /// The next packet of the sound that ends after the first picture begins; false at the end.
    bool next() {
        while (!holds && packets->read(*packet)) {
            const std::int64_t at = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
            const bool hasTime = at != AV_NOPTS_VALUE && packet->dts != AV_NOPTS_VALUE;
            if (!hasTime) ++unwritten;
            holds = hasTime && seconds(at + packet->duration) > 0;
            if (hasTime && !holds) ++before;
            if (!holds) av_packet_unref(packet.get());
        }
        return holds;
    }
};

SoundCopy::SoundCopy(std::unique_ptr<State> state) : state_(std::move(state)) {}
SoundCopy::~SoundCopy() = default;

std::unique_ptr<SoundCopy> SoundCopy::open(const std::filesystem::path& video, double begin) {
    auto state = std::make_unique<State>();
    state->packets = PacketReader::open(video.string(), false, {});
    const auto refuse = [&] {
        throw Error(ErrorCategory::input, "The sound of " + video.filename().string() + " could not be read.");
    };
    if (!state->packets || !state->packet) refuse();
    AVFormatContext* const format = &state->packets->format();
    const int picture = av_find_best_stream(format, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
    const int sound = av_find_best_stream(format, AVMEDIA_TYPE_AUDIO, -1, picture, nullptr, 0);
    const auto isSound = [](const AVStream* stream) { return stream->codecpar->codec_type == AVMEDIA_TYPE_AUDIO; };
    const std::span streams(format->streams, format->nb_streams);
    if (sound < 0 && (state->packets->readErrors() > 0 || std::ranges::any_of(streams, isSound))) refuse();
    if (sound < 0 || picture < 0) return nullptr;
    state->begin = begin;
    state->sound = format->streams[sound];
    state->packets->choose(*format->streams[sound]);
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

void SoundCopy::writeUntil(AVFormatContext& file, double seconds) {
    State& s = *state_;
    while (s.next()) {
        if (s.seconds(s.packet->dts) >= seconds) return;
        const auto shift = std::int64_t(s.begin / av_q2d(s.sound->time_base));
        if (s.packet->pts != AV_NOPTS_VALUE) s.packet->pts -= shift;
        s.packet->dts -= shift;
        av_packet_rescale_ts(s.packet.get(), s.sound->time_base, s.copy->time_base);
        s.packet->stream_index = s.copy->index;
        s.packet->pos = -1;
        s.holds = false;
        // Of a few codecs (TrueHD) several packets share a time, which mkv holds.
        const bool mustGrow = (file.oformat->flags & AVFMT_TS_NONSTRICT) == 0;
        if (s.isRefused || s.packet->dts < s.last + (mustGrow ? 1 : 0)) {
            av_packet_unref(s.packet.get());
            ++s.unwritten;
            continue;
        }
        s.last = s.packet->dts;
        s.isRefused = av_interleaved_write_frame(&file, s.packet.get()) < 0;  // takes the packet either way
        ++(s.isRefused ? s.unwritten : s.written);
    }
}

Loss SoundCopy::loss() const {
    const PacketReader& packets = *state_->packets;
    Loss loss;
    loss.soundPackets = packets.lost() + packets.incomplete();
    // No sound is heard before its video alone: then its times are wrong.
    loss.soundUnwritten = state_->unwritten + (state_->written == 0 ? state_->before : 0);
    loss.readErrors = packets.readErrors();
    loss.endsEarly = packets.endsEarly();
    return loss;
}

}  // namespace matte
