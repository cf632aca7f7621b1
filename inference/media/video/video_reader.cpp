// SPDX-License-Identifier: Apache-2.0
#include "inference/media/video/video_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numbers>
#include <utility>

#include "inference/media/video/deinterlacer.h"
#include "inference/media/video/ffmpeg.h"
#include "inference/media/video/video_converter.h"

namespace matte {
namespace {

using Seconds = std::chrono::duration<double>;

/// So many packets in a row that nothing can be decoded from end a video.
constexpr int kMostDamaged = 4096;

Turn turnOf(const AVStream& stream) {
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
    const AVPacketSideData* side = av_packet_side_data_get(
        stream.codecpar->coded_side_data, stream.codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
    const std::uint8_t* matrix = side ? side->data : nullptr;
#else
    const std::uint8_t* matrix = av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, nullptr);
#endif
    if (!matrix) return {};
    // Where a step to the right goes, (a, b), and one down, (c, d); libavutil/display.h.
    std::array<std::int32_t, 9> numbers{};
    std::memcpy(numbers.data(), matrix, sizeof numbers);
    const double a = numbers[0], b = numbers[1], c = numbers[3], d = numbers[4];
    const bool isMirrored = a * d - b * c < 0;
    const double radians = isMirrored ? std::atan2(-b, -a) : std::atan2(b, a);
    return {isMirrored, (int(std::lround(radians / (std::numbers::pi / 2))) + 4) % 4};
}

}  // namespace

struct VideoReader::State {
    bool openDecoder() {
        const AVCodec* decoder = nullptr;
        const int index = av_find_best_stream(format(), AVMEDIA_TYPE_VIDEO, -1, -1, &decoder, 0);
        if (index < 0 || !decoder) return false;
        stream = format()->streams[index];
        if ((stream->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0) return false;  // the cover of a piece of music
        codec.reset(avcodec_alloc_context3(decoder));
        if (!codec || avcodec_parameters_to_context(codec.get(), stream->codecpar) < 0) return false;
        codec->pkt_timebase = stream->time_base;
        codec->thread_count = 0;  // as many as there are processors
        codec->max_pixels = std::int64_t(Image::kMaxPixels);
        packets->choose(*stream);
        return avcodec_open2(codec.get(), decoder, nullptr) == 0;
    }
    bool findSize() {
        const Size coded{codec->width, codec->height};
        converter.emplace(coded, av_q2d(av_guess_sample_aspect_ratio(format(), stream, nullptr)), turnOf(*stream));
        return coded.width > 0 && coded.height > 0 && converter->size().pixels() <= Image::kMaxPixels;
    }

    /// Reads on until there is something for the decoder, and gives it that. False when nothing comes in time.
    bool feed() {
        if (!packets->read(*packet)) {
            if (packets->isLate()) return false;
            isDraining = true;
            avcodec_send_packet(codec.get(), nullptr);
            return true;
        }
        hasBegun = hasBegun || (packet->flags & AV_PKT_FLAG_KEY) != 0;
        if (hasBegun && (packet->flags & AV_PKT_FLAG_DISCARD) == 0) ++sent;
        noteFault(avcodec_send_packet(codec.get(), packet.get()));  // an error is this packet's alone
        ++sinceFrame;
        av_packet_unref(packet.get());
        return true;
    }

    void noteFault(int result) {
        if (result >= 0 || result == AVERROR(EAGAIN) || result == AVERROR_EOF || !hasBegun) return;
        ++refused;
        packets->noteFault();
    }

    int receive() {
        const int received = avcodec_receive_frame(codec.get(), frame.get());
        noteFault(received);
        if (received < 0) return received;
        ++decoded;
        if (hasBegun && (frame->decode_error_flags != 0 || (frame->flags & AV_FRAME_FLAG_CORRUPT) != 0)) {
            ++damaged;
            packets->noteFault();
        }
        return received;
    }

    /// Of what the decoder was given; false when it needs more. From the first interlaced picture on, all go through
    /// the deinterlacer, which keeps the last one back until the end.
    bool nextFrame() {
        for (;;) {
            if (deinterlacer && deinterlacer->pull(frame.get())) return true;
            const int received = receive();
            if (received < 0 && (!isDraining || isEnded)) return false;
            if (received < 0 && received != AVERROR_EOF && ++sinceFrame < kMostDamaged) continue;  // others follow it
            if (received < 0) isEnded = true;
            if (received == 0 && !isInterlaced && Deinterlacer::isNeededFor(*frame)) {
                isInterlaced = true;
                deinterlacer = Deinterlacer::make(*frame, stream->time_base);
            }
            if (!deinterlacer || (received == 0 && !hasItsSize())) return received == 0;
            deinterlacer->push(received == 0 ? frame.get() : nullptr);
        }
    }

    /// Whether packets may be no picture of their own: those that only help to decode others, and fields.
    [[nodiscard]] bool hidesPackets() const {
        const AVCodecID id = codec->codec_id;
        return isInterlaced || id == AV_CODEC_ID_VP8 || id == AV_CODEC_ID_VP9 || id == AV_CODEC_ID_AV1;
    }

    [[nodiscard]] Loss loss() const {
        Loss loss;
        loss.readErrors = packets->readErrors();
        loss.endsEarly = packets->endsEarly();
        std::uint64_t undecoded = refused;
        // A decoder that stumbled may leave out others without a word.
        if (isEnded && (refused > 0 || damaged > 0) && !hidesPackets() && sent > decoded) {
            undecoded = std::max(undecoded, sent - decoded);
        }
        loss.frames = packets->lost() + undecoded + unconverted;
        loss.damagedFrames = std::max(damaged, packets->incomplete() - std::min(packets->incomplete(), refused));
        if (loss.frames + loss.damagedFrames > 0) loss.ofFrames = decoded - unconverted + loss.frames;
        return loss;
    }

    [[nodiscard]] bool hasItsSize() const { return Size{frame->width, frame->height} == converter->coded(); }

    [[nodiscard]] AVFormatContext* format() const { return &packets->format(); }

    std::unique_ptr<PacketReader> packets;
    AVStream* stream = nullptr;
    ffmpeg::Codec codec;
    ffmpeg::Packet packet{av_packet_alloc()};
    ffmpeg::Frame frame{av_frame_alloc()};
    std::optional<VideoConverter> converter;
    bool isInterlaced = false;                   ///< a picture was
    std::unique_ptr<Deinterlacer> deinterlacer;  ///< null where there is none
    bool isDraining = false, isEnded = false;    ///< there are no more packets; nor pictures
    int sinceFrame = 0;                          ///< packets for the decoder

    // Of this pass. The account begins with the first packet that can be decoded by itself.
    bool hasBegun = false;
    std::uint64_t sent = 0, refused = 0;                      ///< packets
    std::uint64_t decoded = 0, damaged = 0, unconverted = 0;  ///< pictures
    Loss worst;                                               ///< of the passes before
};

VideoReader::VideoReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
VideoReader::~VideoReader() = default;

std::unique_ptr<VideoReader> VideoReader::open(const std::string& where, bool isAddress, const Patience& patience) {
    auto state = std::make_unique<State>();
    state->packets = PacketReader::open(where, isAddress, patience);
    if (!state->packet || !state->frame || !state->packets) return nullptr;
    if (!state->openDecoder() || !state->findSize()) return nullptr;
    return std::unique_ptr<VideoReader>(new VideoReader(std::move(state)));
}

Size VideoReader::size() const {
    return state_->converter->size();
}

double VideoReader::rate() const {
    const double rate = av_q2d(av_guess_frame_rate(state_->format(), state_->stream, nullptr));
    return rate >= 0.1 && rate <= 1000 ? rate : 30;
}

double VideoReader::frames() const {
    if (state_->stream->nb_frames > 0) return double(state_->stream->nb_frames);
    if (state_->format()->duration <= 0) return 0;
    return std::round(double(state_->format()->duration) / AV_TIME_BASE * rate());
}

std::string VideoReader::codec() const {
    return avcodec_get_name(state_->codec->codec_id);
}

bool VideoReader::grab() {
    State& s = *state_;
    s.packets->beginWait();
    for (s.sinceFrame = 0; s.sinceFrame < kMostDamaged;) {
        if (s.nextFrame()) return true;
        if (s.isEnded || !s.feed()) return false;
    }
    s.packets->giveUp();
    return false;
}

std::optional<Seconds> VideoReader::time() const {
    const std::int64_t at = state_->frame->best_effort_timestamp;
    if (at == AV_NOPTS_VALUE) return std::nullopt;
    return Seconds(double(at) * av_q2d(state_->stream->time_base));
}

Seconds VideoReader::lasts() const {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
    const std::int64_t ticks = state_->frame->duration;
#else
    const std::int64_t ticks = state_->frame->pkt_duration;
#endif
    return Seconds(double(std::max<std::int64_t>(ticks, 0)) * av_q2d(state_->stream->time_base));
}

Seconds VideoReader::length() const {
    return Seconds(std::max(0.0, double(state_->format()->duration) / AV_TIME_BASE));
}

Loss VideoReader::loss() const {
    const Loss now = state_->loss();
    if (!now.any()) return state_->worst;
    return now.frames + now.damagedFrames >= state_->worst.frames + state_->worst.damagedFrames ? now : state_->worst;
}

bool VideoReader::isLate() const {
    return state_->packets->isLate();
}

bool VideoReader::hasItsSize() const {
    return state_->hasItsSize();
}

bool VideoReader::retrieve(Image& image) {
    if (state_->converter->convert(*state_->frame, image)) return true;
    ++state_->unconverted;
    return false;
}

bool VideoReader::rewind() {
    State& s = *state_;
    const Loss worst = loss();
    if (!s.packets->rewind()) return false;
    s.worst = worst;
    avcodec_flush_buffers(s.codec.get());
    s.deinterlacer.reset();
    s.isInterlaced = false;
    s.isDraining = s.isEnded = s.hasBegun = false;
    s.sent = s.refused = s.decoded = s.damaged = s.unconverted = 0;
    return true;
}

}  // namespace matte
