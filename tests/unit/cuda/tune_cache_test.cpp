// SPDX-License-Identifier: Apache-2.0
// The choice of the fastest kernel is remembered, and nothing that lies in the cache's place can do harm.
#include "inference/cuda/conv/tune_cache.h"

#include <cmath>
#include <cstdlib>
#include <fstream>

#include <sys/stat.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/files/scratch_folder.h"

namespace matte {
namespace {

const std::string kDevice = "NVIDIA H200, 9.0, driver 13.0, kernels 1f2e";
const std::string kProblem = "sm90 conv3x3 1x64x64 128->128";
const std::vector<std::string> kCandidates{"k64 64x256", "k64 64x128", "k64 64x64"};

class Tuning : public testing::Test {
protected:
    [[nodiscard]] std::filesystem::path file() const { return folder_ / "matte/kernels.json"; }
    [[nodiscard]] TuneCache cache(const std::string& device = kDevice) const { return {file(), device}; }
    void write(const std::string& text) const {
        std::filesystem::create_directories(file().parent_path());
        std::ofstream(file(), std::ios::binary) << text;
    }
    void rememberAndSave(const std::string& device, const std::string& problem, const std::string& candidate) const {
        TuneCache made = cache(device);
        made.remember(problem, candidate);
        made.save();
    }
    test::ScratchFolder folder_;
};

std::size_t fastestOf(const std::vector<double>& ms) {
    return fastest(ms.size(), [&](std::size_t i) { return ms[i]; });
}

TEST(Fastest, IsTheLeastTime) {
    EXPECT_EQ(fastestOf({3, 1, 2}), 1U);
    EXPECT_EQ(fastestOf({1}), 0U);
}

TEST(Fastest, KeepsTheFirstWhereTheDifferenceIsNoise) {
    EXPECT_EQ(fastestOf({1.0, 0.99, 0.985}), 0U);
    EXPECT_EQ(fastestOf({1.0, 0.99, 0.97}), 2U);
}

TEST(Fastest, PassesOverWhatCannotRun) {
    EXPECT_EQ(fastestOf({NAN, INFINITY, 5}), 2U);
    EXPECT_EQ(fastestOf({2, NAN, INFINITY}), 0U);
    EXPECT_EQ(fastestOf({NAN, INFINITY}), 0U);
}

TEST_F(Tuning, RemembersBetweenPrograms) {
    EXPECT_FALSE(cache().find(kProblem, kCandidates));
    rememberAndSave(kDevice, kProblem, kCandidates[2]);
    EXPECT_EQ(cache().find(kProblem, kCandidates), 2U);
}

TEST_F(Tuning, RemembersWithoutAFile) {
    TuneCache made("", kDevice);
    made.remember(kProblem, kCandidates[1]);
    made.save();
    EXPECT_EQ(made.find(kProblem, kCandidates), 1U);
}

TEST_F(Tuning, BelongsToOneDeviceDriverAndKernelVersion) {
    rememberAndSave(kDevice, kProblem, kCandidates[2]);
    EXPECT_FALSE(cache("NVIDIA H200, 9.0, driver 13.1, kernels 1f2e").find(kProblem, kCandidates));
    EXPECT_FALSE(cache("NVIDIA H200, 9.0, driver 13.0, kernels 9999").find(kProblem, kCandidates));
    EXPECT_FALSE(cache().find("sm90 conv3x3 1x64x65 128->128", kCandidates));
}

TEST_F(Tuning, IgnoresACandidateThatIsNotLegalAnyMore) {
    rememberAndSave(kDevice, kProblem, "k64 64x512");
    EXPECT_FALSE(cache().find(kProblem, kCandidates));
}

TEST_F(Tuning, ProgramsThatSaveInTurnLoseNothing) {
    TuneCache one = cache(), other = cache(), third = cache("another device");
    one.remember(kProblem, kCandidates[1]);
    other.remember("b", kCandidates[2]);
    third.remember(kProblem, kCandidates[0]);
    one.save();
    other.save();
    third.save();
    EXPECT_EQ(cache().find(kProblem, kCandidates), 1U);
    EXPECT_EQ(cache().find("b", kCandidates), 2U);
    EXPECT_EQ(cache("another device").find(kProblem, kCandidates), 0U);
    EXPECT_EQ(folder_.names().size(), 1U) << "something was left beside the file";
}

TEST_F(Tuning, ForgetsTheDeviceThatWasUsedLongestAgo) {
    for (int i = 0; i < 30; ++i) rememberAndSave("device " + std::to_string(i), kProblem, kCandidates[1]);
    EXPECT_FALSE(cache("device 0").find(kProblem, kCandidates));
    EXPECT_TRUE(cache("device 29").find(kProblem, kCandidates));
    EXPECT_LT(std::filesystem::file_size(file()), 10'000U);
}

TEST_F(Tuning, StaysSmallHoweverManySizesASessionSees) {
    TuneCache made = cache();
    for (int i = 0; i < 5000; ++i) made.remember("problem " + std::to_string(i), kCandidates[1]);
    made.save();
    EXPECT_LT(std::filesystem::file_size(file()), 100'000U);
    const TuneCache read = cache();
    int found = 0;
    for (int i = 0; i < 5000; ++i) found += read.find("problem " + std::to_string(i), kCandidates) ? 1 : 0;
    EXPECT_EQ(found, 1024);
}

/// Whatever lies in the file's place is ignored, and written over by the next save.
struct Hostile {
    const char* name;
    std::string (*text)();  // made only by the test itself: some are large
};
void PrintTo(const Hostile& hostile, std::ostream* out) {
    *out << hostile.name;
}
class HostileTuning : public Tuning, public testing::WithParamInterface<Hostile> {};

TEST_P(HostileTuning, IsIgnoredAndReplaced) {
    write(GetParam().text());
    EXPECT_FALSE(cache().find(kProblem, kCandidates));
    rememberAndSave(kDevice, kProblem, kCandidates[1]);
    EXPECT_EQ(cache().find(kProblem, kCandidates), 1U);
    std::ifstream in(file());
    EXPECT_EQ(nlohmann::json::parse(in)["format"], 1);
}

std::string repeated(const std::string& what, int count) {
    std::string all;
    all.reserve(what.size() * std::size_t(count));
    for (int i = 0; i < count; ++i) all += what;
    return all;
}

std::string holding(const std::string& mine) {
    return R"({"format":1,"devices":{")" + kDevice + R"(":)" + mine + "}}";
}

INSTANTIATE_TEST_SUITE_P(
    Files,
    HostileTuning,
    testing::Values(
        Hostile{"Empty", [] { return std::string(); }},
        Hostile{"Torn", [] { return holding(R"({"sm90 conv3x3 1x64x64 128->128":"k64 64x2)").substr(0, 90); }},
        Hostile{"Binary", [] { return std::string("\x89PNG\r\n\0\0\xff\xfe", 10); }},
        Hostile{"NotUtf8",
                [] {
                    return holding(R"({"sm90 conv3x3 1x64x64 128->128":")"
                                   "\xff\"}");
                }},
        Hostile{"AnotherFormat", [] { return std::string(R"({"format":2,"devices":{}})"); }},
        Hostile{"FormatOfAnotherType", [] { return std::string(R"({"format":[1],"devices":{}})"); }},
        Hostile{"DevicesOfAnotherType", [] { return std::string(R"({"format":1,"devices":[1,2]})"); }},
        Hostile{"MineOfAnotherType", [] { return holding("17"); }},
        Hostile{"ChoiceOfAnotherType", [] { return holding(R"({"sm90 conv3x3 1x64x64 128->128":{"a":1}})"); }},
        Hostile{"ChoiceThatIsAnIndex", [] { return holding(R"({"sm90 conv3x3 1x64x64 128->128":1})"); }},
        Hostile{"Deep", [] { return repeated("[", 400'000); }},
        Hostile{"DeepInside", [] { return holding(repeated(R"({"a":)", 50'000) + "1" + repeated("}", 50'000)); }},
        Hostile{"Huge", [] { return holding("{\"" + repeated("x", 2'000'000) + "\":\"\"}"); }}),
    [](const auto& made) { return made.param.name; });

TEST_F(Tuning, SurvivesAFolderAPipeAndALinkToNowhereInTheFilesPlace) {
    std::filesystem::create_directories(file());
    EXPECT_NO_THROW(rememberAndSave(kDevice, kProblem, kCandidates[1]));
    std::filesystem::remove_all(file());
    ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
    EXPECT_FALSE(cache().find(kProblem, kCandidates)) << "nobody writes into the pipe: must not wait for it";
    std::filesystem::remove_all(file());
    std::filesystem::create_symlink(folder_ / "nowhere/at/all", file());
    EXPECT_NO_THROW(rememberAndSave(kDevice, kProblem, kCandidates[1]));
}

TEST_F(Tuning, SurvivesAFolderThatCannotBeMade) {
    std::ofstream(folder_ / "plain") << "a file";
    TuneCache made(folder_ / "plain/matte/kernels.json", kDevice);
    made.remember(kProblem, kCandidates[1]);
    EXPECT_NO_THROW(made.save());
    EXPECT_EQ(made.find(kProblem, kCandidates), 1U);
}

/// The environment as it was comes back with the next test's own values: nothing else in this program reads it.
TEST(TuneCacheFile, LiesInTheUsersCacheFolder) {
    const char* before = std::getenv("XDG_CACHE_HOME");
    const std::string kept = before ? before : "";
    ::setenv("XDG_CACHE_HOME", "/somewhere", 1);
    EXPECT_EQ(TuneCache::userFile(), "/somewhere/matte/kernels.json");
    ::setenv("XDG_CACHE_HOME", "not/absolute", 1);
    ASSERT_TRUE(std::getenv("HOME"));
    EXPECT_EQ(TuneCache::userFile(), std::filesystem::path(std::getenv("HOME")) / ".cache/matte/kernels.json");
    before ? ::setenv("XDG_CACHE_HOME", kept.c_str(), 1) : ::unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace matte
