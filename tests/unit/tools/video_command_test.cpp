// SPDX-License-Identifier: Apache-2.0
// matte-cli video as its users meet it: what it prints, returns and leaves on disk.
#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "inference/media/video/video_reader.h"
#include "tests/support/files/model_file.h"
#include "tests/support/files/picture_file.h"
#include "tests/support/files/scratch_folder.h"
#include "tests/support/files/video_file.h"
#include "tests/support/running/program.h"

namespace matte {
namespace {

namespace fs = std::filesystem;
using test::Outcome;

class VideoCommand : public testing::Test {
protected:
    VideoCommand() {
        test::writeModel(at("tiny.safetensors"), test::randomUNet({4, 8, 16}, 1));
        test::writeVideo(at("in.mp4"), 6, 25);
    }
    [[nodiscard]] std::string at(const std::string& name) const { return (folder_ / name).string(); }
    /// With the small model on 64 pixels.
    [[nodiscard]] Outcome video(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), "video");
        arguments.insert(arguments.end(), {"--model", at("tiny.safetensors"), "--engine", "cpu", "--size", "64"});
        return test::runCli(arguments);
    }
    static void expectRefused(const Outcome& outcome, int exitCode, const std::string& part) {
        EXPECT_EQ(outcome.exitCode, exitCode) << outcome.err;
        EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    }

    test::ScratchFolder folder_;
};

TEST_F(VideoCommand, PutsAnotherBackgroundBehindAVideo) {
    // Nobody is found: the colour alone is left.
    const Outcome outcome = video(
        {at("in.mp4"), "-o", at("out.mp4"), "--background", "color:#c8283c", "--threshold", "1", "--softness", "0"});
    EXPECT_EQ(outcome.exitCode, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_NE(outcome.out.find(at("in.mp4") + " -> " + at("out.mp4")), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("96x64, h264, 6 frames of 0.2 s"), std::string::npos) << outcome.out;
    const auto reader = VideoReader::open(at("out.mp4"), false, {});
    ASSERT_TRUE(reader);
    Image image({96, 64}, PixelFormat::bgr8);
    for (int frame = 0; frame < 6; ++frame) {
        ASSERT_TRUE(reader->grab() && reader->retrieve(image));
        EXPECT_NEAR(image.row(20)[3 * 20], 0x3C, 6);
        EXPECT_NEAR(image.row(20)[3 * 20 + 2], 0xC8, 6);
    }
    EXPECT_FALSE(reader->grab());
}

TEST_F(VideoCommand, PrintsJson) {
    const Outcome outcome = video({at("in.mp4"), "-o", at("out.webm"), "--background", "transparent", "--json"});
    EXPECT_EQ(outcome.exitCode, 0) << outcome.err;
    const auto said = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(said["codec"], "vp9");
    EXPECT_EQ(said["frames"], 6);
    EXPECT_EQ(said["width"], 96);
    EXPECT_EQ(said["output"], at("out.webm"));
    EXPECT_EQ(said["problem"], "");
    EXPECT_EQ(said["lost"]["frames"], 0);
    EXPECT_EQ(video({at("in.mp4"), "-o", at("out.mp4"), "--quiet"}).out, "");
}

TEST_F(VideoCommand, SaysWhatIsMissingInTheResultAndReturnsThree) {
    const auto whole = test::readBytes(test::withSound(test::writeVideo(at("silent.mp4"), 40), at("whole.mov")));
    test::writeBytes(at("cut.mov"), std::span(whole).first(whole.size() * 78 / 100));
    const Outcome outcome = video({at("cut.mov"), "-o", at("out.mov"), "--json"});
    expectRefused(outcome, 3, ": the file ends early. The result has the others.");
    const auto said = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(said["lost"]["frames"].get<int>() + said["frames"].get<int>(), 40);
    EXPECT_EQ(said["lost"]["ofFrames"], 40);
    EXPECT_EQ(said["lost"]["endsEarly"], true);
    EXPECT_GT(said["lost"]["soundPackets"], 0);
    EXPECT_EQ("matte-cli: " + said["problem"].get<std::string>() + "\n", outcome.err);
    EXPECT_TRUE(fs::exists(at("out.mov")));
}

TEST_F(VideoCommand, SaysWhatIsWrong) {
    expectRefused(video({at("none.mp4"), "-o", at("out.mp4")}), 3, "There is no file");
    expectRefused(video({at("tiny.safetensors"), "-o", at("out.mp4")}), 3, "is no video that can be read");
    expectRefused(video({at("in.mp4"), "-o", at("out.gif")}), 7, "use mp4, mov, mkv or webm");
    expectRefused(video({at("in.mp4"), "-o", at("out.mp4"), "--background", "transparent"}), 7, "use webm or mov");
    expectRefused(video({at("in.mp4"), "-o", at("in.mp4")}), 2, "would replace a file that is read");
    expectRefused(video({at("in.mp4"), "-o", at("out.mp4"), "--background", "sea"}), 2, "sea");
    expectRefused(video({at("in.mp4"), "-o", at("out.mp4"), "--threshold", "nan"}), 2, "--threshold");
    expectRefused(video({at("in.mp4"), "-o", at("out.mp4"), "--temporal-smoothing", "nan"}), 2, "--temporal-smoothing");
    expectRefused(video({at("in.mp4"), "-o", at("out.mp4"), "--position", "nan"}), 2, "--position");
    expectRefused(video({at("in.mp4")}), 2, "--output is required");
    EXPECT_FALSE(fs::exists(at("out.mp4")));
}

TEST_F(VideoCommand, NeverWritesOverAFileThatItReads) {
    test::writeBytes(at("sea.png"), test::encode(test::sixAreas({40, 30}), ".png"));
    for (const char* name : {"tiny.safetensors", "in.mp4", "sea.png"}) {
        fs::create_symlink(name, at("link.mp4"));
        fs::create_hard_link(at(name), at("twin.mp4"));
        const auto before = test::readBytes(at(name));
        for (const std::string& out : {at("link.mp4"), at("twin.mp4")}) {
            expectRefused(video({at("in.mp4"), "-o", out, "--background", "image:" + at("sea.png")}), 2,
                          "would replace a file that is read");
        }
        EXPECT_EQ(test::readBytes(at(name)), before);
        fs::remove(at("link.mp4"));
        fs::remove(at("twin.mp4"));
    }
}

}  // namespace
}  // namespace matte
