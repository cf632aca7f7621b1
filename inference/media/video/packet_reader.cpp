// SPDX-License-Identifier: Apache-2.0
#include "inference/media/video/packet_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <optional>
#include <string_view>
#include <utility>

#include "inference/media/video/ffmpeg.h"

extern "C" {
#include <libavutil/avstring.h>
}

namespace matte {
namespace {

using Clock = std::chrono::steady_clock;

/// So many reads in a row that fail end a stream: a disk that is breaking takes its time for each.
constexpr int kMostReadErrors = 64;
/// Without an index, the same bytes are read again.
constexpr int kMostAttempts = 3;
/// Decoders tell of a fault some packets later.
constexpr std::uint64_t kNear = 24;
/// What may stand behind the last packet that came, beside the one that did not: sound, and an index.
constexpr std::int64_t kBetween = 16384;

/// FFmpeg's demuxers go on behind damage as if there were none: only what they log tells of it. Of this thread.
thread_local int warnings = 0, errors = 0;

void countComplaint(void* about, int level, const char* /*format*/, va_list /*values*/) {
    const AVClass* const what = about ? *static_cast<const AVClass* const*>(about) : nullptr;
    if (level > AV_LOG_WARNING || !what) return;
    const AVClassCategory category = what->get_category ? what->get_category(about) : what->category;
    if (category == AV_CLASS_CATEGORY_DEMUXER) ++(level > AV_LOG_ERROR ? warnings : errors);
}
void forgetComplaints() {
    warnings = errors = 0;
}

bool isNamed(const AVFormatContext& format, const char* name) {
    return av_match_name(name, format.iformat->name) != 0;
}

}  // namespace

std::unique_ptr<PacketReader> PacketReader::open(const std::string& where, bool isAddress, const Patience& patience) {
    av_log_set_callback(countComplaint);  // nothing is printed: addresses have passwords in them
    avformat_network_init();
    std::unique_ptr<PacketReader> reader(new PacketReader);
    reader->patience_ = patience;
    reader->allow(patience.open);
    return reader->openInput(where, isAddress) ? std::move(reader) : nullptr;
}

void PacketReader::allow(std::chrono::milliseconds time) {
    until_ = time.count() > 0 ? std::optional(Clock::now() + time) : std::nullopt;
}

bool PacketReader::openInput(const std::string& where, bool isAddress) {
    isFile_ = !isAddress;
    AVFormatContext* opened = avformat_alloc_context();
    if (!opened) return false;
    opened->interrupt_callback = {[](void* self) { return int(static_cast<PacketReader*>(self)->isLate()); },
                                  this};  // FFmpeg asks now and then whether it is to give up
    AVDictionary* options = nullptr;
    setRules(&options, where, isAddress);
    forgetComplaints();
    const int result = avformat_open_input(&opened, where.c_str(), nullptr, &options);  // frees it on failure
    av_dict_free(&options);
    if (result < 0) return false;
    format_.reset(opened);
    if (avformat_find_stream_info(opened, nullptr) < 0) return false;
    countReadError();
    if (errors > 0 && opened->pb) probedUntil_ = avio_tell(opened->pb);
    return true;
}

/// Of the file or the network itself, since the last one.
bool PacketReader::countReadError() {
    AVIOContext* const io = format_->pb;
    if (!io || io->error >= 0 || io->error == AVERROR_EOF || io->error == AVERROR_EXIT) return false;
    io->error = 0;
    io->eof_reached = 0;
    ++readErrors_;
    noteFault();
    return true;
}

/// After av_read_frame() failed: whether packets may come behind what can't be read.
bool PacketReader::goesOn(int result) {
    if (isLate()) return false;
    const bool isReadError = countReadError();
    if (!isReadError && result != AVERROR_EOF) {
        noteFault();
        if (!format_->pb) ++readErrors_;
    }
    ++failures_;
    if (failures_ >= kMostReadErrors && isReadError) return false;
    // By an index each packet is read for itself, and FFmpeg calls the end of the file the end of the stream.
    if (isIndexed_) return std::uint64_t(failures_) <= indexed() - std::min(indexed(), taken_);
    return result != AVERROR_EOF && failures_ < kMostAttempts;
}

std::uint64_t PacketReader::indexed() const {
    return std::uint64_t(std::max(avformat_index_get_entries_count(stream_), 0));
}

/// A pause in the times, with bytes that nobody read. Without them it is one of the video's own.
std::uint64_t PacketReader::skippedBefore(const AVPacket& packet) const {
    if (isIndexed_ || packet.pos < 0) return 0;
    const bool isByPts = packet.dts == AV_NOPTS_VALUE || nextTime_ == AV_NOPTS_VALUE;
    const std::int64_t at = isByPts ? packet.pts : packet.dts, due = isByPts ? latest_ : nextTime_;
    if (at == AV_NOPTS_VALUE || due == AV_NOPTS_VALUE) return 0;
    const double missing = std::round(double(at - due) / double(std::max<std::int64_t>(step_, 1)));
    // Packets of an Ogg page have one place, and may get their times with the next.
    const double skipped = double(std::max(packet.pos - nextByte_, skippedAtLast_)),
                 usual = double(bytes_) / double(taken_);
    return missing >= 1 && skipped * 4 > missing * usual ? std::uint64_t(missing) : 0;
}

void PacketReader::take(const AVPacket& packet) {
    failures_ = 0;
    if (warnings + errors > 0 || (taken_ > 0 && packet.pos >= 0 && packet.pos < probedUntil_)) noteFault();
    if (const auto skipped = taken_ > 0 ? skippedBefore(packet) : 0; skipped > 0) {
        pause_ = skipped;
        pausedAt_ = taken_;
        if (fault_ && taken_ - *fault_ < kNear) claimPause();
    }
    skippedAtLast_ = packet.pos >= 0 && taken_ > 0 ? packet.pos - nextByte_ : 0;
    ++taken_;
    bytes_ += std::uint64_t(packet.size);
    largest_ = std::max<std::int64_t>(largest_, packet.size);
    // A transport stream's only say that its counter jumps, as where two were joined.
    isLastPartial_ = (packet.flags & AV_PKT_FLAG_CORRUPT) != 0 && !isNamed(*format_, "mpegts");
    if (isLastPartial_) {
        ++incomplete_;
        noteFault();
    }
    if (packet.duration > 0) step_ = packet.duration;
    if (packet.dts != AV_NOPTS_VALUE) nextTime_ = packet.dts + step_;
    if (packet.pos >= 0) nextByte_ = packet.pos + packet.size;
    // An AVI's times count its packets; those that FFmpeg makes of them for pictures may be wrong.
    const bool isByPts = packet.pts != AV_NOPTS_VALUE && !isNamed(*format_, "avi");
    const std::int64_t at = isByPts ? packet.pts : packet.dts;
    if (at != AV_NOPTS_VALUE && (latest_ == AV_NOPTS_VALUE || at + step_ > latest_)) latest_ = at + step_;
}

void PacketReader::noteFault() {
    fault_ = taken_;
    if (pause_ > 0 && taken_ - pausedAt_ < kNear) claimPause();
}
void PacketReader::claimPause() {
    lost_ += std::exchange(pause_, 0);
}

/// Where the stream is to end by what the container says, in seconds of its own time.
std::optional<double> PacketReader::saidEnd() const {
    const double rate = av_q2d(av_guess_frame_rate(format_.get(), stream_, nullptr));
    const double unit = av_q2d(stream_->time_base);
    const double begin = stream_->start_time != AV_NOPTS_VALUE ? double(stream_->start_time) * unit : 0;
    if (stream_->nb_frames > 0 && rate > 0) return begin + double(stream_->nb_frames) / rate;
    if (stream_->duration > 0) return begin + double(stream_->duration) * unit;
    if (format_->duration <= 0) return std::nullopt;
    const std::int64_t start = format_->start_time != AV_NOPTS_VALUE ? format_->start_time : 0;
    return double(format_->duration + start) / AV_TIME_BASE;
}

void PacketReader::end(bool isGivenUp) {
    if (std::exchange(hasEnded_, true)) return;
    const std::int64_t size = format_->pb ? avio_size(format_->pb) : -1;
    endByIndex(size);
    const bool isFaulty = isGivenUp || isLastPartial_ || errors > 0 || (size > 0 && probedUntil_ >= size) ||
                          (readErrors_ > 0 && fault_ == taken_);
    const bool isCut = isFile_ && !isIndexed_ && isCutShort(*format_);
    if (isAccounted_ || !(isFaulty || isCut)) return;
    const double unit = av_q2d(stream_->time_base), lasts = double(std::max<std::int64_t>(step_, 1)) * unit;
    const auto said = saidEnd();
    const double missing = said && latest_ != AV_NOPTS_VALUE ? std::round((*said - double(latest_) * unit) / lasts) : 0;
    // All of it came: what FFmpeg stumbled over is behind it.
    const bool isSaid = said && format_->duration_estimation_method == AVFMT_DURATION_FROM_STREAM;
    if (missing < 1 && isSaid && !isLastPartial_ && !isGivenUp && !isCut) return;
    endsEarly_ = size < 0 || size - nextByte_ < 2 * largest_ + kBetween;
    lost_ += missing >= 1 ? std::uint64_t(missing) : endsEarly_ ? 0 : 1;
}

/// The index says which packets there are, and where their bytes end.
void PacketReader::endByIndex(std::int64_t size) {
    const bool isPicture = stream_->codecpar->codec_type == AVMEDIA_TYPE_VIDEO;
    // An AVI has its index once that was read; an entry for sound may stand for several packets.
    const bool isAviPicture = isPicture && isNamed(*format_, "avi");
    if (!isIndexed_ && !isAviPicture) return;
    const std::uint64_t all = indexed();
    std::uint64_t behind = 0;
    for (int i = 0; size > 0 && i < int(all); ++i) {
        const AVIndexEntry* const entry = avformat_index_get_entry(stream_, i);
        if (entry && entry->pos + entry->size > size) ++behind;
    }
    endsEarly_ = isIndexed_ && behind > 0;
    const std::uint64_t untouched = behind - std::min(behind, incomplete_);
    const std::uint64_t missing = all - std::min(all, taken_);
    isAccounted_ = isIndexed_ || missing > 0;  // an AVI may have an index of what was read alone
    if (fault_ || behind > 0 || isAviPicture) lost_ += std::max(untouched, missing);
}

void PacketReader::restart() {
    taken_ = lost_ = incomplete_ = readErrors_ = bytes_ = pause_ = 0;
    fault_.reset();
    failures_ = 0;
    isLastPartial_ = hasEnded_ = isAccounted_ = endsEarly_ = false;
    nextTime_ = AV_NOPTS_VALUE;
    latest_ = AV_NOPTS_VALUE;
}

void PacketReader::choose(AVStream& stream) {
    stream_ = &stream;
    isIndexed_ = isNamed(*format_, "mov");
    const double rate = av_q2d(av_guess_frame_rate(format_.get(), &stream, nullptr));
    if (rate > 0) step_ = std::llround(1 / (rate * av_q2d(stream.time_base)));
    for (unsigned i = 0; i < format_->nb_streams; ++i) {
        if (format_->streams[i] != &stream) format_->streams[i]->discard = AVDISCARD_ALL;
    }
}

bool PacketReader::read(AVPacket& packet) {
    if (hasEnded_) return false;
    forgetComplaints();
    for (;;) {
        const int result = av_read_frame(format_.get(), &packet);
        if (result >= 0) {
            if (packet.stream_index == stream_->index) break;
            av_packet_unref(&packet);
        } else if (result == AVERROR(EAGAIN)) {
            if (isLate()) return false;
        } else if (!goesOn(result)) {
            if (!isLate()) end(false);
            return false;
        }
    }
    take(packet);
    return true;
}

bool PacketReader::rewind() {
    beginWait();
    const std::int64_t begin = stream_->start_time != AV_NOPTS_VALUE ? stream_->start_time : 0;
    if (av_seek_frame(format_.get(), stream_->index, begin, AVSEEK_FLAG_BACKWARD) < 0 &&
        av_seek_frame(format_.get(), -1, 0, AVSEEK_FLAG_BYTE) < 0) {
        return false;
    }
    restart();
    return true;
}

}  // namespace matte
