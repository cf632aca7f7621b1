// SPDX-License-Identifier: Apache-2.0
// Videos and folders of pictures as sources: every frame, in time, upright, and a sentence for what is none.
#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>

#include "inference/core/error.h"
#include "inference/media/frame_source.h"
#include "inference/media/image/image_file.h"
#include "inference/media/video/video_source.h"
#include "tests/support/files/scratch_folder.h"
#include "tests/support/running/eventually.h"
#include "tests/support/running/server.h"

namespace matte {
namespace {

namespace fs = std::filesystem;
using test::eventually;
using test::ScratchFolder;
using test::Server;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// A video whose frame n is grey of level 20 + 10 (n % 20), with the left upper quarter white.
fs::path makeVideo(const fs::path& path, int frames = 12, double rate = 25, Size size = {96, 64}) {
    const bool avi = path.extension() == ".avi";
    cv::VideoWriter writer(
        path.string(), cv::CAP_FFMPEG,
        avi ? cv::VideoWriter::fourcc('M', 'J', 'P', 'G') : cv::VideoWriter::fourcc('m', 'p', '4', 'v'), rate,
        cv::Size(size.width, size.height));
    EXPECT_TRUE(writer.isOpened());
    for (int n = 0; n < frames; ++n) {
        cv::Mat frame(size.height, size.width, CV_8UC3, cv::Scalar::all(20 + 10 * (n % 20)));
        cv::rectangle(frame, cv::Rect(0, 0, size.width / 2, size.height / 2), cv::Scalar::all(255), cv::FILLED);
        writer.write(frame);
    }
    return path;
}

/// The level of the right lower corner: which frame it is.
int frameIn(const Image& image) {
    const Size size = image.size();
    return (image.row(size.height - 4)[(size.width - 4) * 3] - 15) / 10;
}

std::unique_ptr<FrameSource> open(const fs::path& path, bool paced = false, bool repeat = false, double rate = 0) {
    CaptureSettings settings;
    settings.paced = paced;
    settings.repeat = repeat;
    settings.rate = rate;
    return openSource(parseSource(path.string()), settings);
}

TEST(VideoSource, GivesEveryFrameAndEnds) {
    const ScratchFolder folder;
    for (const char* name : {"a.mp4", "a.avi", "name with | and !.mp4", "%03d.mp4"}) {
        const auto source = open(makeVideo(folder / name));
        EXPECT_EQ(source->info().name, name);
        EXPECT_EQ(source->info().size, (Size{96, 64}));
        EXPECT_NEAR(source->info().rate, 25, 0.01);
        for (int n = 0; n < 12; ++n) {
            const auto frame = source->read({});
            ASSERT_TRUE(frame) << name << " " << n;
            EXPECT_EQ(frame->number, std::uint64_t(n));
            ASSERT_EQ(frame->image->format(), PixelFormat::bgr8);
            EXPECT_EQ(frameIn(*frame->image), n) << name;
            EXPECT_GT(frame->image->row(4)[4 * 3], 240) << "the white quarter is elsewhere";
        }
        EXPECT_FALSE(source->read({}));
        EXPECT_FALSE(source->read({})) << "the end stays the end";
    }
}

TEST(VideoSource, NotPacedEveryFrameComesHoweverManyAreHeld) {
    const ScratchFolder folder;
    const auto source = open(makeVideo(folder / "a.mp4", 20));
    std::vector<Frame> held;
    while (auto frame = source->read({})) held.push_back(*frame);
    ASSERT_EQ(held.size(), 20U);
    for (int n = 0; n < 20; ++n) EXPECT_EQ(frameIn(*held[std::size_t(n)].image), n);
}

TEST(VideoSource, PacedItKeepsItsRateAndLeavesOutWhatIsLate) {
    const ScratchFolder folder;
    const auto source = open(makeVideo(folder / "a.mp4", 200, 50), true);
    EXPECT_TRUE(source->info().live);
    const auto first = source->read({});
    ASSERT_TRUE(first);
    auto last = first;
    for (int n = 1; n < 10; ++n) {
        ASSERT_TRUE(last = source->read({}));
        EXPECT_LE(last->captured, Clock::now()) << "it comes before it is due";
    }
    EXPECT_GE(Seconds(last->captured - first->captured).count(), double(last->number) / 50 - 1e-6);
    const auto due = last->captured + 10 * 20ms;
    ASSERT_TRUE(eventually([&] { return Clock::now() >= due; }));  // the reader is late
    const auto late = source->read({});
    ASSERT_TRUE(late);
    EXPECT_GE(late->number, last->number + 5);
    EXPECT_EQ(frameIn(*late->image), int(late->number % 20)) << "the number belongs to another frame";
}

TEST(VideoSource, RepeatsWithNumbersThatGoOn) {
    const ScratchFolder folder;
    const auto source = open(makeVideo(folder / "a.mp4", 5), false, true);
    for (std::uint64_t n = 0; n < 17; ++n) {
        const auto frame = source->read({});
        ASSERT_TRUE(frame);
        EXPECT_EQ(frame->number, n);
        EXPECT_EQ(frameIn(*frame->image), int(n % 5));
    }
}

/// Sets the turn in an MP4's track header, as a phone that was held upright does, for pictures that it mirrored first
/// or not.
void turn(const fs::path& path, int quarters, bool isMirrored) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
    const char tag[] = {'t', 'k', 'h', 'd'};
    const auto at = std::search(bytes.begin(), bytes.end(), std::begin(tag), std::end(tag));
    ASSERT_NE(at, bytes.end());
    // After the tag: version and flags, then 36 bytes, then the matrix in 16.16 (and 2.30), row by row.
    const std::array<std::array<int, 4>, 4> turns{{{1, 0, 0, 1}, {0, 1, -1, 0}, {-1, 0, 0, -1}, {0, -1, 1, 0}}};
    auto matrix = turns[std::size_t(quarters)];
    if (isMirrored) matrix[0] *= -1, matrix[1] *= -1;  // where a step to the right goes
    const std::ptrdiff_t begin = at - bytes.begin() + 4 + 40;
    const std::array<std::ptrdiff_t, 4> places{0, 4, 12, 16};
    for (std::size_t i = 0; i < 4; ++i) {
        const auto value = std::uint32_t(matrix[i]) << 16;
        for (int b = 0; b < 4; ++b) bytes[std::size_t(begin + places[i] + b)] = char((value >> (24 - 8 * b)) & 0xff);
    }
    file.clear();
    file.seekp(0);
    file.write(bytes.data(), std::streamsize(bytes.size()));
}

TEST(VideoSource, RespectsTheTurnThatPhonesWrite) {
    const ScratchFolder folder;
    for (int i = 0; i < 8; ++i) {
        const int quarters = i % 4;
        const bool isMirrored = i >= 4;
        const fs::path path = makeVideo(folder / (std::to_string(i) + ".mp4"));
        turn(path, quarters, isMirrored);
        const auto source = open(path);
        const Size upright = quarters % 2 == 0 ? Size{96, 64} : Size{64, 96};
        EXPECT_EQ(source->info().size, upright) << quarters;
        const auto frame = source->read({});
        ASSERT_TRUE(frame) << quarters;
        ASSERT_EQ(frame->image->size(), upright);
        // The white quarter goes round with the clock, from the left or, mirrored, from the right.
        const int corner = (quarters + (isMirrored ? 1 : 0)) % 4;
        const bool right = corner == 1 || corner == 2, low = corner >= 2;
        const int x = right ? upright.width - 6 : 6, y = low ? upright.height - 6 : 6;
        EXPECT_GT(frame->image->row(y)[x * 3], 230) << quarters;
        EXPECT_LT(frame->image->row(upright.height - 1 - y)[(upright.width - 1 - x) * 3], 60) << quarters;
    }
}

std::string refusal(const fs::path& path) {
    try {
        (void)open(path);
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::input) << error.what();
        return error.what();
    }
    return "";
}

