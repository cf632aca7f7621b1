// SPDX-License-Identifier: Apache-2.0
// The lab: its tables in three forms, and the command that prints them.
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "inference/baselines/lab/lab.h"
#include "inference/baselines/lab/lab_measure.h"
#include "inference/core/exit_code.h"
#include "inference/cuda/device/devices.h"
#include "tests/support/files/model_file.h"
#include "tests/support/files/scratch_folder.h"
#include "tests/support/running/program.h"

namespace matte::baselines {
namespace {

using Json = nlohmann::json;

const Table kTable{"speed",
                   "How fast",
                   {"Layer", "ms", "Of the limit"},
                   {{"3x64", number(0.25), percent(0.5)}, {"64x64", number(std::nullopt), Cell("see below")}},
                   {"No GPU."}};

TEST(LabTable, IsText) {
    EXPECT_EQ(asText(std::span(&kTable, 1)),
              "How fast\n"
              "Layer    ms  Of the limit\n"
              "3x64   0.25        50.0 %\n"
              "64x64     -     see below\n"
              "  No GPU.\n\n");
}

TEST(LabTable, IsMarkdown) {
    EXPECT_EQ(asMarkdown(std::span(&kTable, 1)),
              "### How fast\n\n"
              "| Layer |   ms | Of the limit |\n"
              "| ----- | ---: | -----------: |\n"
              "| 3x64  | 0.25 |       50.0 % |\n"
              "| 64x64 |    - |    see below |\n\n"
              "No GPU.\n\n");
}

TEST(LabTable, IsJson) {
    const Json json = Json::parse(asJson(std::span(&kTable, 1)));
    EXPECT_EQ(json[0]["name"], "speed");
    EXPECT_EQ(json[0]["rows"][0]["ms"], 0.25);
    EXPECT_EQ(json[0]["rows"][0]["Of the limit"], 0.5);
    EXPECT_TRUE(json[0]["rows"][1]["ms"].is_null());
    EXPECT_EQ(json[0]["rows"][1]["Of the limit"], "see below");
    EXPECT_EQ(json[0]["notes"][0], "No GPU.");
}

TEST(LabTable, WritesNumbersShortly) {
    EXPECT_EQ(number(0.0).text, "0");
    EXPECT_EQ(number(1.23456e-7).text, "1.23e-07");
    EXPECT_EQ(number(12345.6).text, "12346");
    EXPECT_EQ(number(std::numeric_limits<double>::quiet_NaN()).text, "-");
}

TEST(LabMeasure, TellsHowFarApartTwoOutputsAre) {
    const Difference d = difference(std::vector<float>{1, 2, 2}, std::vector<float>{1, 2, 3.5F});
    EXPECT_DOUBLE_EQ(d.mean, 0.5);
    EXPECT_DOUBLE_EQ(d.maximum, 1.5);
    EXPECT_DOUBLE_EQ(d.nmse, 0.25);
    EXPECT_TRUE(std::isnan(difference(std::vector<float>{1}, std::vector<float>{NAN}).maximum));
}

TEST(LabMeasure, DrawsTheSameNumbersEveryTime) {
    const auto values = uniform(100000, 3);
    EXPECT_EQ(values, uniform(100000, 3));
    EXPECT_NE(values, uniform(100000, 4));
    double sum = 0;
    for (const float value : values) {
        ASSERT_TRUE(value >= 0 && value < 1);
        sum += double(value) / 1e5;
    }
    EXPECT_NEAR(sum, 0.5, 0.01);
}

/// The table `name` of a lab command that must succeed.
Json lab(std::vector<std::string> words, const std::string& name) {
    words.insert(words.begin(), "lab");
    words.emplace_back("--json");
    const test::Outcome outcome = test::runCli(words);
    EXPECT_EQ(outcome.exitCode, 0) << outcome.err;
    for (const Json& table : Json::parse(outcome.out)) {
        if (table["name"] == name) return table;
    }
    ADD_FAILURE() << "no table " << name;
    return {};
}

TEST(LabCommand, ShowsTheCoursesFiguresBesideOurs) {
    const Json rows = lab({"stencil", "--device", "cpu"}, "stencil")["rows"];
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows[0]["Course ms"], 118);
    for (const Json& row : rows) {
        EXPECT_GT(row["Kernel ms"], 0);
        EXPECT_LE(row["Maximum"], 1e-5);
    }
}

TEST(LabCommand, HoldsTheNetworkAgainstPyTorch) {
    const std::string implementations = "cpu-parallel,cpu-im2col,cpu-onednn";
    const Json rows =
        lab({"network", "--dump", MATTE_TEST_DATA, "--implementations", implementations}, "blocks")["rows"];
    ASSERT_EQ(rows.size(), 6U * 3);  // down5, up1 to up4 and out
    EXPECT_EQ(rows[0]["Block"], "down5");
    EXPECT_EQ(rows[17]["Block"], "out");
    EXPECT_EQ(rows[17]["Course's maximum"], 0.011502);
    for (const Json& row : rows) EXPECT_LE(row["Maximum"], 1e-5) << row;
}

TEST(LabCommand, ComparesTheBlocksOfAnyNetwork) {
    const test::ScratchFolder folder;
    const auto model = folder / "mobile.safetensors";
    test::writeModel(model, test::randomMobileUNet(3));
    const Json rows = lab({"network", "--model", model.string(), "--size", "64", "--implementations", "cpu-im2col"},
                          "blocks")["rows"];
    std::vector<std::string> blocks;
    for (const Json& row : rows) {
        blocks.push_back(row["Block"]);
        EXPECT_LE(row["NMSE"], 1e-10) << row;
    }
    EXPECT_EQ(blocks, (std::vector<std::string>{"down5", "up1", "up2", "up3", "up4", "out"}));
}

TEST(LabCommand, SaysWhyAColumnIsEmpty) {
    const std::string why = queryCuda().unavailable;
    if (why.empty()) GTEST_SKIP() << "this machine has a GPU";
    const Json table = lab({"xnor", "--device", "gpu"}, "xnor");
    EXPECT_EQ(table["rows"][0]["Ours ms"], "see below");
    EXPECT_EQ(table["notes"][0], why);
}

TEST(LabCommand, RefusesWhatItDoesNotKnow) {
    for (const auto& [words, hint] : {std::pair{std::vector<std::string>{"lab", "speed"}, "stencil"},
                                      {{"lab", "xnor", "--implementations", "gpu-magic"}, "gpu-winograd"},
                                      {{"lab", "xnor", "--device", "tpu"}, "cpu or gpu"},
                                      {{"lab", "xnor", "--json", "--markdown"}, "use one"}}) {
        const test::Outcome outcome = test::runCli(words);
        EXPECT_EQ(outcome.exitCode, 2);
        EXPECT_NE(outcome.err.find(hint), std::string::npos) << outcome.err;
    }
}

TEST(LabCommand, KnowsModelsByName) {
    const test::Outcome outcome = test::runCli({"lab", "network", "--model", "landscape"});
    EXPECT_EQ(outcome.exitCode, kExitModel);
    EXPECT_NE(outcome.err.find("no model named landscape"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace matte::baselines
