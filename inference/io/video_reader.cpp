// SPDX-License-Identifier: Apache-2.0
#include "inference/io/video_reader.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <opencv2/core.hpp>

#include "inference/io/ffmpeg.h"
#include "inference/io/tone_map.h"

extern "C" {
#include <libavutil/display.h>
}

namespace matte {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// So many packets in a row that nothing can be decoded from end a video.
constexpr int kMostDamaged = 4096;
/// Without a word about it, pictures of so many lines are taken for BT.709, smaller ones for BT.601, as players do.
constexpr int kHighDefinition = 720;

/// Quarters clockwise by which the pictures must be turned to stand upright.
int quartersToTurn(const AVStream& stream) {
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
    const AVPacketSideData* side = av_packet_side_data_get(
        stream.codecpar->coded_side_data, stream.codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
    const std::uint8_t* matrix = side ? side->data : nullptr;
#else
    const std::uint8_t* matrix = av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, nullptr);
#endif
    if (!matrix) return 0;
    const double degrees = -av_display_rotation_get(reinterpret_cast<const std::int32_t*>(matrix));
    return std::isfinite(degrees) ? ((int(std::lround(degrees / 90)) % 4) + 4) % 4 : 0;
}

/// `size` with square pixels instead of ones that are `aspect` times as wide as high; never made smaller.
Size squared(Size size, double aspect) {
    if (!(aspect > 0.1 && aspect < 10) || std::abs(aspect - 1) < 0.005) return size;
    if (aspect > 1) return {int(std::lround(size.width * aspect)), size.height};
    return {size.width, int(std::lround(size.height / aspect))};
}

/// One of FFmpeg's tables that turn YUV to RGB.
const int* coefficientsOf(const AVFrame& frame) {
    switch (frame.colorspace) {
        case AVCOL_SPC_BT709: return sws_getCoefficients(SWS_CS_ITU709);
        case AVCOL_SPC_BT2020_NCL:
        case AVCOL_SPC_BT2020_CL: return sws_getCoefficients(SWS_CS_BT2020);
        case AVCOL_SPC_SMPTE240M: return sws_getCoefficients(SWS_CS_SMPTE240M);
        case AVCOL_SPC_FCC: return sws_getCoefficients(SWS_CS_FCC);
        case AVCOL_SPC_UNSPECIFIED:
            return sws_getCoefficients(std::min(frame.width, frame.height) >= kHighDefinition ? SWS_CS_ITU709
                                                                                              : SWS_CS_ITU601);
        default: return sws_getCoefficients(SWS_CS_ITU601);
    }
}

/// The format without FFmpeg's old names for those of full range: swscale changes them, and would take each picture for
/// one of another format than the one before.
AVPixelFormat plainFormat(const AVFrame& frame) {
    switch (frame.format) {
        case AV_PIX_FMT_YUVJ420P: return AV_PIX_FMT_YUV420P;
        case AV_PIX_FMT_YUVJ422P: return AV_PIX_FMT_YUV422P;
        case AV_PIX_FMT_YUVJ444P: return AV_PIX_FMT_YUV444P;
        case AV_PIX_FMT_YUVJ440P: return AV_PIX_FMT_YUV440P;
        case AV_PIX_FMT_YUVJ411P: return AV_PIX_FMT_YUV411P;
        default: return AVPixelFormat(frame.format);
    }
}

/// How a picture of high dynamic range keeps its light; nothing for one of the usual range.
std::optional<ToneMap::Transfer> highRangeOf(const AVFrame& frame) {
    if (frame.color_trc == AVCOL_TRC_ARIB_STD_B67) return ToneMap::Transfer::hlg;
    if (frame.color_trc == AVCOL_TRC_SMPTE2084) return ToneMap::Transfer::pq;
    return std::nullopt;
}

bool isFullRange(const AVFrame& frame) {
    return frame.color_range == AVCOL_RANGE_JPEG || plainFormat(frame) != frame.format;
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
        coded = {codec->width, codec->height};
        quarters = quartersToTurn(*stream);
        lying = squared(coded, av_q2d(av_guess_sample_aspect_ratio(format, stream, nullptr)));
        upright = quarters % 2 == 0 ? lying : Size{lying.height, lying.width};
        return coded.width > 0 && coded.height > 0 && lying.pixels() <= Image::kMaxPixels;
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

    /// `padded` of 16 bits for usual screens.
    cv::Mat tonesMapped(ToneMap::Transfer transfer) {
        if (!toneMap || toneMap->transfer() != transfer) toneMap.emplace(transfer);
        mapped.create(lying.height, lying.width, CV_8UC3);
        for (int y = 0; y < lying.height; ++y) {
            toneMap->apply(padded.ptr<std::uint16_t>(y), mapped.ptr<std::uint8_t>(y), lying.width);
        }
        return mapped;
    }

    AVFormatContext* format = nullptr;
    AVStream* stream = nullptr;
    ffmpeg::Codec codec;
    ffmpeg::Packet packet{av_packet_alloc()};
    ffmpeg::Frame frame{av_frame_alloc()};
    ffmpeg::Scaler scaler;
    std::optional<Clock::time_point> until;
    Patience patience;
    Size coded, lying, upright;  ///< as decoded, with square pixels, and turned
    int quarters = 0;
    bool isDraining = false;
    int sinceFrame = 0;                                                   ///< packets for the decoder
    double first = std::numeric_limits<double>::quiet_NaN(), latest = 0;  ///< seconds
    cv::Mat padded;  ///< [h, w, 3] with rows that are wider: swscale writes whole vectors
    cv::Mat mapped;  ///< of high dynamic range: the same for usual screens
    std::optional<ToneMap> toneMap;

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
    return state_->upright;
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
        const int received = avcodec_receive_frame(s.codec.get(), s.frame.get());
        if (received == 0) {
            if (std::isnan(s.first)) s.first = s.begin().value_or(time().value_or(Seconds(0)).count());
            return true;
        }
        if (s.isDraining || !s.feed()) return false;
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
    return state_->frame->width == state_->coded.width && state_->frame->height == state_->coded.height;
}

bool VideoReader::retrieve(Image& image) {
    State& s = *state_;
    const AVFrame& frame = *s.frame;
    const auto transfer = highRangeOf(frame);
    s.scaler.reset(sws_getCachedContext(s.scaler.release(), frame.width, frame.height, plainFormat(frame),
                                        s.lying.width, s.lying.height, transfer ? AV_PIX_FMT_BGR48 : AV_PIX_FMT_BGR24,
                                        SWS_BICUBIC, nullptr, nullptr, nullptr));
    if (!s.scaler) return false;
    constexpr int unit = 1 << 16;  // brightness, contrast and saturation as they are
    sws_setColorspaceDetails(s.scaler.get(), coefficientsOf(frame), isFullRange(frame) ? 1 : 0,
                             sws_getCoefficients(SWS_CS_DEFAULT), 1, 0, unit, unit);

    constexpr int vector = 64;
    s.padded.create(s.lying.height, (s.lying.width + vector - 1) / vector * vector + vector,
                    transfer ? CV_16UC3 : CV_8UC3);
    std::uint8_t* rows[4] = {s.padded.data};
    const int strides[4] = {int(s.padded.step)};
    if (sws_scale(s.scaler.get(), frame.data, frame.linesize, 0, frame.height, rows, strides) <= 0) return false;
    const cv::Mat picture = transfer ? s.tonesMapped(*transfer) : s.padded.colRange(0, s.lying.width);
    cv::Mat target(image.size().height, image.size().width, CV_8UC3, image.row(0));
    if (s.quarters == 0) {
        picture.copyTo(target);
    } else {
        cv::rotate(picture, target, s.quarters - 1);  // 0 is a quarter clockwise there
    }
    return true;
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
    s.isDraining = false;
    s.latest = 0;
    return true;
}

}  // namespace matte
