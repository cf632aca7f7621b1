// SPDX-License-Identifier: Apache-2.0
// matte-cli bench: what it prints and writes, on a small network on the CPU.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

#include "inference/core/exit_code.h"
#include "inference/tools/bench/bench.h"
#include "tests/support/files/model_file.h"
#include "tests/support/files/scratch_folder.h"
#include "tests/support/running/program.h"

namespace matte {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Outcome;
using test::runCli;
using Words = std::vector<std::string>;

class Bench : public testing::Test {
protected:
    [[nodiscard]] std::string file() const { return (folder_ / "bench.json").string(); }
    [[nodiscard]] static Outcome bench(Words words) {
        words.insert(words.begin(), {"bench", "--base", "4", "--levels", "3", "--frame", "64x48", "--frames", "4"});
        return runCli(words);
    }
    test::ScratchFolder folder_;
};

TEST_F(Bench, MeasuresNetworkLayersAndFrames) {
    const Outcome outcome =
        bench({"--engine", "cpu", "--precision", "fp32", "--size", "64x32", "--layers", "--json", file()});
    ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
    for (const char* part :
         {"random, base 4, 3 levels at 64x32", "down1.conv1", "up2.conv2", "frames a second", "limit"}) {
        EXPECT_NE(outcome.out.find(part), std::string::npos) << part << " is not in\n" << outcome.out;
    }
    std::ifstream in(file());
    const json found = json::parse(in);
    EXPECT_EQ(found["version"], MATTE_VERSION);
    EXPECT_TRUE(found["commit"].is_string());
    const json& network = found["network"];
    EXPECT_EQ(network["input"], json::parse("[64, 32]"));
    EXPECT_EQ(network["runs"], 4);
    double gflop = 0, ms = 0;
    for (const json& layer : network["layers"]) {
        gflop += layer["gflop"].get<double>();
        ms += layer["ms"]["median"].get<double>();
        EXPECT_GT(layer["bytes"], 0);
        // Null where layers this small, in the processor's cache, were faster than memory can be.
        const json& share = layer.at("shareOfLimit");
        EXPECT_TRUE(share.is_null() || (share > 0 && share <= 1)) << layer.dump();
    }
    EXPECT_NEAR(gflop, network["gflop"].get<double>(), 1e-6 * gflop);
    EXPECT_GT(ms, 0);
    EXPECT_LE(network["ms"]["p10"], network["ms"]["median"]);
    EXPECT_LE(network["ms"]["median"], network["ms"]["p90"]);
    EXPECT_EQ(found["frame"]["frames"], 4);
    EXPECT_GT(found["frame"]["framesPerSecond"], 0);
    EXPECT_TRUE(found["frame"]["stages"].contains("network"));
}

TEST_F(Bench, TellsWhatTheOverlayCosts) {
    const Outcome outcome = bench({"--engine", "cpu", "--overlay-cost", "--json", file()});
    ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
    for (const char* part : {"overlay off", "overlay on", "growth", "3 pairs of turns of 16"}) {
        EXPECT_NE(outcome.out.find(part), std::string::npos) << part << " is not in\n" << outcome.out;
    }
    std::ifstream in(file());
    const json overlay = json::parse(in)["overlay"];
    EXPECT_GT(overlay["offMs"]["median"], 0);
    EXPECT_GT(overlay["onMs"]["median"], 0);
    EXPECT_TRUE(overlay["growthPercent"].is_number());
}

TEST_F(Bench, TakesTheCpuWhereThereIsNoGpuAndSaysWhy) {
    const std::map<std::string, std::string> hidden{{"CUDA_VISIBLE_DEVICES", "-1"}};
    const Words words{"bench", "--base", "4", "--levels", "3", "--frame", "64x48", "--frames", "3", "--json", file()};
    const Outcome outcome = runCli(words, hidden);
    ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
    std::ifstream in(file());
    const json found = json::parse(in);
    EXPECT_EQ(found["network"]["runsOn"].get<std::string>().rfind("CPU", 0), 0U);
    EXPECT_NE(found["frame"]["reason"], "");
    EXPECT_EQ(found["cuda"]["unavailable"], found["frame"]["reason"]);
}

TEST_F(Bench, KnowsTheModelsThatComeWithTheProgramByName) {
    const Outcome known =
        runCli({"bench", "--engine", "cpu", "--model", "portrait-lite", "--frame", "64x64", "--frames", "1"});
    EXPECT_EQ(known.exitCode, kExitOk) << known.err;
    EXPECT_NE(known.out.find("portrait-lite.safetensors"), std::string::npos) << known.out;
    const Outcome unknown = runCli({"bench", "--model", "landscape"});
    EXPECT_EQ(unknown.exitCode, kExitModel) << unknown.err;
    EXPECT_NE(unknown.err.find("no model named landscape"), std::string::npos) << unknown.err;
}

TEST_F(Bench, AFolderNamedLikeAModelDoesNotHideIt) {
    const fs::path before = fs::current_path();
    fs::create_directories(folder_ / "portrait-lite");
    fs::current_path(folder_.path());
    const Outcome outcome =
        runCli({"bench", "--engine", "cpu", "--model", "portrait-lite", "--frame", "64x64", "--frames", "1"});
    fs::current_path(before);
    EXPECT_EQ(outcome.exitCode, kExitOk) << outcome.err;
}

TEST_F(Bench, RefusesWhatMakesNoSense) {
    struct Wrong {
        Words words;
        int exitCode;
        const char* part;
    };
    for (const Wrong& wrong :
         {Wrong{{"--size", "64"}, kExitUsage, "WIDTHxHEIGHT"}, Wrong{{"--size", "65x64"}, kExitUsage, "multiples of 4"},
          Wrong{{"--size", "0x64"}, kExitUsage, "WIDTHxHEIGHT"},
          Wrong{{"--size", "64x64x3"}, kExitUsage, "WIDTHxHEIGHT"},
          Wrong{{"--size", "99999x99999"}, kExitUsage, "WIDTHxHEIGHT"},
          Wrong{{"--frames", "0"}, kExitUsage, "--frames"}, Wrong{{"--model", "x.safetensors"}, kExitUsage, "--model"},
          Wrong{{"--engine", "cpu", "--json", "/nowhere/at/all.json"}, kExitOutput, "nowhere"}}) {
        const Outcome outcome = bench(wrong.words);
        EXPECT_EQ(outcome.exitCode, wrong.exitCode) << wrong.words.back() << outcome.err;
        EXPECT_NE(outcome.err.find(wrong.part), std::string::npos) << outcome.err;
    }
}

TEST_F(Bench, NeverOverwritesTheModelThatItMeasures) {
    const std::string model = (folder_ / "model.safetensors").string();
    test::writeModel(model, test::randomUNet({4, 8, 16}, 1));
    const auto before = fs::file_size(model);
    fs::create_symlink("model.safetensors", folder_ / "link.json");
    for (const std::string& out : {model, (folder_ / "link.json").string()}) {
        const Outcome outcome =
            runCli({"bench", "--engine", "cpu", "--model", model, "--json", out, "--frame", "64x64"});
        EXPECT_EQ(outcome.exitCode, kExitUsage);
        EXPECT_NE(outcome.err.find("would replace a file that is read"), std::string::npos) << outcome.err;
    }
    EXPECT_EQ(fs::file_size(model), before);
}

}  // namespace
}  // namespace matte
