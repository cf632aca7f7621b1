// SPDX-License-Identifier: Apache-2.0
#include "inference/media/video/video_writer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <vector>

#include "inference/core/atomic_file.h"
#include "inference/core/error.h"
#include "inference/media/video/ffmpeg.h"
#include "inference/media/video/sound_copy.h"

namespace matte {
namespace {

namespace fs = std::filesystem;

/// Of a second: fine enough for every rate, and of a length that every form takes.
constexpr int kTicks = 90'000;

/// One way to encode: of several, the first that this FFmpeg has is taken.
struct Encoding {
    const char* encoder;
    AVPixelFormat format;
    std::vector<std::pair<const char*, const char*>> options;
    double bitsPerPixel = 0;  ///< for encoders that know no quality
};

/// What an extension stands for.
struct Container {
    const char* muxer;
    std::vector<Encoding> encodings;
};

/// Qualities at which nobody sees a difference to the pictures, at speeds that don't hold the network up. Throws
/// Error(output) for an extension that can't be written.
Container containerOf(const fs::path& path, bool transparent) {
    const std::vector<Encoding> h264{{"libx264", AV_PIX_FMT_YUV420P, {{"preset", "veryfast"}, {"crf", "18"}}},
                                     {"libopenh264", AV_PIX_FMT_YUV420P, {}, 0.2},
                                     {"h264_mf", AV_PIX_FMT_NV12, {}, 0.2},
                                     {"mpeg4", AV_PIX_FMT_YUV420P, {}, 0.3}};
    const std::vector<Encoding> vp9{
        {"libvpx-vp9",
         transparent ? AV_PIX_FMT_YUVA420P : AV_PIX_FMT_YUV420P,
         {{"deadline", "good"}, {"cpu-used", "6"}, {"row-mt", "1"}, {"crf", "24"}, {"b", "0"}}}};
    const std::vector<Encoding> proRes4444{{"prores_ks", AV_PIX_FMT_YUVA444P10LE, {{"profile", "4444"}}}};
    std::string extension = path.extension().string();
    std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return char(std::tolower(c)); });
    if (extension == ".webm") return {"webm", vp9};
    if (extension == ".mov") return {"mov", transparent ? proRes4444 : h264};
    const bool isMp4 = extension == ".mp4" || extension == ".m4v";
    if (!isMp4 && extension != ".mkv") {
        throw Error(ErrorCategory::output,
                    path.string() +
                        " has an extension that no video can be written with: use mp4, mov, mkv or "
                        "webm.");
    }
    if (transparent) {
        throw Error(ErrorCategory::output, path.string() + " can't be transparent: use webm or mov for that.");
    }
    return {isMp4 ? "mp4" : "matroska", h264};
}

#if LIBAVFORMAT_VERSION_MAJOR >= 61
using Written = const std::uint8_t*;
#else
using Written = std::uint8_t*;
#endif

AVPixelFormat formatOf(const ImageView& picture) {
    switch (picture.format) {
        case PixelFormat::rgba8: return AV_PIX_FMT_RGBA;
        case PixelFormat::bgr8: return AV_PIX_FMT_BGR24;
        default: return AV_PIX_FMT_GRAY8;
    }
}

/// Found out only when the file begins.
struct SoundDoesNotFit {
    std::string codec;
};

struct FreeOutput {
    void operator()(AVFormatContext* file) const {
        if (file->pb) av_freep(&file->pb->buffer);
        avio_context_free(&file->pb);
        avformat_free_context(file);
    }
};

}  // namespace

