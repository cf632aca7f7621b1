// SPDX-License-Identifier: Apache-2.0
// matte-cli evaluate on made-up portraits, end to end.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "inference/media/image/image_file.h"
#include "inference/tools/evaluate/matte_metrics.h"
#include "inference/tools/evaluate/matte_pairs.h"
#include "tests/support/files/model_file.h"
#include "tests/support/files/scratch_folder.h"
#include "tests/support/pictures/scene.h"
#include "tests/support/running/program.h"

namespace matte {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Outcome;
using test::runCli;

/// A folder with a small model and portraits whose mattes are known.
class EvaluateCommand : public testing::Test {
protected:
    EvaluateCommand() {
        fs::create_directories(folder_ / "models");
        test::writeModel(model(), test::randomUNet({4, 8, 16}, 1));
    }
    [[nodiscard]] std::string at(const std::string& name) const { return (folder_ / name).string(); }
    [[nodiscard]] std::string model() const { return at("models/small.safetensors"); }

    /// A portrait as NAME.jpg or NAME.png with its matte.
    void portrait(const std::string& photo, const std::string& matte, Size size) const {
        fs::create_directories(fs::path(at(photo)).parent_path());
        const test::Scene scene = test::makeScene(size);
        Image grey(size, PixelFormat::gray8);
        for (std::size_t i = 0; i < size.pixels(); ++i)
            grey.row(0)[i] = std::uint8_t(scene.alpha.values[i] * 255 + 0.5F);
        writeImage(at(photo), scene.photo.view());
        writeImage(at(matte), grey.view());
    }
    [[nodiscard]] Outcome evaluate(std::vector<std::string> words) const {
        words.insert(words.begin(), "evaluate");
        words.insert(words.end(), {"--model", model(), "--engine", "cpu"});
        return runCli(words);
    }

