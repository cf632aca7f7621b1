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

struct PacketReader::State {
    static int isTooLate(void* self) {
        const auto until = static_cast<const State*>(self)->until;
        return until && Clock::now() > *until ? 1 : 0;
    }
    void allow(std::chrono::milliseconds time) {
        until = time.count() > 0 ? std::optional(Clock::now() + time) : std::nullopt;
    }

    bool open(const std::string& where, bool isAddress) {
        isFile = !isAddress;
        AVFormatContext* opened = avformat_alloc_context();
        if (!opened) return false;
        opened->interrupt_callback = {isTooLate, this};  // FFmpeg asks now and then whether it is to give up
        AVDictionary* options = nullptr;
        setRules(&options, where, isAddress);
        forgetComplaints();
        const int result = avformat_open_input(&opened, where.c_str(), nullptr, &options);  // frees it on failure
        av_dict_free(&options);
        if (result < 0) return false;
        format.reset(opened);
        if (avformat_find_stream_info(opened, nullptr) < 0) return false;
        countReadError();
        if (errors > 0 && opened->pb) probedUntil = avio_tell(opened->pb);
        return true;
    }

    /// Of the file or the network itself, since the last one.
    bool countReadError() {
        AVIOContext* const io = format->pb;
        if (!io || io->error >= 0 || io->error == AVERROR_EOF || io->error == AVERROR_EXIT) return false;
        io->error = 0;
        io->eof_reached = 0;
        ++readErrors;
        noteFault();
        return true;
    }

    /// After av_read_frame() failed: whether packets may come behind what can't be read.
    bool goesOn(int result) {
        if (isTooLate(this) != 0) return false;
        const bool isReadError = countReadError();
        if (!isReadError && result != AVERROR_EOF) {
            noteFault();
            if (!format->pb) ++readErrors;
        }
        ++failures;
        if (failures >= kMostReadErrors && isReadError) return false;
        // By an index each packet is read for itself, and FFmpeg calls the end of the file the end of the stream.
        if (isIndexed) return std::uint64_t(failures) <= indexed() - std::min(indexed(), taken);
        return result != AVERROR_EOF && failures < kMostAttempts;
    }

    [[nodiscard]] std::uint64_t indexed() const {
        return std::uint64_t(std::max(avformat_index_get_entries_count(stream), 0));
    }

    /// A pause in the times that goes along with bytes that nobody read. Without them it is one of the video's own.
    [[nodiscard]] std::uint64_t skippedBefore(const AVPacket& packet) const {
        if (isIndexed || packet.pos < 0) return 0;
        const bool isByPts = packet.dts == AV_NOPTS_VALUE || nextTime == AV_NOPTS_VALUE;
        const std::int64_t at = isByPts ? packet.pts : packet.dts, due = isByPts ? latest : nextTime;
        if (at == AV_NOPTS_VALUE || due == AV_NOPTS_VALUE) return 0;
        const double missing = std::round(double(at - due) / double(std::max<std::int64_t>(step, 1)));
        // Packets of an Ogg page have one place, and may get their times with the next.
        const double skipped = double(std::max(packet.pos - nextByte, skippedAtLast)),
                     usual = double(bytes) / double(taken);
        return missing >= 1 && skipped * 4 > missing * usual ? std::uint64_t(missing) : 0;
    }

    void take(const AVPacket& packet) {
        failures = 0;
        if (warnings + errors > 0 || (taken > 0 && packet.pos >= 0 && packet.pos < probedUntil)) noteFault();
        if (const auto skipped = taken > 0 ? skippedBefore(packet) : 0; skipped > 0) {
            pause = skipped;
            pausedAt = taken;
            if (fault && taken - *fault < kNear) claimPause();
        }
        skippedAtLast = packet.pos >= 0 && taken > 0 ? packet.pos - nextByte : 0;
        ++taken;
        bytes += std::uint64_t(packet.size);
        largest = std::max<std::int64_t>(largest, packet.size);
        // A transport stream's only say that its counter jumps, as where two were joined.
        isLastPartial = (packet.flags & AV_PKT_FLAG_CORRUPT) != 0 && !isNamed(*format, "mpegts");
        if (isLastPartial) {
            ++incomplete;
            noteFault();
        }
        if (packet.duration > 0) step = packet.duration;
        if (packet.dts != AV_NOPTS_VALUE) nextTime = packet.dts + step;
        if (packet.pos >= 0) nextByte = packet.pos + packet.size;
        // An AVI's times count its packets; those that FFmpeg makes of them for pictures may be wrong.
        const bool isByPts = packet.pts != AV_NOPTS_VALUE && !isNamed(*format, "avi");
        const std::int64_t at = isByPts ? packet.pts : packet.dts;
        if (at != AV_NOPTS_VALUE && (latest == AV_NOPTS_VALUE || at + step > latest)) latest = at + step;
    }