TEST(VideoSource, SaysWhatIsWrongWithAFile) {
    const ScratchFolder folder;
    EXPECT_NE(refusal(folder / "none.mp4").find("There is no file"), std::string::npos);
    std::ofstream(folder / "empty.mp4").close();
    EXPECT_NE(refusal(folder / "empty.mp4").find("is empty"), std::string::npos);
    std::ofstream(folder / "text.mp4") << "This is no video at all.\n";
    EXPECT_NE(refusal(folder / "text.mp4").find("no video"), std::string::npos);
    // A playlist would make FFmpeg open what it names.
    std::ofstream(folder / "list.m3u8") << "#EXTM3U\n#EXTINF:1,\n" << makeVideo(folder / "a.mp4").string() << "\n";
    EXPECT_NE(refusal(folder / "list.m3u8").find("no video"), std::string::npos);
    // Nor one that a control byte or a tag of music makes look like no text; the last one names itself.
    const std::string other = "\nfile " + (folder / "a.mp4").string() + "\n", tag("ID3\3\0\0\0\0\0\5?????", 15);
    for (const std::string& list :
         {"#EXTM3U\n#\1\n#EXT-X-TARGETDURATION:10\n#EXTINF:1,\n" + (folder / "a.mp4").string() + "\n#EXT-X-ENDLIST\n",
          "ffconcat version 1.0\n#\1" + other, tag + "ffconcat version 1.0" + other,
          std::string("ffconcat version 1.0\n#\1\nfile list.mp4\n")}) {
        std::ofstream(folder / "list.mp4", std::ios::binary) << list;
        EXPECT_NE(refusal(folder / "list.mp4").find("no video"), std::string::npos) << list;
    }
    std::ofstream(folder / "noise.mp4", std::ios::binary) << std::string(5000, '\0') + std::string(5000, '\xfe');
    EXPECT_NE(refusal(folder / "noise.mp4").find("no video"), std::string::npos);
    fs::resize_file(folder / "a.mp4", fs::file_size(folder / "a.mp4") / 2);
    EXPECT_NE(refusal(folder / "a.mp4").find("damaged"), std::string::npos);
}

