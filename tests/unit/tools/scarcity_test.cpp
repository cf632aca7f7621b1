// SPDX-License-Identifier: Apache-2.0
// matte-cli where memory, threads or disk are short: it ends with a documented code and a sentence, never by a signal,
// and what it leaves is whole.
#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>

#include "inference/core/exit_code.h"
#include "tests/support/files/model_file.h"
#include "tests/support/files/picture_file.h"
#include "tests/support/files/scratch_folder.h"
#include "tests/support/files/video_file.h"
#include "tests/support/running/program.h"

namespace matte {
namespace {

namespace fs = std::filesystem;
using test::Outcome;
using Names = std::vector<std::string>;

class Scarcity : public testing::Test {
protected:
    Scarcity() {
        test::writeModel(at("tiny.safetensors"), test::randomUNet({4, 8, 16}, 1));
        test::writeBytes(at("in.png"), test::encode(test::sixAreas({40, 30}), ".png"));
    }

    [[nodiscard]] std::string at(const std::string& name) const { return (folder_ / name).string(); }
    [[nodiscard]] Names image() const {
        return {"image",    at("in.png"), "-o",     at("out.png"), "--model", at("tiny.safetensors"),
                "--engine", "cpu",        "--size", "64",          "--quiet"};
    }
    /// Below one of the shell's limits.
    [[nodiscard]] static Outcome limited(const std::string& limit, Names arguments) {
        arguments.insert(arguments.begin(), {"/bin/sh", "-c", "ulimit " + limit + "; exec \"$0\" \"$@\"", MATTE_CLI});
        return test::Program(arguments).wait();
    }
    static void expectSentence(const Outcome& outcome, const std::string& what) {
        EXPECT_EQ(outcome.signal, 0) << what << ": " << outcome.err;
        EXPECT_GE(outcome.exitCode, int(kExitOk)) << what << ": " << outcome.err;
        EXPECT_LE(outcome.exitCode, int(kExitOutput)) << what << ": " << outcome.err;
        const bool said = outcome.err.starts_with("matte-cli: ") || outcome.err.starts_with("\nlibgomp: ");
        EXPECT_TRUE(outcome.exitCode == 0 || said) << what << ": " << outcome.err;
    }

    test::ScratchFolder folder_;
};

#ifdef MATTE_FAIL_ALLOCATION
TEST_F(Scarcity, AnAllocationThatFailsIsAnErrorAndNoSignal) {
    const Outcome whole = test::runCli(image(), {{"LD_PRELOAD", MATTE_FAIL_ALLOCATION}, {"FAIL_COUNT", at("count")}});
    ASSERT_EQ(whole.exitCode, 0) << whole.err;
    const auto expected = test::readBytes(at("out.png"));
    long count = 0;
    std::ifstream(at("count")) >> count;
    ASSERT_GT(count, 100);
    constexpr long kTries = 24;
    for (long i = 0; i < kTries; ++i) {
        // Close together at first, where little has been made yet.
        const long number = 1 + count * i * i / (kTries * kTries);
        for (const bool goesOn : {false, true}) {
            fs::remove(at("out.png"));
            std::map<std::string, std::string> environment{{"LD_PRELOAD", MATTE_FAIL_ALLOCATION},
                                                           {"FAIL_AT", std::to_string(number)}};
            if (goesOn) environment["FAIL_ON"] = "1";
            const Outcome outcome = test::runCli(image(), environment);
            const std::string what = "allocation " + std::to_string(number) + (goesOn ? " and on" : "");
            expectSentence(outcome, what);
            const bool isThere = fs::exists(at("out.png"));
            EXPECT_TRUE(isThere || outcome.exitCode != 0) << what;
            if (isThere) {
                EXPECT_EQ(test::readBytes(at("out.png")), expected) << what;
            }
        }
    }
    for (const auto& name : folder_.names()) EXPECT_EQ(name.find(".part"), std::string::npos) << name;
}

TEST_F(Scarcity, SoIsAThreadThatCannotBeMade) {
    // In KiB. Below what suffices to start, the system's loader or a library says so.
    const auto starts = [](long limit) { return limited("-v " + std::to_string(limit), {"--version"}).exitCode == 0; };
    long limit = 100'000;
    while (!starts(limit)) limit += limit / 8;
    for (const long most = limit * 4; limit < most; limit += limit / 6) {
        expectSentence(limited("-v " + std::to_string(limit), image()), std::to_string(limit) + " KiB");
    }
}
#endif

TEST_F(Scarcity, AFileThatMayNotGrowIsNotWritten) {
    test::writeBytes(at("in.png"), test::encode(test::sixAreas({400, 300}), ".png"));
    Names toBmp = image();
    toBmp[3] = at("out.bmp");
    for (const Names& arguments :
         {toBmp, Names{"video", test::writeVideo(folder_ / "in.mp4", 12).string(), "-o", at("out.mov"), "--background",
                       "transparent", "--model", at("tiny.safetensors"), "--engine", "cpu", "--quiet"}}) {
        const Outcome outcome = limited("-f 4", arguments);
        EXPECT_EQ(outcome.signal, 0);
        EXPECT_EQ(outcome.exitCode, int(kExitOutput)) << outcome.err;
        EXPECT_NE(outcome.err.find("can't be written (File too large)"), std::string::npos) << outcome.err;
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    }
    EXPECT_EQ(folder_.names(), (Names{"in.mp4", "in.png", "tiny.safetensors"}));
}

}  // namespace
}  // namespace matte
