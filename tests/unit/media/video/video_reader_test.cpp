// SPDX-License-Identifier: Apache-2.0
// What a stream says of its colours, its pixels' shape and its size is heeded.
#include <algorithm>
#include <array>
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

#include "inference/core/error.h"
#include "inference/media/video/video_reader.h"
#include "inference/media/video/video_source.h"
#include "inference/media/video/video_writer.h"
#include "tests/support/files/model_file.h"
#include "tests/support/files/scratch_folder.h"
#include "tests/support/files/video_file.h"

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
    AVColorPrimaries primaries = AVCOL_PRI_UNSPECIFIED;
    int interlacedStep = 0;  ///< instead of the colour: see fillFields()
    int pictures = 3;
};

void check(int result) {
    if (result < 0) throw std::runtime_error("FFmpeg can't write a test's video");
}

constexpr int kBegin = 10;
/// A white area that grows to the right by `step` columns from one field to the next. Even rows are filmed first.
void fillFields(AVFrame& frame, int picture, int step) {
    for (int y = 0; y < frame.height; ++y) {
        std::uint8_t* row = frame.data[0] + std::ptrdiff_t(y) * frame.linesize[0];
        std::fill_n(row, frame.width, std::uint8_t(16));
        std::fill_n(row, kBegin + step * (2 * picture + y % 2), std::uint8_t(235));
    }
    frame.interlaced_frame = frame.top_field_first = 1;
}

/// Pictures of one colour, FFV1 in 4:2:0; interlaced ones are MPEG-2.
fs::path write(const fs::path& path, const Clip& clip) {
    AVFormatContext* format = nullptr;
    check(avformat_alloc_output_context2(&format, nullptr, nullptr, path.c_str()));
    const bool isInterlaced = clip.interlacedStep > 0;
    const AVCodec* codec = avcodec_find_encoder(isInterlaced ? AV_CODEC_ID_MPEG2VIDEO : AV_CODEC_ID_FFV1);
    AVCodecContext* encoder = avcodec_alloc_context3(codec);
    encoder->width = clip.size.width;
    encoder->height = clip.size.height;
    encoder->pix_fmt = AV_PIX_FMT_YUV420P;
    encoder->time_base = {1, 25};
    encoder->colorspace = clip.space;
    encoder->color_range = clip.range;
    encoder->sample_aspect_ratio = clip.aspect;
    if (isInterlaced) encoder->flags |= AV_CODEC_FLAG_INTERLACED_DCT | AV_CODEC_FLAG_INTERLACED_ME;
    encoder->bit_rate = 10'000'000;
    encoder->color_trc = clip.transfer;
    encoder->color_primaries = clip.primaries;
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
    const bool isGrey = clip.grey >= 0 || isInterlaced;
    const double levels[3] = {clip.grey >= 0 ? grey
                              : full         ? y
                                             : 16 + y * 219 / 255,
                              isGrey ? 128 : 128 + (full ? u : u * 224 / 255),
                              isGrey ? 128 : 128 + (full ? v : v * 224 / 255)};
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
    for (int i = 0; i <= clip.pictures; ++i) {
        check(av_frame_make_writable(frame));
        frame->pts = i;
        if (isInterlaced && i < clip.pictures) fillFields(*frame, i, clip.interlacedStep);
        check(avcodec_send_frame(encoder, i < clip.pictures ? frame : nullptr));
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

// The clip's colour by the matrices of BT.2087 and SMPTE EG 432-1, between the curves of sRGB; its green is beyond both
// of red and blue.
TEST(VideoReader, ShowsTheColoursOfWiderGamutsOnUsualScreens) {
    const ScratchFolder folder;
    const auto shown = [&](const Clip& clip) {
        const auto reader = VideoReader::open(write(folder / "a.mkv", clip).string(), false, {});
        Image image(reader->size(), PixelFormat::bgr8);
        EXPECT_TRUE(reader->grab() && reader->retrieve(image));
        const std::uint8_t* pixel = image.row(20) + 3 * 30;
        return std::array<int, 3>{pixel[2], pixel[1], pixel[0]};
    };
    const auto toSrgb = [](const std::array<double, 9>& m) {
        const auto light = [](int value) { return std::pow((value / 255.0 + 0.055) / 1.055, 2.4); };
        const std::array<double, 3> rgb{light(kRed), light(kGreen), light(kBlue)};
        std::array<int, 3> coded{};
        for (std::size_t c = 0; c < 3; ++c) {
            const double sum = m[3 * c] * rgb[0] + m[3 * c + 1] * rgb[1] + m[3 * c + 2] * rgb[2];
            coded[c] = sum <= 0 ? 0 : int(std::lround(255 * (1.055 * std::pow(sum, 1 / 2.4) - 0.055)));
        }
        return coded;
    };
    const auto bt2020 =
        shown({.space = AVCOL_SPC_BT2020_NCL, .kr = 0.2627, .kb = 0.0593, .primaries = AVCOL_PRI_BT2020});
    const auto p3 = shown({.space = AVCOL_SPC_SMPTE170M, .primaries = AVCOL_PRI_SMPTE432});
    const auto from2020 = toSrgb({1.6605, -0.5876, -0.0728, -0.1246, 1.1329, -0.0083, -0.0182, -0.1006, 1.1187});
    const auto fromP3 = toSrgb({1.2249, -0.2249, 0, -0.0421, 1.0421, 0, -0.0196, -0.0786, 1.0983});
    for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_NEAR(bt2020[c], from2020[c], 4) << c;
        EXPECT_NEAR(p3[c], fromP3[c], 4) << c;
    }
    const Clip grey{.space = AVCOL_SPC_BT2020_NCL, .grey = 0.38, .primaries = AVCOL_PRI_BT2020};
    for (const int level : shown(grey)) EXPECT_NEAR(level, 97, 1);
}

// Where the white area ends is the same in all rows, as it was when the first of the two fields was filmed.
TEST(VideoReader, MakesWholePicturesOfInterlacedOnes) {
    constexpr int kStep = 8, kPictures = 5;
    const ScratchFolder folder;
    const auto path = write(folder / "a.mkv", {.size = {96, 48}, .interlacedStep = kStep, .pictures = kPictures});
    const auto reader = VideoReader::open(path.string(), false, {});
    Image image(reader->size(), PixelFormat::bgr8);
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < kPictures; ++i) {
            ASSERT_TRUE(reader->grab() && reader->retrieve(image)) << i;
            EXPECT_NEAR(reader->time()->count(), i / 25.0, 0.002);
            for (int y = 0; y < 48; ++y) {
                int white = 0;
                for (int x = 0; x < 96; ++x) white += image.row(y)[3 * x] > 127 ? 1 : 0;
                EXPECT_NEAR(white, kBegin + kStep * 2 * i, 2) << i << " " << y;
            }
        }
        EXPECT_FALSE(reader->grab());
        ASSERT_TRUE(reader->rewind());
    }
}

