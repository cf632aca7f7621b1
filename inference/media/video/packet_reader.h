// SPDX-License-Identifier: Apache-2.0
// PacketReader: the packets of one stream of a video file or an address, by FFmpeg, and an account of those that are
// missing. After a read error it goes on. One thread at a time.
//
//     auto reader = PacketReader::open("/home/me/clip.mp4", false, {});
//     reader->choose(*reader->format().streams[0]);
//     while (reader->read(packet)) ...
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "inference/media/video/ffmpeg.h"

namespace matte {

class PacketReader {
public:
    /// How long FFmpeg may take to open and for each packet; 0: as long as it wants.
    struct Patience {
        std::chrono::milliseconds open{0}, read{0};
    };
    /// An absolute path, or an address. A file opens no other, and what an address makes FFmpeg open comes from the
    /// network too. Null when nothing that can be read comes from there in time.
    static std::unique_ptr<PacketReader> open(const std::string& where, bool isAddress, const Patience& patience);
    PacketReader(const PacketReader&) = delete;  // FFmpeg has its address
    PacketReader& operator=(const PacketReader&) = delete;

    [[nodiscard]] AVFormatContext& format() const { return *format_; }
    /// Packets of the other streams are left out from now on. Before the first read().
    void choose(AVStream& stream);

    /// Time for the next packets begins to count.
    void beginWait() { allow(patience_.read); }
    /// False at the end, and when nothing comes in time.
    bool read(AVPacket& packet);
    [[nodiscard]] bool isLate() const { return until_ && std::chrono::steady_clock::now() > *until_; }
    /// The first packet comes next, and its account is begun anew; false when the stream can't go back.
    bool rewind();

    /// What follows is of the packets since the beginning. A stream is whole until something says otherwise: an index
    /// that names bytes behind the end of the file, reads that fail, a container that FFmpeg finds broken, noteFault().
    /// A length alone says nothing.
    [[nodiscard]] std::uint64_t lost() const { return lost_; }  ///< packets that did not come, as far as can be told
    [[nodiscard]] std::uint64_t incomplete() const { return incomplete_; }  ///< packets that came in part
    [[nodiscard]] std::uint64_t readErrors() const { return readErrors_; }
    [[nodiscard]] bool endsEarly() const { return endsEarly_; }
    /// The decoder found the newest packets faulty: a pause in their times where bytes were skipped is a loss.
    void noteFault();
    /// There is no use in going on: what is left counts as lost.
    void giveUp() { end(true); }

private:
    PacketReader() = default;
    void allow(std::chrono::milliseconds time);
    bool openInput(const std::string& where, bool isAddress);
    bool countReadError();
    bool goesOn(int result);
    [[nodiscard]] std::uint64_t indexed() const;
    [[nodiscard]] std::uint64_t skippedBefore(const AVPacket& packet) const;
    void take(const AVPacket& packet);
    void claimPause();
    [[nodiscard]] std::optional<double> saidEnd() const;
    void end(bool isGivenUp);
    void endByIndex(std::int64_t size);
    void restart();

    Patience patience_;
    std::optional<std::chrono::steady_clock::time_point> until_;
    ffmpeg::Input format_;  // FFmpeg asks for until_ while this is closed: declared after it
    AVStream* stream_ = nullptr;
    bool isFile_ = true;
    bool isIndexed_ = false;  ///< the index is complete from the beginning, or grows before what it names is read
    std::int64_t probedUntil_ = -1;  ///< FFmpeg stumbled in what it read up to this byte to find the streams

    std::uint64_t taken_ = 0, lost_ = 0, incomplete_ = 0, readErrors_ = 0, bytes_ = 0;  ///< packets, and bytes in them
    std::optional<std::uint64_t> fault_;      ///< so many packets were taken before it
    std::uint64_t pause_ = 0, pausedAt_ = 0;  ///< skipped packets, not counted as lost yet
    int failures_ = 0;                        ///< in a row
    bool isLastPartial_ = false, hasEnded_ = false, isAccounted_ = false, endsEarly_ = false;
    std::int64_t step_ = 0, nextTime_ = AV_NOPTS_VALUE,
                 latest_ = AV_NOPTS_VALUE;                         ///< ticks; of the newest packet; latest_ is an end
    std::int64_t nextByte_ = 0, skippedAtLast_ = 0, largest_ = 0;  ///< the first behind the newest packet; of a packet
};

}  // namespace matte
