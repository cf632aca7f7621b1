// SPDX-License-Identifier: Apache-2.0
#include "inference/io/video_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numbers>
#include <utility>

#include "inference/io/deinterlacer.h"
#include "inference/io/ffmpeg.h"
#include "inference/io/video_converter.h"

namespace matte {
namespace {

using Clock = std::chrono::steady_clock;
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
    /// FFmpeg asks now and then whether it is to give up.
    static int isTooLate(void* self) {
        const auto until = static_cast<const State*>(self)->until;
        return until && Clock::now() > *until ? 1 : 0;
    }
    void allow(std::chrono::milliseconds time) {
        until = time.count() > 0 ? std::optional(Clock::now() + time) : std::nullopt;
    }

    bool openFormat(const std::string& where, bool isAddress) {
        format = avformat_alloc_context();
        if (!format) return false;
        format->interrupt_callback = {isTooLate, this};
        AVDictionary* options = nullptr;
        // Packets that are lost would leave traces, and a file must not make FFmpeg open others.
        if (isAddress) av_dict_set(&options, "rtsp_transport", "tcp", 0);
        if (!isAddress) av_dict_set(&options, "protocol_whitelist", "file", 0);
        const int opened = avformat_open_input(&format, where.c_str(), nullptr, &options);  // frees it on failure
        av_dict_free(&options);
        return opened == 0 && avformat_find_stream_info(format, nullptr) >= 0;
    }
    bool openDecoder() {
        const AVCodec* decoder = nullptr;
        const int index = av_find_best_stream(format, AVMEDIA_TYPE_VIDEO, -1, -1, &decoder, 0);
        if (index < 0 || !decoder) return false;
        stream = format->streams[index];
        if ((stream->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0) return false;  // the cover of a piece of music
        codec.reset(avcodec_alloc_context3(decoder));
        if (!codec || avcodec_parameters_to_context(codec.get(), stream->codecpar) < 0) return false;
        codec->pkt_timebase = stream->time_base;
        codec->thread_count = 0;  // as many as there are processors
        codec->max_pixels = std::int64_t(Image::kMaxPixels);
        return avcodec_open2(codec.get(), decoder, nullptr) == 0;
    }
    bool findSize() {
        const Size coded{codec->width, codec->height};
        converter.emplace(coded, av_q2d(av_guess_sample_aspect_ratio(format, stream, nullptr)), turnOf(*stream));
        return coded.width > 0 && coded.height > 0 && converter->size().pixels() <= Image::kMaxPixels;
    }

    /// When the first picture is to be seen, in seconds, whether it can be decoded or not.
    [[nodiscard]] std::optional<double> begin() const {
        if (stream->start_time == AV_NOPTS_VALUE) return std::nullopt;
        return double(stream->start_time) * av_q2d(stream->time_base);
    }

    /// Reads on until there is something for the decoder, and gives it that. False when nothing comes in time.
    bool feed() {
        const int read = av_read_frame(format, packet.get());
        if (read == AVERROR(EAGAIN)) return isTooLate(this) == 0;
        if (read < 0) {
            if (isTooLate(this) != 0) return false;
            isDraining = true;
            avcodec_send_packet(codec.get(), nullptr);
            return true;
        }
        const AVRational base = format->streams[packet->stream_index]->time_base;
        const std::int64_t at = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
        if (at != AV_NOPTS_VALUE) latest = std::max(latest, double(at + packet->duration) * av_q2d(base));
        if (packet->stream_index == stream->index) {
            avcodec_send_packet(codec.get(), packet.get());  // an error is this packet's alone
            ++sinceFrame;
        }
        av_packet_unref(packet.get());
        return true;
    }

    /// Of what the decoder was given; false when it needs more. From the first interlaced picture on, all go through
    /// the deinterlacer, which keeps the last one back until the end.
    bool nextFrame() {
        for (;;) {
            if (deinterlacer && deinterlacer->pull(frame.get())) return true;
            const int received = avcodec_receive_frame(codec.get(), frame.get());
            if (received < 0 && (!isDraining || isEnded)) return false;
            if (received < 0) isEnded = true;
            if (received == 0 && !isInterlaced && Deinterlacer::isNeededFor(*frame)) {
                isInterlaced = true;
                deinterlacer = Deinterlacer::make(*frame, stream->time_base);
            }
            if (!deinterlacer || (received == 0 && !hasItsSize())) return received == 0;
            deinterlacer->push(received == 0 ? frame.get() : nullptr);
        }
    }

    [[nodiscard]] bool hasItsSize() const { return Size{frame->width, frame->height} == converter->coded(); }

    AVFormatContext* format = nullptr;
    AVStream* stream = nullptr;
    ffmpeg::Codec codec;
    ffmpeg::Packet packet{av_packet_alloc()};
    ffmpeg::Frame frame{av_frame_alloc()};
    std::optional<VideoConverter> converter;
    std::optional<Clock::time_point> until;
    Patience patience;
    bool isInterlaced = false;                                            ///< a picture was
    std::unique_ptr<Deinterlacer> deinterlacer;                           ///< null where there is none
    bool isDraining = false, isEnded = false;                             ///< there are no more packets; nor pictures
    int sinceFrame = 0;                                                   ///< packets for the decoder
    double first = std::numeric_limits<double>::quiet_NaN(), latest = 0;  ///< seconds

    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() { avformat_close_input(&format); }
};

VideoReader::VideoReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
VideoReader::~VideoReader() = default;

std::unique_ptr<VideoReader> VideoReader::open(const std::string& where, bool isAddress, const Patience& patience) {
    av_log_set_level(AV_LOG_QUIET);  // it prints addresses with their passwords, and of damaged files a line a packet
    avformat_network_init();
    auto state = std::make_unique<State>();
    state->patience = patience;
    state->allow(patience.open);
    if (!state->packet || !state->frame || !state->openFormat(where, isAddress)) return nullptr;
    if (!state->openDecoder() || !state->findSize()) return nullptr;
    return std::unique_ptr<VideoReader>(new VideoReader(std::move(state)));
}

Size VideoReader::size() const {
    return state_->converter->size();
}

double VideoReader::rate() const {
    const double rate = av_q2d(av_guess_frame_rate(state_->format, state_->stream, nullptr));
    return rate >= 0.1 && rate <= 1000 ? rate : 30;
}

double VideoReader::frames() const {
    if (state_->stream->nb_frames > 0) return double(state_->stream->nb_frames);
    if (state_->format->duration <= 0) return 0;
    return std::round(double(state_->format->duration) / AV_TIME_BASE * rate());
}

std::string VideoReader::codec() const {
    return avcodec_get_name(state_->codec->codec_id);
}

bool VideoReader::grab() {
    State& s = *state_;
    s.allow(s.patience.read);
    for (s.sinceFrame = 0; s.sinceFrame < kMostDamaged;) {
        if (s.nextFrame()) {
            if (std::isnan(s.first)) s.first = s.begin().value_or(time().value_or(Seconds(0)).count());
            return true;
        }
        if (s.isEnded || !s.feed()) return false;
    }
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
    return Seconds(std::max(0.0, double(state_->format->duration) / AV_TIME_BASE));
}

Seconds VideoReader::reached() const {
    return Seconds(std::isnan(state_->first) ? 0 : std::max(0.0, state_->latest - state_->first));
}

bool VideoReader::hasItsSize() const {
    return state_->hasItsSize();
}

bool VideoReader::retrieve(Image& image) {
    return state_->converter->convert(*state_->frame, image);
}

bool VideoReader::rewind() {
    State& s = *state_;
    s.allow(s.patience.read);
    const std::int64_t begin = s.stream->start_time != AV_NOPTS_VALUE ? s.stream->start_time : 0;
    if (av_seek_frame(s.format, s.stream->index, begin, AVSEEK_FLAG_BACKWARD) < 0 &&
        av_seek_frame(s.format, -1, 0, AVSEEK_FLAG_BYTE) < 0) {
        return false;
    }
    avcodec_flush_buffers(s.codec.get());
    s.deinterlacer.reset();
    s.isInterlaced = false;
    s.isDraining = s.isEnded = false;
    s.latest = 0;
    return true;
}

}  // namespace matte
