// SPDX-License-Identifier: Apache-2.0
// What is written as a video is read again: pictures, times, transparency and sound, in every form; and no half of a
// file is ever left.
#include <array>
#include <csignal>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "inference/core/error.h"
#include "inference/media/video/ffmpeg.h"
#include "inference/media/video/video_reader.h"
#include "inference/media/video/video_writer.h"
#include "tests/support/files/model_file.h"
#include "tests/support/files/scratch_folder.h"
#include "tests/support/files/video_file.h"

namespace matte {
namespace {

namespace fs = std::filesystem;
using Seconds = std::chrono::duration<double>;

Image plain(Size size, PixelFormat format, std::array<int, 4> rgba) {
    Image image(size, format);
    const int channels = bytesPerPixel(format);
    if (format == PixelFormat::bgr8) std::swap(rgba[0], rgba[2]);
    for (std::size_t i = 0; i < image.bytes(); ++i) image.row(0)[i] = std::uint8_t(rgba[i % std::size_t(channels)]);
    return image;
}

struct Seen {
    Size size;
    std::vector<std::array<int, 3>> colors;  ///< in the middle, red first
    std::vector<double> times;
};

Seen seenIn(const fs::path& path) {
    Seen seen;
    const auto reader = VideoReader::open(path.string(), false, {});
    if (!reader) return seen;
    seen.size = reader->size();
    Image image(seen.size, PixelFormat::bgr8);
    while (reader->grab() && reader->retrieve(image)) {
        const std::uint8_t* pixel =
            image.row(seen.size.height / 2) + std::ptrdiff_t(seen.size.width / 2) * bytesPerPixel(image.format());
        seen.colors.push_back({pixel[2], pixel[1], pixel[0]});
        seen.times.push_back(reader->time().value_or(Seconds(-1)).count());
    }
    return seen;
}

/// The alpha of a video's first picture in its middle, 0 to 255; -1: it has none.
int alphaIn(const fs::path& path, const char* decoderName) {
    AVFormatContext* opened = nullptr;
    if (avformat_open_input(&opened, path.c_str(), nullptr, nullptr) < 0) return -1;
    const ffmpeg::Input input(opened);
    avformat_find_stream_info(opened, nullptr);
    const AVCodec* decoder = avcodec_find_decoder_by_name(decoderName);
    const ffmpeg::Codec codec(avcodec_alloc_context3(decoder));
    avcodec_parameters_to_context(codec.get(), opened->streams[0]->codecpar);
    if (avcodec_open2(codec.get(), decoder, nullptr) < 0) return -1;
    const ffmpeg::Packet packet(av_packet_alloc());
    const ffmpeg::Frame frame(av_frame_alloc());
    while (avcodec_receive_frame(codec.get(), frame.get()) < 0) {
        if (av_read_frame(opened, packet.get()) < 0) return -1;
        avcodec_send_packet(codec.get(), packet.get());
        av_packet_unref(packet.get());
    }
    if (!frame->data[3]) return -1;
    const std::uint8_t* row = frame->data[3] + std::ptrdiff_t(frame->height / 2) * frame->linesize[3];
    if (frame->format == AV_PIX_FMT_YUVA420P) return row[frame->width / 2];
    const int bits = frame->format == AV_PIX_FMT_YUVA444P12LE ? 12 : 10;
    const int value = row[frame->width / 2 * 2] | row[frame->width / 2 * 2 + 1] << 8;
    return value * 255 / ((1 << bits) - 1);
}

std::string refusal(const fs::path& path, const VideoForm& form) {
    try {
        VideoWriter writer(path, form);
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::output);
        return error.what();
    }
    return "";
}

class Written : public testing::TestWithParam<const char*> {
protected:
    test::ScratchFolder folder_;
};

TEST_P(Written, ComesBackInItsColorsAtItsTimes) {
    const std::vector<std::array<int, 4>> colors{
        {200, 40, 60, 255}, {30, 180, 90, 255}, {50, 70, 220, 255}, {128, 128, 128, 255}};
    const std::vector<double> times{0, 0.04, 0.2, 0.28};  // as of a telephone, whose pictures come when they can
    for (const PixelFormat format : {PixelFormat::rgba8, PixelFormat::bgr8}) {
        const fs::path path = folder_ / ("plain" + std::string(GetParam()));
        VideoWriter writer(path, {.size = {64, 48}, .rate = 25, .soundFrom = {}});
        for (std::size_t i = 0; i < colors.size(); ++i) {
            writer.write(plain({64, 48}, format, colors[i]).view(), Seconds(times[i]));
        }
        EXPECT_FALSE(fs::exists(path) && format == PixelFormat::rgba8) << "before it is whole";
        writer.finish();
        const Seen seen = seenIn(path);
        EXPECT_EQ(seen.size, (Size{64, 48}));
        ASSERT_EQ(seen.colors.size(), colors.size());
        for (std::size_t i = 0; i < colors.size(); ++i) {
            for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(seen.colors[i][c], colors[i][c], 6) << i;
            EXPECT_NEAR(seen.times[i] - seen.times[0], times[i], 0.0011);
        }
    }
}

TEST_P(Written, LosesAnOddRowAtMost) {
    const fs::path path = folder_ / ("odd" + std::string(GetParam()));
    VideoWriter writer(path, {.size = {33, 49}, .rate = 25, .soundFrom = {}});
    for (int i = 0; i < 3; ++i) writer.write(plain({33, 49}, PixelFormat::gray8, {90}).view(), Seconds(i / 25.0));
    writer.finish();
    const Seen seen = seenIn(path);
    EXPECT_EQ(seen.size, (Size{32, 48}));
    for (const int level : seen.colors.at(1)) EXPECT_NEAR(level, 90, 3);
}

INSTANTIATE_TEST_SUITE_P(Forms,
                         Written,
                         testing::Values(".mp4", ".m4v", ".mov", ".mkv", ".webm", ".MP4"),
                         [](const auto& instance) { return std::string(instance.param + 1); });

TEST(VideoWriter, KeepsTransparency) {
    const test::ScratchFolder folder;
    for (const auto& [name, decoder] : {std::pair("clear.webm", "libvpx-vp9"), std::pair("clear.mov", "prores")}) {
        VideoWriter writer(folder / name, {.size = {64, 48}, .rate = 25, .transparent = true, .soundFrom = {}});
        for (int i = 0; i < 3; ++i) {
            writer.write(plain({64, 48}, PixelFormat::rgba8, {200, 40, 60, 77}).view(), Seconds(i / 25.0));
        }
        writer.finish();
        EXPECT_NEAR(alphaIn(folder / name, decoder), 77, 2) << name;
        const Seen seen = seenIn(folder / name);
        ASSERT_EQ(seen.colors.size(), 3U) << name;
        EXPECT_NEAR(seen.colors[0][0], 200, 6) << "not multiplied by its alpha: " << name;
    }
}

/// A copy of `video`'s sound beside pictures of our own; what is said of it.
std::string copySound(const fs::path& video, const fs::path& path, double begin = 0) {
    VideoWriter writer(path, {.size = {64, 48}, .rate = 25, .soundFrom = video, .soundBegin = Seconds(begin)});
    for (int i = 0; i < 10; ++i) writer.write(plain({64, 48}, PixelFormat::gray8, {90}).view(), Seconds(i / 25.0));
    writer.finish();
    return writer.loss().sentence(video.filename().string());
}

TEST(VideoWriter, TakesTheSoundAlongInTime) {
    const test::ScratchFolder folder;
    const auto silent = test::writeVideo(folder / "silent.mp4", 10);
    const auto video = test::withSound(silent, folder / "loud.mov");
    const auto late =
        test::withSound(silent, folder / "late.mov", {.later = 0.2});  // the pictures begin after the sound
    for (const char* name : {"a.mov", "a.mkv"}) {
        for (const auto& [from, shift] : {std::pair(video, 0.0), std::pair(late, 0.2)}) {
            EXPECT_EQ(copySound(from, folder / name, shift), "");
            const auto packets = test::soundOf(folder / name);
            ASSERT_FALSE(packets.empty()) << name;
            for (const auto& packet : packets) {
                EXPECT_NEAR(packet.sample, (packet.time + shift) * test::kSoundRate, 0.02 * test::kSoundRate) << name;
            }
            EXPECT_GT(packets.back().time, 0.25) << "to its end";
        }
    }
    EXPECT_EQ(copySound(silent, folder / "b.mov"), "");
    EXPECT_TRUE(test::soundOf(folder / "b.mov").empty());
}

// As those of TrueHD do.
TEST(VideoWriter, KeepsEveryPacketOfASoundThatSharesTimes) {
    const test::ScratchFolder folder;
    const auto silent = test::writeVideo(folder / "silent.mp4", 10);
    const auto video = test::withSound(silent, folder / "loud.mkv", {.sharesTime = 2});
    ASSERT_EQ(copySound(video, folder / "a.mkv"), "");
    EXPECT_EQ(test::soundOf(folder / "a.mkv").size(), test::soundOf(video).size());
}

TEST(VideoWriter, SaysWhenTheFormCanNotHoldTheSound) {
    const test::ScratchFolder folder;
    const auto video = test::withSound(test::writeVideo(folder / "silent.mp4", 10), folder / "loud.mov");
    EXPECT_EQ(
        copySound(video, folder / "a.webm"),
        (folder / "a.webm").string() +
            " has no sound, because its form can't hold that of loud.mov (pcm_s16le): use mov or mkv to keep it.");
    EXPECT_TRUE(test::soundOf(folder / "a.webm").empty());
    EXPECT_EQ(seenIn(folder / "a.webm").colors.size(), 10U);
}

TEST(VideoWriter, LeavesTheOldFileUntilTheNewOneIsWhole) {
    const test::ScratchFolder folder;
    const fs::path path = folder / "clip.mp4";
    test::writeBytes(path, std::vector<std::uint8_t>{1, 2, 3});
    {
        VideoWriter writer(path, {.size = {64, 48}, .rate = 25, .soundFrom = {}});
        writer.write(plain({64, 48}, PixelFormat::gray8, {90}).view(), Seconds(0));
        const auto names = std::distance(fs::directory_iterator(folder.path()), {});
        EXPECT_LE(names, 2) << "one where the disk's format has files without a name";
    }
    EXPECT_EQ(test::readBytes(path), (std::vector<std::uint8_t>{1, 2, 3}));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1) << "nothing else is left";
}