    void noteFault() {
        fault = taken;
        if (pause > 0 && taken - pausedAt < kNear) claimPause();
    }
    void claimPause() { lost += std::exchange(pause, 0); }

    /// Where the stream is to end by what the container says, in seconds of its own time.
    [[nodiscard]] std::optional<double> saidEnd() const {
        const double rate = av_q2d(av_guess_frame_rate(format.get(), stream, nullptr));
        const double unit = av_q2d(stream->time_base);
        const double begin = stream->start_time != AV_NOPTS_VALUE ? double(stream->start_time) * unit : 0;
        if (stream->nb_frames > 0 && rate > 0) return begin + double(stream->nb_frames) / rate;
        if (stream->duration > 0) return begin + double(stream->duration) * unit;
        if (format->duration <= 0) return std::nullopt;
        const std::int64_t start = format->start_time != AV_NOPTS_VALUE ? format->start_time : 0;
        return double(format->duration + start) / AV_TIME_BASE;
    }

    void end(bool isGivenUp) {
        if (std::exchange(hasEnded, true)) return;
        const std::int64_t size = format->pb ? avio_size(format->pb) : -1;
        endByIndex(size);
        const bool isFaulty = isGivenUp || isLastPartial || errors > 0 || (size > 0 && probedUntil >= size) ||
                              (readErrors > 0 && fault == taken);
        const bool isCut = isFile && !isIndexed && isCutShort(*format);
        if (isAccounted || !(isFaulty || isCut)) return;
        const double unit = av_q2d(stream->time_base), lasts = double(std::max<std::int64_t>(step, 1)) * unit;
        const auto said = saidEnd();
        const double missing =
            said && latest != AV_NOPTS_VALUE ? std::round((*said - double(latest) * unit) / lasts) : 0;
        // All of it came: what FFmpeg stumbled over is behind it.
        const bool isSaid = said && format->duration_estimation_method == AVFMT_DURATION_FROM_STREAM;
        if (missing < 1 && isSaid && !isLastPartial && !isGivenUp && !isCut) return;
        endsEarly = size < 0 || size - nextByte < 2 * largest + kBetween;
        lost += missing >= 1 ? std::uint64_t(missing) : endsEarly ? 0 : 1;
    }

    /// The index says which packets there are, and where their bytes end.
    void endByIndex(std::int64_t size) {
        const bool isPicture = stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO;
        // An AVI has its index once that was read; an entry for sound may stand for several packets.
        const bool isAviPicture = isPicture && isNamed(*format, "avi");
        if (!isIndexed && !isAviPicture) return;
        const std::uint64_t all = indexed();
        std::uint64_t behind = 0;
        for (int i = 0; size > 0 && i < int(all); ++i) {
            const AVIndexEntry* const entry = avformat_index_get_entry(stream, i);
            if (entry && entry->pos + entry->size > size) ++behind;
        }
        endsEarly = isIndexed && behind > 0;
        const std::uint64_t untouched = behind - std::min(behind, incomplete);
        const std::uint64_t missing = all - std::min(all, taken);
        isAccounted = isIndexed || missing > 0;  // an AVI may have an index of what was read alone
        if (fault || behind > 0 || isAviPicture) lost += std::max(untouched, missing);
    }

    void restart() {
        taken = lost = incomplete = readErrors = bytes = pause = 0;
        fault.reset();
        failures = 0;
        isLastPartial = hasEnded = isAccounted = endsEarly = false;
        nextTime = AV_NOPTS_VALUE;
        latest = AV_NOPTS_VALUE;
    }