TEST(VideoSource, ADamagedMiddleEndsOrGoesOnButNeverHangs) {
    const ScratchFolder folder;
    const fs::path path = makeVideo(folder / "a.avi", 30);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(std::streamoff(fs::file_size(path) / 2));
    file << std::string(200, '\x5a');
    file.close();
    const auto source = open(path);
    int frames = 0;
    while (source->read({})) ++frames;
    EXPECT_GE(frames, 1);
    EXPECT_LE(frames, 30);
}

void writeGrey(const fs::path& path, Size size, int level) {
    Image image(size, PixelFormat::bgr8);
    std::memset(image.row(0), level, image.bytes());
    writeImage(path, image.view());
}

TEST(FolderSource, GivesThePicturesInTheOrderOfTheirNames) {
    const ScratchFolder folder;
    writeGrey(folder / "b.png", {20, 10}, 2);
    writeGrey(folder / "a.png", {10, 20}, 1);
    writeGrey(folder / "c.bmp", {10, 20}, 3);
    std::ofstream(folder / "notes.txt") << "not a picture";
    std::ofstream(folder / "aa.png") << "damaged";
    const auto source = open(folder.path());
    std::vector<int> levels;
    while (auto frame = source->read({})) levels.push_back(frame->image->row(0)[0]);
    EXPECT_EQ(levels, (std::vector<int>{1, 2, 3}));
}

TEST(FolderSource, KeepsARateAndRepeats) {
    const ScratchFolder folder;
    writeGrey(folder / "a.png", {8, 8}, 1);
    writeGrey(folder / "b.png", {8, 8}, 2);
    const auto source = open(folder.path(), true, true, 50);
    EXPECT_EQ(source->info().rate, 50);
    const auto first = source->read({});
    ASSERT_TRUE(first);
    for (int n = 1; n < 6; ++n) {
        const auto frame = source->read({});
        ASSERT_TRUE(frame);
        EXPECT_NEAR(Seconds(frame->captured - first->captured).count(), double(frame->number) / 50, 1e-8);
        EXPECT_LE(frame->captured, Clock::now()) << "it comes before it is due";
    }
}

TEST(FolderSource, SaysWhenThereIsNothingToShow) {
    const ScratchFolder folder;
    EXPECT_NE(refusal(folder.path()).find("no picture"), std::string::npos);
    std::ofstream(folder / "a.png") << "damaged";
    const auto source = open(folder.path());
    EXPECT_THROW((void)source->read({}), Error);
}

TEST(OpenSource, AStreamThatBreaksOffIsALossAndNoEnd) {
    const ScratchFolder folder;
    const Server server(makeVideo(folder / "a.ts", 40));
    CaptureSettings settings;
    settings.paced = false;
    const auto source = openSource(parseSource(server.address()), settings);
    EXPECT_EQ(source->info().size, (Size{96, 64}));
    int frames = 0;
    try {
        while (source->read({})) ++frames;
        ADD_FAILURE() << "it ended";
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::source);
    }
    EXPECT_GE(frames, 20);
}

TEST(OpenSource, AStreamSlowerThanItsTimesKeepsTheRateThatItHas) {
    const ScratchFolder folder;
    // Fifty frames a second by their times, thirty-five by the clock.
    const Server server(makeVideo(folder / "a.ts", 350, 50), true, std::chrono::seconds(10));
    CaptureSettings settings;
    settings.paced = true;
    const auto source = openSource(parseSource(server.address()), settings);
    const auto first = source->read({});
    ASSERT_TRUE(first);
    auto last = first;
    for (int i = 1; i < 150; ++i) ASSERT_TRUE(last = source->read({}));
    const std::uint64_t frames = last->number - first->number;
    EXPECT_LT(frames, 200U) << "frames were left out that nobody would have waited for";
    EXPECT_GT(last->captured - first->captured, frames * 20ms + 500ms) << "an old time, so a latency that isn't";
}

/// Counts the threads of this process.
std::ptrdiff_t threads() {
    return std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator());
}
bool threadsFallTo(std::ptrdiff_t count) {
    return eventually([count] { return threads() <= count; }, std::chrono::seconds(30));
}
/// Asks for a stop once the server has sent all that it has.
std::jthread stopOnceSent(const Server& server, std::stop_source& stop) {
    return std::jthread([&] {
        server.waitUntilSent();
        stop.request_stop();
    });
}

