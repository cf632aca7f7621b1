// SPDX-License-Identifier: Apache-2.0
// A video behind the person: it plays over and over by the clock, and says why when it can't.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <future>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "inference/pipeline/looping_video.h"
#include "tests/support/files/model_file.h"
#include "tests/support/files/scratch_folder.h"
#include "tests/support/files/video_file.h"
#include "tests/support/running/eventually.h"

namespace matte {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::eventually;
using test::ScratchFolder;
using test::videoFrameIn;
using test::writeVideo;

/// What is shown until `count` times another frame was, in order.
std::vector<int> watch(const LoopingVideo& video, std::size_t count) {
    std::vector<int> shown;
    std::shared_ptr<const Image> last;
    EXPECT_TRUE(eventually([&] {
        const auto newest = video.newest();
        if (newest && newest != last) shown.push_back(videoFrameIn(*newest));
        last = newest;
        return shown.size() == count;
    }));
    return shown;
}

TEST(LoopingVideo, PlaysOverAndOverInOrder) {
    const ScratchFolder folder;
    for (const char* name : {"a.mp4", "a.avi"}) {
        const std::string path = writeVideo(folder / name, 5, 25).string();
        const auto begin = std::chrono::steady_clock::now();
        const LoopingVideo video(path);
        const std::vector<int> shown = watch(video, 16);
        EXPECT_GE(std::chrono::steady_clock::now() - begin, 14 * 40ms) << "frames come no earlier than they are due";
        int passes = 0;
        for (std::size_t i = 1; i < shown.size(); ++i) {
            EXPECT_NE(shown[i], shown[i - 1]) << name << ", frame " << i;
            passes += shown[i] < shown[i - 1];
        }
        EXPECT_GE(passes, 2) << name;
        EXPECT_EQ(video.problem(), "") << name;
    }
}

/// A source that is paced gives no frame before it is due.
TEST(LoopingVideo, PlaysNoFasterThanItsRate) {
    const ScratchFolder folder;
    std::atomic<int> opened = 0, paced = 0;
    const LoopingVideo video(writeVideo(folder / "a.avi", 3, 1.0 / 60).string(), PixelMemory{},
                             [&](const fs::path& path, const CaptureSettings& settings) {
                                 ++opened;
                                 if (settings.paced && settings.repeat) ++paced;
                                 return openVideo(path, settings);
                             });
    ASSERT_TRUE(eventually([&] { return video.newest() != nullptr; }));
    EXPECT_EQ(videoFrameIn(*video.newest()), 0) << "the next is due in a minute";
    EXPECT_EQ(opened, 1);
    EXPECT_EQ(paced, 1);
}

TEST(LoopingVideo, AStreamIsBegunAgainToo) {
    const ScratchFolder folder;
    const LoopingVideo video(writeVideo(folder / "a.ts", 20, 50).string());
    const std::vector<int> shown = watch(video, 50);
    EXPECT_FALSE(std::ranges::is_sorted(shown));
    EXPECT_EQ(video.problem(), "");
}

TEST(LoopingVideo, FramesThatNobodyTakesAreReplaced) {
    const ScratchFolder folder;
    const LoopingVideo video(writeVideo(folder / "a.mp4", 20, 50).string());
    ASSERT_TRUE(eventually([&] { return video.newest() != nullptr; }));
    const auto held = video.newest();
    const int first = videoFrameIn(*held);
    EXPECT_TRUE(eventually([&] { return std::abs(videoFrameIn(*video.newest()) - first) > 3; }))
        << "it waits for its reader";
    EXPECT_EQ(videoFrameIn(*held), first) << "a frame that is looked at was written over";
}

TEST(LoopingVideo, UsesItsPicturesAgain) {
    const ScratchFolder folder;
    const LoopingVideo video(writeVideo(folder / "a.mp4", 20, 100).string());
    std::set<const std::uint8_t*> places;
    std::shared_ptr<const Image> last, before;
    for (int frames = 0; frames < 60;) {
        ASSERT_TRUE(eventually([&] { return video.newest() && video.newest() != last; }));
        before = std::exchange(last, video.newest());  // as an engine with two frames under way
        places.insert(last->row(0));
        ++frames;
    }
    EXPECT_LE(places.size(), 8U);
}

TEST(LoopingVideo, KeepsItsFramesWhereItIsTold) {
    static int taken;
    taken = 0;
    const PixelMemory memory{[](std::size_t bytes) {
                                 ++taken;
                                 return new std::uint8_t[bytes];
                             },
                             [](std::uint8_t* pixels) { delete[] pixels; }};
    const ScratchFolder folder;
    {
        const LoopingVideo video(writeVideo(folder / "a.mp4").string(), memory);
        ASSERT_TRUE(eventually([&] { return video.newest() != nullptr; }));
    }
    EXPECT_GE(taken, 1);
    EXPECT_LE(taken, 8);
}

TEST(LoopingVideo, EndsBetweenTwoFrames) {
    const ScratchFolder folder;
    LoopingVideo video(writeVideo(folder / "a.avi", 3, 1.0 / 60).string());  // the next frame is due in a minute
    ASSERT_TRUE(eventually([&] { return video.newest() != nullptr; }));
    auto ended = std::async(std::launch::async, [&] { video.end(); });
    EXPECT_EQ(ended.wait_for(20s), std::future_status::ready) << "the end waits for the next frame";
    ended.wait();
    EXPECT_TRUE(video.hasEnded());
    EXPECT_EQ(video.newest(), nullptr);
}

// As one on a disk on a network that does not answer.
TEST(LoopingVideo, ItsEndDoesNotWaitForAFileThatHangsInOpening) {
    struct Network {
        std::promise<void> asked, answer;
    };
    const auto network = std::make_shared<Network>();
    const ScratchFolder folder;
    auto video = std::make_unique<LoopingVideo>(writeVideo(folder / "a.mp4").string(), PixelMemory{},
                                                [network](const fs::path& path, const CaptureSettings& settings) {
                                                    network->asked.set_value();
                                                    network->answer.get_future().wait();
                                                    return openVideo(path, settings);
                                                });
    network->asked.get_future().wait();
    const auto ended = std::async(std::launch::async, [&] { video.reset(); });
    EXPECT_EQ(ended.wait_for(20s), std::future_status::ready) << "the end waits for the opening";
    network->answer.set_value();
    ended.wait();
    EXPECT_TRUE(eventually([&] { return network.use_count() == 1; })) << "the thread that opens was left for ever";
}

TEST(LoopingVideo, AVideoThatBreaksOffSaysSoAndPlaysOn) {
    const ScratchFolder folder;
    const fs::path path = writeVideo(folder / "cut.avi", 100, 100);
    fs::resize_file(path, fs::file_size(path) / 2);
    const LoopingVideo video(path.string());
    ASSERT_TRUE(eventually([&] { return !video.problem().empty(); }));
    EXPECT_NE(video.problem().find("the file ends early"), std::string::npos) << video.problem();
    EXPECT_NE(video.problem().find("cut.avi"), std::string::npos) << video.problem();
    ASSERT_NE(video.newest(), nullptr);
    EXPECT_GE(videoFrameIn(*video.newest()), 0);
    const auto shown = video.newest();
    EXPECT_TRUE(eventually([&] { return video.newest() != shown; })) << "it stands still";
}

TEST(LoopingVideo, AVideoThatChangesItsSizeSaysSoAndNeverShowsAnother) {
    const ScratchFolder folder;
    std::vector<std::uint8_t> both = test::readBytes(writeVideo(folder / "a.ts", 20, 50));
    const auto other = test::readBytes(writeVideo(folder / "b.ts", 20, 50, {64, 96}));
    both.insert(both.end(), other.begin(), other.end());
    test::writeBytes(folder / "both.ts", both);
    const LoopingVideo video((folder / "both.ts").string());
    ASSERT_TRUE(eventually([&] { return video.newest() != nullptr; }));
    EXPECT_TRUE(eventually([&] {
        EXPECT_EQ(video.newest()->size(), (Size{96, 64}));
        return !video.problem().empty();
    }));
    EXPECT_EQ(video.problem(), "The video both.ts changes its size on the way: convert it first.");
}

TEST(LoopingVideo, SaysWhatNeverWasAVideo) {
    const ScratchFolder folder;
    test::writeBytes(folder / "empty.mp4", {});
    std::ofstream(folder / "text.mp4") << "no video";
    for (const char* name : {"none.mp4", "empty.mp4", "text.mp4"}) {
        const LoopingVideo video((folder / name).string());
        ASSERT_TRUE(eventually([&] { return !video.problem().empty(); })) << name;
        EXPECT_NE(video.problem().find(name), std::string::npos) << video.problem();
        EXPECT_EQ(video.newest(), nullptr);
    }
}

TEST(LoopingVideo, AFileThatIsDeletedPlaysOn) {
    const ScratchFolder folder;
    const fs::path path = writeVideo(folder / "a.mp4", 5, 50);
    const LoopingVideo video(path.string());
    ASSERT_TRUE(eventually([&] { return video.newest() != nullptr; }));
    fs::remove(path);
    (void)watch(video, 12);
    EXPECT_EQ(video.problem(), "");
}

TEST(LoopingVideo, ASinglePictureStays) {
    const ScratchFolder folder;
    const LoopingVideo video(writeVideo(folder / "a.avi", 1).string());
    ASSERT_TRUE(eventually([&] { return video.newest() != nullptr; }));
    EXPECT_EQ(videoFrameIn(*video.newest()), 0);
    EXPECT_EQ(video.problem(), "");
}

}  // namespace
}  // namespace matte