// The header of each ProRes picture says its colours in a byte each, which FFmpeg hands on. Read as the enumerations
// that they are to be, numbers without a meaning are undefined, which only UndefinedBehaviorSanitizer sees.
TEST(VideoReader, TakesColoursThatDoNotExistForUsualOnes) {
    const ScratchFolder folder;
    const auto path = folder / "a.mov";
    Image picture({64, 48}, PixelFormat::rgba8);
    std::fill_n(picture.row(0), picture.bytes(), std::uint8_t(150));
    VideoWriter writer(path, {.size = {64, 48}, .rate = 25, .transparent = true, .soundFrom = {}});
    for (int i = 0; i < 3; ++i) writer.write(picture.view(), std::chrono::duration<double>(i / 25.0));
    writer.finish();
    auto bytes = test::readBytes(path);
    const std::string tag = "icpf";
    constexpr std::ptrdiff_t kPrimaries = 18;  // behind it the transfer, then the matrix
    int headers = 0;
    for (auto at = bytes.begin();; ++at, ++headers) {
        at = std::search(at, bytes.end(), tag.begin(), tag.end());
        if (at == bytes.end()) break;
        for (std::ptrdiff_t i = 0; i < 3; ++i) at[kPrimaries + i] = std::uint8_t(0xf3 + i);
    }
    ASSERT_EQ(headers, 3);
    test::writeBytes(path, bytes);
    const auto reader = VideoReader::open(path.string(), false, {});
    ASSERT_TRUE(reader);
    Image image(reader->size(), PixelFormat::bgr8);
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(reader->grab() && reader->retrieve(image));
        EXPECT_NEAR(image.row(20)[3 * 20], 150, 3);
    }
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
