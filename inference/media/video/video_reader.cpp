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

VideoReader::VideoReader() = default;
VideoReader::~VideoReader() = default;

std::unique_ptr<VideoReader> VideoReader::open(const std::string& where, bool isAddress, const Patience& patience) {
    std::unique_ptr<VideoReader> reader(new VideoReader);
    reader->packets_ = PacketReader::open(where, isAddress, patience);
    const bool isOpen = reader->packet_ && reader->frame_ && reader->packets_ && reader->openDecoder();
    return isOpen && reader->findSize() ? std::move(reader) : nullptr;
}

bool VideoReader::openDecoder() {
    const AVCodec* decoder = nullptr;
    const int index = av_find_best_stream(&packets_->format(), AVMEDIA_TYPE_VIDEO, -1, -1, &decoder, 0);
    if (index < 0 || !decoder) return false;
    stream_ = packets_->format().streams[index];
    if ((stream_->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0) return false;  // the cover of a piece of music
    codec_.reset(avcodec_alloc_context3(decoder));
    if (!codec_ || avcodec_parameters_to_context(codec_.get(), stream_->codecpar) < 0) return false;
    codec_->pkt_timebase = stream_->time_base;
    codec_->thread_count = 0;  // as many as there are processors
    codec_->max_pixels = std::int64_t(Image::kMaxPixels);
    packets_->choose(*stream_);
    return avcodec_open2(codec_.get(), decoder, nullptr) == 0;
}
bool VideoReader::findSize() {
    const Size coded{codec_->width, codec_->height};
    converter_ = std::make_unique<VideoConverter>(
        coded, av_q2d(av_guess_sample_aspect_ratio(&packets_->format(), stream_, nullptr)), turnOf(*stream_));
    return coded.width > 0 && coded.height > 0 && converter_->size().pixels() <= Image::kMaxPixels;
}

/// Reads on until there is something for the decoder, and gives it that. False when nothing comes in time.
bool VideoReader::feed() {
    if (!packets_->read(*packet_)) {
        if (packets_->isLate()) return false;
        isDraining_ = true;
        avcodec_send_packet(codec_.get(), nullptr);
        return true;
    }
    hasBegun_ = hasBegun_ || (packet_->flags & AV_PKT_FLAG_KEY) != 0;
    if (hasBegun_ && (packet_->flags & AV_PKT_FLAG_DISCARD) == 0) ++sent_;
    noteFault(avcodec_send_packet(codec_.get(), packet_.get()));  // an error is this packet's alone
    ++sinceFrame_;
    av_packet_unref(packet_.get());
    return true;
}

void VideoReader::noteFault(int result) {
    if (result >= 0 || result == AVERROR(EAGAIN) || result == AVERROR_EOF || !hasBegun_) return;
    ++refused_;
    packets_->noteFault();
}

int VideoReader::receive() {
    const int received = avcodec_receive_frame(codec_.get(), frame_.get());
    noteFault(received);
    if (received < 0) return received;
    ++decoded_;
    if (hasBegun_ && (frame_->decode_error_flags != 0 || (frame_->flags & AV_FRAME_FLAG_CORRUPT) != 0)) {
        ++damaged_;
        packets_->noteFault();
    }
    return received;
}

/// Of what the decoder was given; false when it needs more. From the first interlaced picture on, all go through
/// the deinterlacer, which keeps the last one back until the end.
bool VideoReader::nextFrame() {
    for (;;) {
        if (deinterlacer_ && deinterlacer_->pull(frame_.get())) return true;
        const int received = receive();
        if (received < 0 && (!isDraining_ || isEnded_)) return false;
        if (received < 0 && received != AVERROR_EOF && ++sinceFrame_ < kMostDamaged) continue;  // others follow it
        if (received < 0) isEnded_ = true;
        if (received == 0 && !isInterlaced_ && Deinterlacer::isNeededFor(*frame_)) {
            isInterlaced_ = true;
            deinterlacer_ = Deinterlacer::make(*frame_, stream_->time_base);
        }
        if (!deinterlacer_ || (received == 0 && !hasItsSize())) return received == 0;
        deinterlacer_->push(received == 0 ? frame_.get() : nullptr);
    }
}

/// Whether packets may be no picture of their own: those that only help to decode others, and fields.
bool VideoReader::hidesPackets() const {
    const AVCodecID id = codec_->codec_id;
    return isInterlaced_ || id == AV_CODEC_ID_VP8 || id == AV_CODEC_ID_VP9 || id == AV_CODEC_ID_AV1;
}

Loss VideoReader::lossOfPass() const {
    Loss loss;
    loss.readErrors = packets_->readErrors();
    loss.endsEarly = packets_->endsEarly();
    std::uint64_t undecoded = refused_;
    // A decoder that stumbled may leave out others without a word.
    if (isEnded_ && (refused_ > 0 || damaged_ > 0) && !hidesPackets() && sent_ > decoded_) {
        undecoded = std::max(undecoded, sent_ - decoded_);
    }
    loss.frames = packets_->lost() + undecoded + unconverted_;
    loss.damagedFrames = std::max(damaged_, packets_->incomplete() - std::min(packets_->incomplete(), refused_));
    if (loss.frames + loss.damagedFrames > 0) loss.ofFrames = decoded_ - unconverted_ + loss.frames;
    return loss;
}

Size VideoReader::size() const {
    return converter_->size();
}

bool VideoReader::hasItsSize() const {
    return Size{frame_->width, frame_->height} == converter_->coded();
}

double VideoReader::rate() const {
    const double rate = av_q2d(av_guess_frame_rate(&packets_->format(), stream_, nullptr));
    return rate >= 0.1 && rate <= 1000 ? rate : 30;
}

double VideoReader::frames() const {
    if (stream_->nb_frames > 0) return double(stream_->nb_frames);
    if (packets_->format().duration <= 0) return 0;
    return std::round(double(packets_->format().duration) / AV_TIME_BASE * rate());
}

bool VideoReader::grab() {
    packets_->beginWait();
    for (sinceFrame_ = 0; sinceFrame_ < kMostDamaged;) {
        if (nextFrame()) return true;
        if (isEnded_ || !feed()) return false;
    }
    packets_->giveUp();
    return false;
}

std::optional<Seconds> VideoReader::time() const {
    const std::int64_t at = frame_->best_effort_timestamp;
    if (at == AV_NOPTS_VALUE) return std::nullopt;
    return Seconds(double(at) * av_q2d(stream_->time_base));
}

Seconds VideoReader::lasts() const {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
    const std::int64_t ticks = frame_->duration;
#else
    const std::int64_t ticks = frame_->pkt_duration;
#endif
    return Seconds(double(std::max<std::int64_t>(ticks, 0)) * av_q2d(stream_->time_base));
}

Seconds VideoReader::length() const {
    return Seconds(std::max(0.0, double(packets_->format().duration) / AV_TIME_BASE));
}

Loss VideoReader::loss() const {
    const Loss now = lossOfPass();
    if (!now.any()) return worst_;
    return now.frames + now.damagedFrames >= worst_.frames + worst_.damagedFrames ? now : worst_;
}

bool VideoReader::retrieve(Image& image) {
    if (converter_->convert(*frame_, image)) return true;
    ++unconverted_;
    return false;
}

bool VideoReader::rewind() {
    const Loss worst = loss();
    if (!packets_->rewind()) return false;
    worst_ = worst;
    avcodec_flush_buffers(codec_.get());
    deinterlacer_.reset();
    isInterlaced_ = false;
    isDraining_ = isEnded_ = hasBegun_ = false;
    sent_ = refused_ = decoded_ = damaged_ = unconverted_ = 0;
    return true;
}

}  // namespace matte
