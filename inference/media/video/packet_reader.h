// SPDX-License-Identifier: Apache-2.0
// PacketReader: the packets of one stream of a video file or an address, by FFmpeg, and an account of those that did
// not come. It goes on where reading fails on the way. One thread at a time.
//
//     auto reader = PacketReader::open("/home/me/clip.mp4", false, {});
//     reader->choose(*reader->format().streams[0]);
//     while (reader->read(packet)) ...
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
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
    ~PacketReader();
    PacketReader(const PacketReader&) = delete;
    PacketReader& operator=(const PacketReader&) = delete;

    [[nodiscard]] AVFormatContext& format() const;
    /// Packets of the other streams are left out from now on. Before the first read().
    void choose(AVStream& stream);

    /// Time for the next packets begins to count.
    void beginWait();
    /// False at the end, and when nothing comes in time.
    bool read(AVPacket& packet);
    [[nodiscard]] bool isLate() const;
    /// The first packet comes next, and its account is begun anew; false when the stream can't go back.
    bool rewind();

    /// What follows is of the packets since the beginning. A stream is whole until something says otherwise: an index
    /// that names bytes behind the end of the file, reads that fail, a container that FFmpeg finds broken, noteFault().
    /// A length alone says nothing.
    [[nodiscard]] std::uint64_t lost() const;        ///< packets that did not come, as far as can be told
    [[nodiscard]] std::uint64_t incomplete() const;  ///< packets that came in part
    [[nodiscard]] std::uint64_t readErrors() const;
    [[nodiscard]] bool endsEarly() const;
    /// The decoder found the newest packets faulty: a pause in their times where bytes were skipped is a loss.
    void noteFault();
    /// There is no use in going on: what is left counts as lost.
    void giveUp();

private:
    struct State;
    explicit PacketReader(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace matte
