// SPDX-License-Identifier: Apache-2.0
// What a stream says of its colours, its pixels' shape and its size is heeded.
#include <cmath>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include "inference/error.h"
#include "inference/io/video_reader.h"
#include "inference/io/video_source.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/video_file.h"

namespace matte {
namespace {

namespace fs = std::filesystem;
using test::ScratchFolder;

constexpr int kRed = 32, kGreen = 176, kBlue = 64;

struct Clip {
    Size size{64, 48};
    AVColorSpace space = AVCOL_SPC_UNSPECIFIED;
    AVColorRange range = AVCOL_RANGE_MPEG;
    AVRational aspect{1, 1};
    double kr = 0.299, kb = 0.114;  ///< luma's shares of red and blue
    AVColorTransferCharacteristic transfer = AVCOL_TRC_UNSPECIFIED;
    double grey = -1;  ///< instead of the colour: this share of the signal
};

void check(int result) {
    if (result < 0) throw std::runtime_error("FFmpeg can't write a test's video");
}

/// Three pictures of one colour, FFV1 in 4:2:0.
fs::path write(const fs::path& path, const Clip& clip) {
    AVFormatContext* format = nullptr;
    check(avformat_alloc_output_context2(&format, nullptr, nullptr, path.c_str()));
    const AVCodec* codec = avcodec_find_encoder(AV_CODEC_ID_FFV1);
    AVCodecContext* encoder = avcodec_alloc_context3(codec);
    encoder->width = clip.size.width;
    encoder->height = clip.size.height;
    encoder->pix_fmt = AV_PIX_FMT_YUV420P;
    encoder->time_base = {1, 25};
    encoder->colorspace = clip.space;
    encoder->color_range = clip.range;
    encoder->sample_aspect_ratio = clip.aspect;
    encoder->color_trc = clip.transfer;
    check(avcodec_open2(encoder, codec, nullptr));
    AVStream* stream = avformat_new_stream(format, codec);
    check(avcodec_parameters_from_context(stream->codecpar, encoder));
    stream->sample_aspect_ratio = clip.aspect;
    stream->time_base = encoder->time_base;
    check(avio_open(&format->pb, path.c_str(), AVIO_FLAG_WRITE));
    check(avformat_write_header(format, nullptr));

    const double y = clip.kr * kRed + (1 - clip.kr - clip.kb) * kGreen + clip.kb * kBlue;
    const double u = (kBlue - y) / (2 * (1 - clip.kb)), v = (kRed - y) / (2 * (1 - clip.kr));
    const bool full = clip.range == AVCOL_RANGE_JPEG;
    const double grey = 16 + 219 * clip.grey;
    const double levels[3] = {clip.grey >= 0 ? grey
                              : full         ? y
                                             : 16 + y * 219 / 255,
                              clip.grey >= 0 ? 128 : 128 + (full ? u : u * 224 / 255),
                              clip.grey >= 0 ? 128 : 128 + (full ? v : v * 224 / 255)};
    AVFrame* frame = av_frame_alloc();
    frame->width = clip.size.width;
    frame->height = clip.size.height;
    frame->format = encoder->pix_fmt;
    check(av_frame_get_buffer(frame, 0));
    for (int plane = 0; plane < 3; ++plane) {
        const int rows = plane == 0 ? clip.size.height : (clip.size.height + 1) / 2;
        std::fill_n(frame->data[plane], std::ptrdiff_t(rows) * frame->linesize[plane],
                    std::uint8_t(std::lround(levels[plane])));
    }
    AVPacket* packet = av_packet_alloc();
    for (int i = 0; i <= 3; ++i) {
        frame->pts = i;
        check(avcodec_send_frame(encoder, i < 3 ? frame : nullptr));
        while (avcodec_receive_packet(encoder, packet) == 0) {
            av_packet_rescale_ts(packet, encoder->time_base, stream->time_base);
            check(av_write_frame(format, packet));
            av_packet_unref(packet);
        }
    }
    check(av_write_trailer(format));
    avio_closep(&format->pb);
    av_packet_free(&packet);
    av_frame_free(&frame);
    avcodec_free_context(&encoder);
    avformat_free_context(format);
    return path;
}

void expectColor(const Clip& clip, const std::string& what) {
    const ScratchFolder folder;
    const auto reader = VideoReader::open(write(folder / "a.mkv", clip).string(), false, {});
    ASSERT_TRUE(reader) << what;
    ASSERT_TRUE(reader->grab());
    Image image(reader->size(), PixelFormat::bgr8);
    ASSERT_TRUE(reader->retrieve(image));
    for (const auto& [x, y] : {std::pair{0, 0}, std::pair{image.size().width - 1, image.size().height - 1}}) {
        const std::uint8_t* pixel = image.row(y) + 3 * x;
        EXPECT_NEAR(pixel[0], kBlue, 3) << what;
        EXPECT_NEAR(pixel[1], kGreen, 3) << what;
        EXPECT_NEAR(pixel[2], kRed, 3) << what;
    }
}

TEST(VideoReader, ReadsTheColoursThatAStreamSaysItHas) {
    constexpr double r709 = 0.2126, b709 = 0.0722;
    expectColor({.space = AVCOL_SPC_SMPTE170M}, "BT.601");
    expectColor({.space = AVCOL_SPC_BT709, .kr = r709, .kb = b709}, "BT.709");
    expectColor({.space = AVCOL_SPC_BT709, .range = AVCOL_RANGE_JPEG, .kr = r709, .kb = b709}, "BT.709, full range");
    expectColor({.space = AVCOL_SPC_BT470BG, .range = AVCOL_RANGE_JPEG}, "BT.601, full range");
    expectColor({.space = AVCOL_SPC_BT2020_NCL, .kr = 0.2627, .kb = 0.0593}, "BT.2020");
    expectColor({.size = {65, 47}, .space = AVCOL_SPC_BT709, .kr = r709, .kb = b709}, "of odd sides");
}

TEST(VideoReader, TakesWhatSaysNothingAsPlayersDo) {
    expectColor({}, "small");
    expectColor({.size = {1280, 720}, .kr = 0.2126, .kb = 0.0722}, "high definition");
}

// As ToneMap's test has it: signals of one light look alike.
TEST(VideoReader, ShowsHighDynamicRangeOnUsualScreens) {
    const ScratchFolder folder;
    const auto shown = [&](AVColorTransferCharacteristic transfer, double grey) {
        const Clip clip{.space = AVCOL_SPC_BT2020_NCL, .transfer = transfer, .grey = grey};
        const auto reader = VideoReader::open(write(folder / "a.mkv", clip).string(), false, {});
        Image image(reader->size(), PixelFormat::bgr8);
        EXPECT_TRUE(reader->grab() && reader->retrieve(image));
        EXPECT_EQ(image.row(47)[3 * 63], image.row(0)[0]);
        return int(image.row(20)[3 * 30 + 1]);
    };
    EXPECT_NEAR(shown(AVCOL_TRC_ARIB_STD_B67, 0.38), 101, 4);
    EXPECT_NEAR(shown(AVCOL_TRC_SMPTE2084, 0.38), 100, 4);
    EXPECT_NEAR(shown(AVCOL_TRC_ARIB_STD_B67, 0.75), shown(AVCOL_TRC_SMPTE2084, 0.58), 4);
    EXPECT_EQ(shown(AVCOL_TRC_SMPTE2084, 0), 0);
    EXPECT_EQ(shown(AVCOL_TRC_ARIB_STD_B67, 1), 255);
    EXPECT_NEAR(shown(AVCOL_TRC_BT709, 0.38), 97, 2) << "of the usual range: as it is";
}

TEST(VideoReader, MakesPixelsSquare) {
    const ScratchFolder folder;
    const auto sizeOf = [&](AVRational aspect) {
        const auto reader = VideoReader::open(write(folder / "a.mkv", {.aspect = aspect}).string(), false, {});
        Image image(reader->size(), PixelFormat::bgr8);
        EXPECT_TRUE(reader->grab() && reader->retrieve(image));
        EXPECT_NEAR(image.row(image.size().height - 1)[3 * (image.size().width - 1) + 1], kGreen, 3);
        return reader->size();
    };
    EXPECT_EQ(sizeOf({16, 9}), (Size{114, 48}));
    EXPECT_EQ(sizeOf({1, 2}), (Size{64, 96}));
    EXPECT_EQ(sizeOf({1, 1}), (Size{64, 48}));
    EXPECT_EQ(sizeOf({1000, 1}), (Size{64, 48})) << "absurd";
}

TEST(VideoReader, GoesBackToTheBeginning) {
    const ScratchFolder folder;
    for (const char* name : {"a.mp4", "a.ts", "a.avi"}) {
        const auto reader = VideoReader::open(test::writeVideo(folder / name, 8).string(), false, {});
        ASSERT_TRUE(reader);
        Image image(reader->size(), PixelFormat::bgr8);
        for (int pass = 0; pass < 3; ++pass) {
            for (int i = 0; i < 8; ++i) {
                ASSERT_TRUE(reader->grab() && reader->retrieve(image)) << name;
                EXPECT_EQ(test::videoFrameIn(image), i) << name;
            }
            EXPECT_FALSE(reader->grab());
            ASSERT_TRUE(reader->rewind());
        }
    }
}

TEST(VideoReader, AChangeOfSizeOnTheWayIsToldAndNoFrozenPicture) {
    const ScratchFolder folder;
    for (const Size other : {Size{160, 96}, Size{48, 32}, Size{64, 96}}) {
        test::writeVideo(folder / "a.ts", 10);
        test::writeVideo(folder / "b.ts", 10, 25, other);
        std::ofstream both(folder / "c.ts", std::ios::binary);
        for (const char* part : {"a.ts", "b.ts"}) both << std::ifstream(folder / part, std::ios::binary).rdbuf();
        both.close();
        const auto source = openVideo(folder / "c.ts", {});
        int frames = 0;
        try {
            while (source->read({})) ++frames;
            ADD_FAILURE() << "nothing was said";
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("changes its size"), std::string::npos) << error.what();
        }
        EXPECT_GE(frames, 9);
        EXPECT_LE(frames, 10);
    }
}

}  // namespace
}  // namespace matte