    Patience patience;
    std::optional<Clock::time_point> until;
    ffmpeg::Input format;  // asks for `until` while it is closed
    AVStream* stream = nullptr;
    bool isFile = true;
    bool isIndexed = false;         ///< the index is complete from the beginning, or grows before what it names is read
    std::int64_t probedUntil = -1;  ///< FFmpeg stumbled in what it read up to this byte to find the streams

    std::uint64_t taken = 0, lost = 0, incomplete = 0, readErrors = 0, bytes = 0;  ///< packets, and bytes in them
    std::optional<std::uint64_t> fault;                                            ///< so many were taken before it
    std::uint64_t pause = 0, pausedAt = 0;                                         ///< skipped packets, not lost as yet
    int failures = 0;                                                              ///< in a row
    bool isLastPartial = false, hasEnded = false, isAccounted = false, endsEarly = false;
    std::int64_t step = 0, nextTime = AV_NOPTS_VALUE, latest = AV_NOPTS_VALUE;  ///< ticks; `latest` is an end
    std::int64_t nextByte = 0, skippedAtLast = 0, largest = 0;  ///< the first behind the newest packet; of a packet
};

PacketReader::PacketReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
PacketReader::~PacketReader() = default;

std::unique_ptr<PacketReader> PacketReader::open(const std::string& where, bool isAddress, const Patience& patience) {
    av_log_set_callback(countComplaint);  // nothing is printed: addresses have passwords in them
    avformat_network_init();
    auto state = std::make_unique<State>();
    state->patience = patience;
    state->allow(patience.open);
    if (!state->open(where, isAddress)) return nullptr;
    return std::unique_ptr<PacketReader>(new PacketReader(std::move(state)));
}

AVFormatContext& PacketReader::format() const {
    return *state_->format;
}

void PacketReader::choose(AVStream& stream) {
    State& s = *state_;
    s.stream = &stream;
    s.isIndexed = isNamed(*s.format, "mov");
    const double rate = av_q2d(av_guess_frame_rate(s.format.get(), &stream, nullptr));
    if (rate > 0) s.step = std::llround(1 / (rate * av_q2d(stream.time_base)));
    for (unsigned i = 0; i < s.format->nb_streams; ++i) {
        if (s.format->streams[i] != &stream) s.format->streams[i]->discard = AVDISCARD_ALL;
    }
}

void PacketReader::beginWait() {
    state_->allow(state_->patience.read);
}

bool PacketReader::isLate() const {
    return State::isTooLate(state_.get()) != 0;
}

bool PacketReader::read(AVPacket& packet) {
    State& s = *state_;
    if (s.hasEnded) return false;
    forgetComplaints();
    for (;;) {
        const int result = av_read_frame(s.format.get(), &packet);
        if (result >= 0) {
            if (packet.stream_index == s.stream->index) break;
            av_packet_unref(&packet);
        } else if (result == AVERROR(EAGAIN)) {
            if (isLate()) return false;
        } else if (!s.goesOn(result)) {
            if (!isLate()) s.end(false);
            return false;
        }
    }
    s.take(packet);
    return true;
}

bool PacketReader::rewind() {
    State& s = *state_;
    beginWait();
    const std::int64_t begin = s.stream->start_time != AV_NOPTS_VALUE ? s.stream->start_time : 0;
    if (av_seek_frame(s.format.get(), s.stream->index, begin, AVSEEK_FLAG_BACKWARD) < 0 &&
        av_seek_frame(s.format.get(), -1, 0, AVSEEK_FLAG_BYTE) < 0) {
        return false;
    }
    s.restart();
    return true;
}

std::uint64_t PacketReader::lost() const {
    return state_->lost;
}
std::uint64_t PacketReader::incomplete() const {
    return state_->incomplete;
}
std::uint64_t PacketReader::readErrors() const {
    return state_->readErrors;
}
bool PacketReader::endsEarly() const {
    return state_->endsEarly;
}
void PacketReader::noteFault() {
    state_->noteFault();
}
void PacketReader::giveUp() {
    state_->end(true);
}

}  // namespace matte