    test::ScratchFolder folder_;
};

TEST_F(EvaluateCommand, ScoresWhatTheImageCommandWrites) {
    portrait("set/a/one.png", "set/a/one-matte.png", {64, 48});
    portrait("set/b/two.jpg", "set/b/two.png", {48, 64});
    const Outcome outcome = evaluate({at("set"), "--size", "32,64", "--json"});
    ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
    const json report = json::parse(outcome.out);
    ASSERT_EQ(report["sizes"].size(), 2U);
    EXPECT_EQ(report["sizes"][0]["size"], 32);
    const json& at64 = report["sizes"][1];
    ASSERT_EQ(at64["photos"].size(), 2U);

    double sum = 0;
    for (const auto& [photo, truth] :
         {std::pair{"set/a/one.png", "set/a/one-matte.png"}, {"set/b/two.jpg", "set/b/two.png"}}) {
        ASSERT_EQ(runCli({"image", at(photo), "-o", at("found.png"), "--matte-only", "--model", model(), "--engine",
                          "cpu", "--size", "64", "--quiet"})
                      .exitCode,
                  0);
        const Size size = readImage(at(photo))->size();
        const MatteScores scores = scoreMatte(readMatte(at("found.png"), size), readMatte(at(truth), size));
        sum += scores.meanIou;
        const std::string path = at(photo);
        const auto entry = std::ranges::find_if(at64["photos"], [&](const json& one) { return one["photo"] == path; });
        ASSERT_NE(entry, at64["photos"].end());
        EXPECT_NEAR((*entry)["meanIou"].get<double>(), scores.meanIou, 1e-9) << photo;
        EXPECT_NEAR((*entry)["mad"].get<double>(), scores.mad, 1e-9) << photo;
        EXPECT_NEAR((*entry)["connectivity"].get<double>(), scores.connectivity, 1e-9) << photo;
        ASSERT_TRUE(scores.band) << "the hair is soft";
        EXPECT_NEAR((*entry)["band"]["sad"].get<double>(), scores.band->sad, 1e-9) << photo;
        EXPECT_NEAR((*entry)["band"]["hairGradient"].get<double>(), scores.band->hairGradient, 1e-9) << photo;
        EXPECT_GT(scores.mad, 0.01);  // random weights are not right by chance
    }
    EXPECT_NEAR(at64["all"]["meanIou"].get<double>(), sum / 2, 1e-9);
    EXPECT_EQ(at64["folders"]["a"]["photos"], 1);
    EXPECT_EQ(at64["all"]["band"]["photos"], 2);
    EXPECT_LE(at64["all"]["worstTenth"].get<double>(), at64["all"]["meanIou"].get<double>());

    const Outcome table = evaluate({at("set"), "--size", "32,64", "--quiet"});
    EXPECT_NE(table.out.find("mIoU"), std::string::npos) << table.out;
    EXPECT_NE(table.out.find("SAD"), std::string::npos) << table.out;
    EXPECT_EQ(std::count(table.out.begin(), table.out.end(), '\n'), 2 * (2 + 2 * 3)) << table.out;
}

TEST_F(EvaluateCommand, ScoresTheBandsOfHardMattesWhenAskedTo) {
    Image hard({64, 64}, PixelFormat::gray8);
    for (int y = 0; y < 64; ++y) {
        for (int x = 0; x < 64; ++x) hard.row(y)[x] = x < 32 ? 0 : 255;
    }
    hard.row(40)[31] = 128;  // its only soft pixel
    fs::create_directories(folder_ / "set");
    writeImage(at("set/one.png"), test::makeScene({64, 64}).photo.view());
    writeImage(at("set/one-matte.png"), hard.view());
    const Outcome table = evaluate({at("set"), "--size", "32"});
    EXPECT_EQ(table.out.find("SAD"), std::string::npos) << table.out;
    const Outcome without = evaluate({at("set"), "--size", "32", "--json"});
    EXPECT_TRUE(json::parse(without.out)["sizes"][0]["all"]["band"].is_null()) << without.out;
    const Outcome with = evaluate({at("set"), "--size", "32", "--json", "--unknown-band"});
    EXPECT_EQ(json::parse(with.out)["sizes"][0]["all"]["band"]["photos"], 1) << with.out;
}

TEST_F(EvaluateCommand, ScoresAnotherEdgeWhenAskedTo) {
    portrait("set/one.png", "set/one-matte.png", {64, 48});
    const std::vector<std::string> edge{"--threshold", "0.4", "--softness", "0.3"};
    auto evaluated = edge, written = edge;
    evaluated.insert(evaluated.begin(), {at("set"), "--size", "64", "--json"});
    written.insert(written.begin(), {"image", at("set/one.png"), "-o", at("found.png"), "--matte-only", "--model",
                                     model(), "--engine", "cpu", "--size", "64"});
    const Outcome outcome = evaluate(evaluated);
    ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
    ASSERT_EQ(runCli(written).exitCode, 0);
    const MatteScores scores =
        scoreMatte(readMatte(at("found.png"), {64, 48}), readMatte(at("set/one-matte.png"), {64, 48}));
    const json report = json::parse(outcome.out);
    EXPECT_NEAR(report["sizes"][0]["all"]["mad"].get<double>(), scores.mad, 1e-9);
    EXPECT_EQ(evaluate({at("set"), "--softness", "1.5"}).exitCode, 2);
}

TEST_F(EvaluateCommand, ScoresSequencesAsLivePictures) {
    for (const char* frame : {"1", "2", "3"})
        portrait(std::string("seq/") + frame + ".jpg", std::string("seq/") + frame + ".png", {64, 48});
    const Outcome outcome = evaluate({at("seq"), "--sequence", "--size", "64", "--json", "--temporal-smoothing", "0"});
    ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
    const json sequence = json::parse(outcome.out)["sizes"][0]["sequences"][0];
    EXPECT_EQ(sequence["sequence"], "seq");
    EXPECT_EQ(sequence["frames"], 3);
    // The same frame three times over.
    EXPECT_EQ(sequence["flicker"], 0);
    EXPECT_EQ(sequence["dtSsd"], 0);
    EXPECT_GE(sequence["beside"], 0);
    EXPECT_GT(sequence["mattes"]["mad"], 0.01);
    EXPECT_EQ(sequence["switches"], 0);
    EXPECT_EQ(sequence["wrongSwitches"], 0);
    EXPECT_TRUE(sequence["limbsLost"].is_null() && sequence["thingsShown"].is_null());
}

TEST_F(EvaluateCommand, ScoresTheLabelsOfSequences) {
    Image everywhere({64, 48}, PixelFormat::gray8);
    std::ranges::fill(std::span(everywhere.row(0), everywhere.bytes()), std::uint8_t(255));
    for (const std::string frame : {"1", "2", "3"}) {
        portrait("seq/" + frame + ".jpg", "seq/" + frame + ".png", {64, 48});
        writeImage(at("seq/" + frame + ".limb.png"), everywhere.view());
        writeImage(at("seq/" + frame + ".thing.png"), everywhere.view());
    }
    const Outcome outcome = evaluate({at("seq"), "--sequence", "--size", "64", "--json", "--frame-rate", "24"});
    ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
    const json sequence = json::parse(outcome.out)["sizes"][0]["sequences"][0];
    EXPECT_EQ(sequence["frames"], 3);
    // Where everything is both, what is not lost is shown.
    const double lost = sequence["limbsLost"], shown = sequence["thingsShown"];
    EXPECT_GT(shown, 0.02);
    EXPECT_GT(lost, 0.05);
    EXPECT_NEAR(lost + shown, 1, 1e-9);
    EXPECT_EQ(sequence["limbsKept"], 0);
    EXPECT_EQ(sequence["thingsShownIn"], 1);
    EXPECT_EQ(evaluate({at("seq"), "--sequence", "--frame-rate", "0"}).exitCode, 2);
    EXPECT_EQ(evaluate({at("seq"), "--sequence", "--frame-rate", "nan"}).exitCode, 2);
}

TEST_F(EvaluateCommand, ARecurrentNetworkKeepsItsStateWithinASequenceAndNotBetweenTwo) {
    for (const std::string folder : {"one/", "two/"}) {
        for (const char* name : {"1", "2", "3"})
            portrait(folder + name + ".png", folder + name + "-matte.png", {64, 48});
    }
    const auto flickers = [&] {
        const Outcome outcome =
            evaluate({at("one"), at("two"), "--sequence", "--size", "64", "--json", "--temporal-smoothing", "0"});
        EXPECT_EQ(outcome.exitCode, 0) << outcome.err;
        const json sequences = json::parse(outcome.out)["sizes"][0]["sequences"];
        return std::pair<double, double>(sequences[0]["flicker"], sequences[1]["flicker"]);
    };
    EXPECT_EQ(flickers(), std::pair(0.0, 0.0));
    test::writeModel(model(), test::withCells(test::randomUNet({4, 8, 16}, 1), {"up1", "up2"}, 2));
    const auto [one, two] = flickers();
    EXPECT_GT(one, 0) << "the same picture once more has another matte";
    EXPECT_EQ(one, two);
}

TEST_F(EvaluateCommand, ScoresTheSyntheticPerson) {
    const Outcome outcome = evaluate({"test:person:64x48", "--sequence", "--size", "32", "--json"});
    ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
    const json sequence = json::parse(outcome.out)["sizes"][0]["sequences"][0];
    EXPECT_EQ(sequence["sequence"], "test:person:64x48");
    EXPECT_EQ(sequence["frames"], 64);
    EXPECT_GT(sequence["movingError"], 0.01);  // random weights
    EXPECT_GE(sequence["switches"], sequence["wrongSwitches"]);
    EXPECT_EQ(evaluate({"test:nobody", "--sequence"}).exitCode, 2);
}

TEST_F(EvaluateCommand, GoesOnAfterAPhotoThatCantBeUsed) {
    portrait("set/one.jpg", "set/one.png", {64, 48});
    portrait("set/two.jpg", "set/other.png", {64, 48});
    portrait("set/three.jpg", "set/three.png", {64, 48});
    fs::copy_file(at("set/one.png"), at("set/two.png"));
    writeImage(at("set/two.jpg"), test::makeScene({48, 48}).photo.view());
    const Outcome outcome = evaluate({at("set"), "--size", "32", "--json"});
    EXPECT_EQ(outcome.exitCode, 3);
    EXPECT_NE(outcome.err.find("not as large as its photo"), std::string::npos) << outcome.err;
    const json report = json::parse(outcome.out);
    EXPECT_EQ(report["sizes"][0]["all"]["photos"], 2);
    EXPECT_EQ(report["failures"].size(), 1U);
}

TEST_F(EvaluateCommand, RefusesWhatHoldsNothingToScore) {
    fs::create_directories(folder_ / "empty");
    for (const std::string& folder : {at("empty"), at("nowhere")}) {
        const Outcome outcome = evaluate({folder});
        EXPECT_EQ(outcome.exitCode, 3) << outcome.err;
    }
    EXPECT_EQ(evaluate({at("empty"), "--size", "7"}).exitCode, 2);
    fs::create_symlink("loop", folder_ / "loop");
    for (const std::string& name : {at("loop"), at(std::string(300, 'n'))}) {
        const Outcome outcome = evaluate({name, "--sequence"});
        EXPECT_EQ(outcome.exitCode, 3) << outcome.err;
        EXPECT_EQ(outcome.err.find("unexpected"), std::string::npos) << outcome.err;
    }
}

TEST_F(EvaluateCommand, NamesFoldersThatEndInASlash) {
    for (const char* set : {"day", "night"})
        portrait(std::string(set) + "/one.png", std::string(set) + "/one-matte.png", {64, 48});
    const Outcome outcome = evaluate({"--size", "32", at("day") + "/", at("night") + "/", "--json"});
    ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
    const json folders = json::parse(outcome.out)["sizes"][0]["folders"];
    EXPECT_TRUE(folders.contains("day") && folders.contains("night")) << folders;
}

TEST_F(EvaluateCommand, FindsModelsByName) {
    portrait("set/one.jpg", "set/one.png", {64, 48});
    const std::map<std::string, std::string> data{{"MATTE_DATA", folder_.path().string()}};
    const std::vector<std::string> words{"evaluate", at("set"), "--engine", "cpu", "--size", "32", "--json", "--model"};
    auto byName = words, unknown = words;
    byName.emplace_back("small");
    unknown.emplace_back("portrait-huge");
    const Outcome found = runCli(byName, data);
    ASSERT_EQ(found.exitCode, 0) << found.err;
    EXPECT_EQ(json::parse(found.out)["model"], model());
    const Outcome refused = runCli(unknown, data);
    EXPECT_EQ(refused.exitCode, 5);
    EXPECT_NE(refused.err.find("portrait-lite"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace matte