/// The listener accepts, and never answers; after ten seconds opening would say so.
TEST(OpenSource, StoppingIsSeenWhileAnAddressDoesNotAnswer) {
    const auto before = threads();
    std::stop_source stop;
    {
        const Server server({}, false);
        const std::jthread asker = stopOnceSent(server, stop);
        EXPECT_THROW((void)openSource(parseSource(server.address()), {}, stop.get_token()), Cancelled);
    }
    EXPECT_TRUE(threadsFallTo(before)) << "the thread that opens was left for ever";
}

TEST(OpenSource, AnAddressThatDoesNotAnswerIsGivenUp) {
    const auto before = threads();
    {
        const Server server({}, false);
        try {
            (void)openAddress(server.address(), {}, {}, {.open = 300ms});
            ADD_FAILURE() << "it opened";
        } catch (const Error& error) {
            EXPECT_EQ(error.category, ErrorCategory::source);
            EXPECT_NE(std::string(error.what()).find(server.address()), std::string::npos) << error.what();
        }
    }
    EXPECT_TRUE(threadsFallTo(before));
}

TEST(OpenSource, StoppingIsSeenWhileAStreamIsSilent) {
    const ScratchFolder folder;
    const fs::path clip = makeVideo(folder / "a.ts", 40);
    const auto before = threads();
    {
        const Server server(clip, false);
        CaptureSettings settings;
        settings.paced = false;
        std::stop_source stop;
        // The first reads wait for more than there is.
        const AddressPatience patience{.read = 1h};
        auto source = openAddress(server.address(), settings, {}, patience);
        const std::jthread asker = stopOnceSent(server, stop);
        while (source->read(stop.get_token())) continue;
        source.reset();
    }
    EXPECT_TRUE(threadsFallTo(before));
}

TEST(OpenSource, SaysWhenAnAddressAnswersNothing) {
    try {
        (void)openSource(parseSource("tcp://127.0.0.1:9"), {});
        ADD_FAILURE() << "something answered";
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::source);
        EXPECT_NE(std::string(error.what()).find("tcp://127.0.0.1:9"), std::string::npos);
    }
}

// A peer may answer with a list of others to open, or send us to one: no file of this machine is among them.
TEST(OpenSource, WhatComesFromTheNetworkOpensNoFile) {
    const ScratchFolder folder;
    const std::string clip = makeVideo(folder / "private.ts", 40).string(), url = "file://" + clip;
    const auto ok = [](const std::string& text, const std::string& more = "") {
        return "HTTP/1.0 200 OK\r\nContent-Length: " + std::to_string(text.size()) + "\r\n" + more + "\r\n" + text;
    };
    const std::string list = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:1.6,\n" + url + "\n#EXT-X-ENDLIST\n";
    const std::string sdp = "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=a\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 33\n";
    const std::string concat = "ffconcat version 1.0\nfile " + url + "\n";
    const std::vector<std::pair<std::string, std::string>> answers{
        {"tcp", list},        {"tcp", concat},
        {"tcp", sdp},         {"http", ok(list, "Content-Type: application/vnd.apple.mpegurl\r\n")},
        {"http", ok(concat)}, {"http", "HTTP/1.0 302 Found\r\nContent-Length: 0\r\nLocation: " + url + "\r\n\r\n"}};
    for (const auto& [scheme, answer] : answers) {
        std::ofstream(folder / "answer", std::ios::binary) << answer;
        const Server server(folder / "answer", scheme == "tcp");
        const std::string address = scheme + server.address().substr(3);
        try {
            const auto source = openAddress(address, {}, {}, {.open = std::chrono::seconds(3)});
            ADD_FAILURE() << "it shows " << source->info().size.width << " columns of " << answer;
        } catch (const Error& error) {
            EXPECT_EQ(error.category, ErrorCategory::source) << error.what();
        }
    }
}

TEST(OpenSource, PlaysWhatComesByHttp) {
    const ScratchFolder folder;
    std::ifstream clip(makeVideo(folder / "a.ts", 40), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(clip)), {});
    std::ofstream(folder / "answer", std::ios::binary)
        << "HTTP/1.0 200 OK\r\nContent-Length: " << bytes.size() << "\r\n\r\n"
        << bytes;
    const Server server(folder / "answer", false);
    const auto source = openAddress("http" + server.address().substr(3) + "/a.ts", {});
    EXPECT_EQ(source->info().size, (Size{96, 64}));
    EXPECT_TRUE(source->read({}));
}

TEST(OpenSource, SaysNoPasswordOfAnAddress) {
    try {
        (void)openSource(parseSource("tcp://me:secret@127.0.0.1:9"), {});
        ADD_FAILURE() << "something answered";
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace matte
