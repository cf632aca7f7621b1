// SPDX-License-Identifier: Apache-2.0
#include "inference/media/video/sound_copy.h"

#include <algorithm>
#include <span>
#include <utility>

#include "inference/core/error.h"

namespace matte {

/// The next packet of the sound that ends after the first picture begins; false at the end.
bool SoundCopy::next() {
    while (!holds_ && packets_->read(*packet_)) {
        const std::int64_t at = packet_->pts != AV_NOPTS_VALUE ? packet_->pts : packet_->dts;
        const bool hasTime = at != AV_NOPTS_VALUE && packet_->dts != AV_NOPTS_VALUE;
        if (!hasTime) ++unwritten_;
        holds_ = hasTime && seconds(at + packet_->duration) > 0;
        if (hasTime && !holds_) ++before_;
        if (!holds_) av_packet_unref(packet_.get());
    }
    return holds_;
}

std::unique_ptr<SoundCopy> SoundCopy::open(const std::filesystem::path& video, double begin) {
    std::unique_ptr<SoundCopy> made(new SoundCopy);
    made->packets_ = PacketReader::open(video.string(), false, {});
    const auto refuse = [&] {
        throw Error(ErrorCategory::input, "The sound of " + video.filename().string() + " could not be read.");
    };
    if (!made->packets_ || !made->packet_) refuse();
    AVFormatContext* const format = &made->packets_->format();
    const int picture = av_find_best_stream(format, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
    const int sound = av_find_best_stream(format, AVMEDIA_TYPE_AUDIO, -1, picture, nullptr, 0);
    const auto isSound = [](const AVStream* stream) { return stream->codecpar->codec_type == AVMEDIA_TYPE_AUDIO; };
    const std::span streams(format->streams, format->nb_streams);
    if (sound < 0 && (made->packets_->readErrors() > 0 || std::ranges::any_of(streams, isSound))) refuse();
    if (sound < 0 || picture < 0) return nullptr;
    made->begin_ = begin;
    made->sound_ = format->streams[sound];
    made->packets_->choose(*format->streams[sound]);
    return made;
}

bool SoundCopy::addTo(AVFormatContext& file) {
    if (avformat_query_codec(file.oformat, sound_->codecpar->codec_id, FF_COMPLIANCE_NORMAL) != 1) return false;
    copy_ = avformat_new_stream(&file, nullptr);
    if (!copy_ || avcodec_parameters_copy(copy_->codecpar, sound_->codecpar) < 0) return false;
    copy_->codecpar->codec_tag = 0;  // each form has its own
    copy_->time_base = sound_->time_base;
    return true;
}

void SoundCopy::writeUntil(AVFormatContext& file, double end) {
    while (next()) {
        if (seconds(packet_->dts) >= end) return;
        const auto shift = std::int64_t(begin_ / av_q2d(sound_->time_base));
        if (packet_->pts != AV_NOPTS_VALUE) packet_->pts -= shift;
        packet_->dts -= shift;
        av_packet_rescale_ts(packet_.get(), sound_->time_base, copy_->time_base);
        packet_->stream_index = copy_->index;
        packet_->pos = -1;
        holds_ = false;
        // Of a few codecs (TrueHD) several packets share a time, which mkv holds.
        const bool mustGrow = (file.oformat->flags & AVFMT_TS_NONSTRICT) == 0;
        if (isRefused_ || packet_->dts < last_ + (mustGrow ? 1 : 0)) {
            av_packet_unref(packet_.get());
            ++unwritten_;
            continue;
        }
        last_ = packet_->dts;
        isRefused_ = av_interleaved_write_frame(&file, packet_.get()) < 0;  // takes the packet either way
        ++(isRefused_ ? unwritten_ : written_);
    }
}

Loss SoundCopy::loss() const {
    const PacketReader& packets = *packets_;
    Loss loss;
    loss.soundPackets = packets.lost() + packets.incomplete();
    // No sound is heard before its video alone: then its times are wrong.
    loss.soundUnwritten = unwritten_ + (written_ == 0 ? before_ : 0);
    loss.readErrors = packets.readErrors();
    loss.endsEarly = packets.endsEarly();
    return loss;
}

}  // namespace matte