struct VideoWriter::State {
    State(const fs::path& target, const VideoForm& form)
        : path(target), rate(form.rate > 0 ? form.rate : 30), part(target) {
        const Container container = containerOf(target, form.transparent);
        openFile(container.muxer);
        openEncoder(container.encodings, form.size);
        stream = avformat_new_stream(file.get(), nullptr);
        if (!stream || avcodec_parameters_from_context(stream->codecpar, codec.get()) < 0) refuse("it is too large");
        stream->time_base = codec->time_base;
        stream->avg_frame_rate = codec->framerate;
        if (!form.soundFrom.empty()) openSound(form.soundFrom, form.soundBegin.count());
        const int begun = avformat_write_header(file.get(), nullptr);
        if (begun < 0 && sound && !part.hasFailed()) throw SoundDoesNotFit{sound->codec()};
        check(begun);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    static int writeBytes(void* self, Written bytes, int count) {
        PartFile& part = static_cast<State*>(self)->part;
        return part.write({bytes, std::size_t(count)}) ? count : AVERROR(EIO);
    }
    static std::int64_t seek(void* self, std::int64_t offset, int whence) {
        if (whence == AVSEEK_SIZE) return AVERROR(ENOSYS);
        return static_cast<State*>(self)->part.seek(offset, whence & ~AVSEEK_FORCE);
    }

    [[noreturn]] void refuse(const std::string& why) const {
        throw Error(ErrorCategory::output,
                    path.string() + " can't be written, for " + why + ": try another form or size.");
    }
    /// `result` of FFmpeg's writing.
    void check(int result) const {
        if (result >= 0) return;
        if (part.hasFailed()) part.fail();
        refuse("the pictures or the sound don't fit its form");
    }

    void openFile(const char* muxer) {
        AVFormatContext* made = nullptr;
        avformat_alloc_output_context2(&made, nullptr, muxer, nullptr);
        file.reset(made);
        constexpr int kBuffer = 1 << 16;
        auto* buffer = static_cast<unsigned char*>(av_malloc(kBuffer));
        if (file && buffer) file->pb = avio_alloc_context(buffer, kBuffer, 1, this, nullptr, writeBytes, seek);
        if (file && file->pb && packet && frame) return;
        av_free(buffer);
        refuse("there is not enough memory");
    }

    void openEncoder(const std::vector<Encoding>& encodings, Size size) {
        std::string failed;
        for (const Encoding& encoding : encodings) {
            const AVCodec* encoder = avcodec_find_encoder_by_name(encoding.encoder);
            if (!encoder) continue;
            codec.reset(avcodec_alloc_context3(encoder));
            if (codec && tryEncoder(encoding, size)) return tellEncoder(encoding, failed);
            failed += (failed.empty() ? "" : " and ") + std::string(encoding.encoder);
        }
        refuse("no encoder here takes " + std::to_string(size.width) + "x" + std::to_string(size.height) + " pixels");
    }
    /// MPEG-4 stands in for H.264, which more programs can show.
    void tellEncoder(const Encoding& taken, const std::string& failed) {
        const bool isOther = codec->codec_id == AV_CODEC_ID_MPEG4;
        if (failed.empty() && !isOther) return;
        loss.encoderProblem = path.string() + " was encoded by " + taken.encoder + ", because " +
                              (failed.empty() ? "there is no encoder of H.264 here." : failed + " failed.");
    }

    bool tryEncoder(const Encoding& encoding, Size size) {
        // Two rows and two columns share a colour.
        const bool isShared = encoding.format != AV_PIX_FMT_YUVA444P10LE;
        codec->width = isShared ? size.width & ~1 : size.width;
        codec->height = isShared ? size.height & ~1 : size.height;
        codec->pix_fmt = encoding.format;
        codec->time_base = {1, kTicks};
        codec->framerate = av_d2q(rate, 1'000'000);
        // MPEG-4 counts in 16 bits: it gets whole frames.
        if (codec->codec_id == AV_CODEC_ID_MPEG4) codec->time_base = av_inv_q(av_d2q(rate, 60'000));
        codec->color_range = AVCOL_RANGE_MPEG;
        codec->colorspace = AVCOL_SPC_BT709;
        codec->color_primaries = AVCOL_PRI_BT709;
        codec->color_trc = AVCOL_TRC_BT709;
        codec->bit_rate = std::int64_t(encoding.bitsPerPixel * double(size.pixels()) * rate);
        if ((file->oformat->flags & AVFMT_GLOBALHEADER) != 0) codec->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
        codec->thread_count = 0;  // as many as there are processors
        AVDictionary* options = nullptr;
        for (const auto& [name, value] : encoding.options) av_dict_set(&options, name, value, 0);
        const int opened = avcodec_open2(codec.get(), codec->codec, &options);
        av_dict_free(&options);
        if (opened < 0) return false;
        frame->format = codec->pix_fmt;
        frame->width = codec->width;
        frame->height = codec->height;
        frame->color_range = codec->color_range;
        frame->colorspace = codec->colorspace;
        return av_frame_get_buffer(frame.get(), 0) == 0;
    }

    void openSound(const fs::path& from, double begin) {
        try {
            sound = SoundCopy::open(fs::absolute(from), begin);
        } catch (const Error& error) {
            loss.soundProblem = error.what();
            return;
        }
        if (!sound || sound->addTo(*file)) return;
        leaveOutSound(from, sound->codec());
        sound.reset();
    }
    void leaveOutSound(const fs::path& from, const std::string& soundCodec) {
        loss.soundProblem = path.string() + " has no sound, because its form can't hold that of " +
                            from.filename().string() + " (" + soundCodec + "): use mov or mkv to keep it.";
    }

    /// The pictures go on without what of it can't be written.
    void writeSound(double until) {
        if (!sound) return;
        sound->writeUntil(*file, until);
        if (part.hasFailed()) part.fail();
    }

    void convert(const ImageView& picture) {
        if (av_frame_make_writable(frame.get()) < 0) refuse("there is not enough memory");
        scaler.reset(sws_getCachedContext(
            scaler.release(), codec->width, codec->height, formatOf(picture), codec->width, codec->height,
            codec->pix_fmt, SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP, nullptr, nullptr, nullptr));
        if (!scaler) refuse("there is not enough memory");
        constexpr int unit = 1 << 16;  // brightness, contrast and saturation as they are
        sws_setColorspaceDetails(scaler.get(), sws_getCoefficients(SWS_CS_DEFAULT), 1,
                                 sws_getCoefficients(SWS_CS_ITU709), 0, 0, unit, unit);
        const std::uint8_t* rows[4] = {picture.data};
        const int strides[4] = {int(picture.strideBytes)};
        if (sws_scale(scaler.get(), rows, strides, 0, codec->height, frame->data, frame->linesize) <= 0) {
            refuse("its pictures can't be converted");
        }
    }

    /// Gives the encoder a frame, or null at the end, and writes what comes out.
    void encode(const AVFrame* picture) {
        check(avcodec_send_frame(codec.get(), picture));
        for (int result = 0;;) {
            result = avcodec_receive_packet(codec.get(), packet.get());
            if (result == AVERROR(EAGAIN) || result == AVERROR_EOF) return;
            check(result);
            if (packet->pts == last && lasts > 0) packet->duration = lasts;
            if (packet->duration == 0) packet->duration = ticks(1 / rate);
            av_packet_rescale_ts(packet.get(), codec->time_base, stream->time_base);
            packet->stream_index = stream->index;
            check(av_interleaved_write_frame(file.get(), packet.get()));
        }
    }

    /// Of the encoder's clock.
    [[nodiscard]] std::int64_t ticks(double seconds) const { return std::llround(seconds / av_q2d(codec->time_base)); }

    fs::path path;
    double rate;
    PartFile part;
    std::unique_ptr<AVFormatContext, FreeOutput> file;
    AVStream* stream = nullptr;
    ffmpeg::Codec codec;
    ffmpeg::Packet packet{av_packet_alloc()};
    ffmpeg::Frame frame{av_frame_alloc()};
    ffmpeg::Scaler scaler;
    std::unique_ptr<SoundCopy> sound;
    Loss loss;                          ///< but for what `sound` counts
    std::int64_t last = -1, lasts = 0;  ///< ticks: when the newest picture is to be seen, and for how long
};

void checkVideoTarget(const fs::path& path, bool transparent) {
    containerOf(path, transparent);
    checkTarget(path);
    std::error_code error;
    if (!fs::exists(path, error) || fs::is_regular_file(path, error)) return;
    throw Error(ErrorCategory::output, path.string() + " is no regular file: choose another name.");
}

VideoWriter::VideoWriter(const fs::path& path, const VideoForm& form) {
    av_log_set_level(AV_LOG_QUIET);
    checkVideoTarget(path, form.transparent);
    try {
        state_ = std::make_unique<State>(path, form);
    } catch (const SoundDoesNotFit& sound) {
        VideoForm silent = form;
        silent.soundFrom.clear();
        state_ = std::make_unique<State>(path, silent);
        state_->leaveOutSound(form.soundFrom, sound.codec);
    }
}

VideoWriter::~VideoWriter() = default;

void VideoWriter::write(const ImageView& picture,
                        std::chrono::duration<double> at,
                        std::chrono::duration<double> lasts) {
    State& s = *state_;
    s.convert(picture);
    s.last = std::max(s.last + 1, s.ticks(at.count()));
    s.lasts = s.ticks(lasts.count());
    s.frame->pts = s.last;
    s.writeSound(at.count());
    s.encode(s.frame.get());
}

void VideoWriter::finish() {
    State& s = *state_;
    s.encode(nullptr);
    constexpr double kAll = 1e18;
    s.writeSound(kAll);
    s.check(av_write_trailer(s.file.get()));
    avio_flush(s.file->pb);
    s.check(s.file->pb->error);
    s.part.moveOverTarget();
}

std::string VideoWriter::codec() const {
    return avcodec_get_name(state_->codec->codec_id);
}

Loss VideoWriter::loss() const {
    Loss loss = state_->loss;
    if (state_->sound) loss += state_->sound->loss();
    return loss;
}

}  // namespace matte