TEST(VideoWriter, SaysWhatItCanNotWrite) {
    const test::ScratchFolder folder;
    const auto at = [&](const char* name) { return (folder / name).string(); };
    const VideoForm form{.size = {64, 48}, .rate = 25, .soundFrom = {}};
    VideoForm clear = form, tiny = form;
    clear.transparent = true;
    tiny.size = {1, 1};
    EXPECT_EQ(refusal(at("a.gif"), form),
              at("a.gif") + " has an extension that no video can be written with: use mp4, mov, mkv or webm.");
    EXPECT_EQ(refusal(at("a.mp4"), clear), at("a.mp4") + " can't be transparent: use webm or mov for that.");
    EXPECT_EQ(refusal(at("none/a.mp4"), form),
              at("none/a.mp4") + " can't be written because its folder doesn't exist: create it first.");
    ASSERT_EQ(::mkfifo(at("pipe.mp4").c_str(), 0600), 0);
    EXPECT_EQ(refusal(at("pipe.mp4"), form), at("pipe.mp4") + " is no regular file: choose another name.");
    fs::remove(at("pipe.mp4"));
    EXPECT_EQ(refusal(at("a.mp4"), tiny),
              at("a.mp4") + " can't be written, for no encoder here takes 1x1 pixels: try another form or size.");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 0);
}

// A limit on the size of files stands for a disk that is full.
TEST(VideoWriter, SaysThatTheDiskIsFull) {
    const test::ScratchFolder folder;
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small{100'000, before.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    std::string said;
    try {
        VideoWriter writer(folder / "a.mov", {.size = {320, 240}, .rate = 25, .transparent = true, .soundFrom = {}});
        Image noise({320, 240}, PixelFormat::rgba8);
        for (std::size_t i = 0; i < noise.bytes(); ++i) noise.row(0)[i] = std::uint8_t(i * i >> 7);
        for (int i = 0; i < 20; ++i) writer.write(noise.view(), Seconds(i / 25.0));
        writer.finish();
    } catch (const Error& error) {
        said = error.what();
    }
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(said, (folder / "a.mov").string() +
                        " can't be written (File too large): free some space or choose another folder.");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 0);
}

}  // namespace
}  // namespace matte
