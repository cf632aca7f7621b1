// SPDX-License-Identifier: Apache-2.0
// VideoReader: the pictures of a video file or stream, one after the other, decoded by FFmpeg and converted for display
// (VideoConverter). One thread at a time.
//
//     auto reader = VideoReader::open("/home/me/clip.mp4", {});
//     while (reader->grab()) reader->retrieve(image);   // bgr8 of reader->size()
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "inference/core/image.h"
#include "inference/media/loss.h"
#include "inference/media/video/packet_reader.h"

namespace matte {

class Deinterlacer;
class VideoConverter;

class VideoReader {
public:
    using Patience = PacketReader::Patience;
    /// An absolute path, or an address. Null when no video that can be decoded comes from there in time, or its
    /// pictures have a size that can't be held.
    static std::unique_ptr<VideoReader> open(const std::string& where, bool isAddress, const Patience& patience);
    ~VideoReader();

    [[nodiscard]] Size size() const;      ///< as the pictures are to be seen
    [[nodiscard]] double rate() const;    ///< pictures a second; 30 when nothing sensible is said
    [[nodiscard]] double frames() const;  ///< how many there are to be, as far as is said; else 0
    [[nodiscard]] std::string codec() const { return avcodec_get_name(codec_->codec_id); }  ///< "h264"

    /// Decodes the next picture; false when there is none: at the end, or when nothing comes in time.
    bool grab();
    /// When the grabbed picture is to be seen, in the stream's own time; nothing when the stream has no times.
    [[nodiscard]] std::optional<std::chrono::duration<double>> time() const;
    /// How long the grabbed picture is to be seen; 0 when nothing is said.
    [[nodiscard]] std::chrono::duration<double> lasts() const;
    /// How long it all lasts, as far as is said; else 0.
    [[nodiscard]] std::chrono::duration<double> length() const;
    /// What could not be read so far, or in the worst of several passes; after the end, all of it. Pictures before the
    /// first that can be decoded by itself are none, for a video may be a piece of another.
    [[nodiscard]] Loss loss() const;
    /// Whether grab() gave up because nothing came in time.
    [[nodiscard]] bool isLate() const { return packets_->isLate(); }
    /// Whether the grabbed picture is as large as the stream said at first.
    [[nodiscard]] bool hasItsSize() const;
    /// Into `image`, bgr8 of size(); false when it can't be converted. Needs hasItsSize().
    bool retrieve(Image& image);
    /// The next picture is the first one again; false when the stream can't go back.
    bool rewind();

private:
    VideoReader();
    bool openDecoder();
    bool findSize();
    bool feed();
    void noteFault(int result);
    int receive();
    bool nextFrame();
    [[nodiscard]] bool hidesPackets() const;
    [[nodiscard]] Loss lossOfPass() const;

    std::unique_ptr<PacketReader> packets_;
    AVStream* stream_ = nullptr;
    ffmpeg::Codec codec_;
    ffmpeg::Packet packet_{av_packet_alloc()};
    ffmpeg::Frame frame_{av_frame_alloc()};
    std::unique_ptr<VideoConverter> converter_;
    bool isInterlaced_ = false;                   ///< a picture was
    std::unique_ptr<Deinterlacer> deinterlacer_;  ///< null where there is none
    bool isDraining_ = false, isEnded_ = false;   ///< there are no more packets; nor pictures
    int sinceFrame_ = 0;                          ///< packets for the decoder

    // Of this pass. The account begins with the first packet that can be decoded by itself.
    bool hasBegun_ = false;
    std::uint64_t sent_ = 0, refused_ = 0;                       ///< packets
    std::uint64_t decoded_ = 0, damaged_ = 0, unconverted_ = 0;  ///< pictures
    Loss worst_;                                                 ///< of the passes before
};

}  // namespace matte
