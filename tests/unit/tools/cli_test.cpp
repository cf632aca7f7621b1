// SPDX-License-Identifier: Apache-2.0
// matte-cli as its users meet it: the real program is run, and what it prints, returns and leaves on disk is looked at.
#include <algorithm>
#include <csignal>
#include <span>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "inference/media/image/image_file.h"
#include "tests/support/files/model_file.h"
#include "tests/support/files/picture_file.h"
#include "tests/support/files/scratch_folder.h"
#include "tests/support/files/video_file.h"
#include "tests/support/running/eventually.h"
#include "tests/support/running/program.h"

namespace matte {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Outcome;
using test::runCli;
using Names = std::vector<std::string>;

/// A folder with a small model, on which a run takes milliseconds.
class Cli : public testing::Test {
protected:
    Cli() { test::writeModel(model(), test::randomUNet({4, 8, 16}, 1)); }

    [[nodiscard]] std::string model() const { return at("tiny.safetensors"); }
    [[nodiscard]] std::string at(const std::string& name) const { return (folder_ / name).string(); }
    std::string picture(const std::string& name, Size size = {40, 30}) const {
        fs::create_directories(fs::path(at(name)).parent_path());
        test::writeBytes(at(name), test::encode(test::sixAreas(size), fs::path(name).extension()));
        return at(name);
    }
    /// `matte-cli image` with the small model on 64 pixels.
    [[nodiscard]] Outcome image(Names arguments) const {
        arguments.insert(arguments.begin(), "image");
        arguments.insert(arguments.end(), {"--model", model(), "--engine", "cpu", "--size", "64"});
        return runCli(arguments);
    }
    static void expectRefused(const Outcome& outcome, int exitCode, const std::string& part) {
        EXPECT_EQ(outcome.exitCode, exitCode) << outcome.err;
        EXPECT_EQ(outcome.err.rfind("matte-cli: ", 0), 0U) << outcome.err;
        EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    }

    test::ScratchFolder folder_;
};

TEST_F(Cli, TellsItsVersionAndHelp) {
    const Outcome version = runCli({"--version"});
    EXPECT_EQ(version.exitCode, 0);
    EXPECT_EQ(version.out, std::string("matte-cli ") + MATTE_VERSION + "\n");
    EXPECT_EQ(version.err, "");
    const Outcome help = runCli({"--help"});
    EXPECT_EQ(help.exitCode, 0);
    for (const char* part : {"image", "video", "info", "Exit codes", "130  interrupted"}) {
        EXPECT_NE(help.out.find(part), std::string::npos) << part;
    }
    const Outcome imageHelp = runCli({"image", "--help"});
    EXPECT_EQ(imageHelp.exitCode, 0);
    for (const char* option :
         {"--background", "--placement", "--position", "--threshold", "--softness", "--no-decontaminate", "--model",
          "--engine", "--precision", "--size", "--matte-only", "--json", "--quiet", "--output"}) {
        EXPECT_NE(imageHelp.out.find(option), std::string::npos) << option;
    }
}

TEST_F(Cli, WithoutArgumentsShowsHelpAsAnError) {
    const Outcome outcome = runCli({});
    EXPECT_EQ(outcome.exitCode, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find("Usage: matte-cli"), std::string::npos);
}

TEST_F(Cli, RunsTheNetworkByANamedImplementation) {
    const std::string in = picture("a.png", {64, 48});
    const auto run = [&](const std::string& out, const Names& more) {
        Names words{"image", in, "-o", at(out), "--model", model(), "--size", "64", "--matte-only", "--json"};
        words.insert(words.end(), more.begin(), more.end());
        return runCli(words);
    };
    ASSERT_EQ(run("product.png", {"--engine", "cpu", "--precision", "fp32"}).exitCode, 0);
    const auto expected = readImage(at("product.png"));
    for (const std::string name : {"cpu-sequential", "cpu-parallel", "cpu-im2col", "cpu-onednn"}) {
        const Outcome outcome = run(name + ".png", {"--implementation", name});
        ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
        const json report = json::parse(outcome.out);
        EXPECT_EQ(report["method"], name);
        EXPECT_EQ(report["engine"]["name"], "CPU (implementation " + name + ")");
        const auto found = readImage(at(name + ".png"));
        ASSERT_EQ(found->bytes(), expected->bytes());
        int most = 0;
        for (std::size_t i = 0; i < found->bytes(); ++i) {
            most = std::max(most, std::abs(int(found->row(0)[i]) - int(expected->row(0)[i])));
        }
        EXPECT_LE(most, 2) << name;
    }
}

TEST_F(Cli, SaysWhichImplementationsThereAre) {
    const std::string in = picture("a.png"), out = at("out.png");
    expectRefused(runCli({"image", in, "-o", out, "--implementation", "cpu-magic"}), 2, "use one of cpu-sequential, ");
    expectRefused(runCli({"image", in, "-o", out, "--implementation", "gpu-cudnn"}), 2, "Single layers alone run by");
    expectRefused(runCli({"image", in, "-o", out, "--implementation", "cpu-im2col", "--engine", "cpu"}), 2,
                  "leave --engine and --precision out");
    const Outcome gpu =
        runCli({"image", in, "-o", out, "--implementation", "gpu-direct"}, {{"CUDA_VISIBLE_DEVICES", ""}});
    expectRefused(gpu, 6, "The implementation 'gpu-direct' can't be used: ");
}

// What scripts were written with goes on working, and --help does not name it.
TEST_F(Cli, TakesOptionsByTheirFormerNames) {
    const std::string in = picture("a.png"), out = at("out.png");
    expectRefused(runCli({"image", in, "-o", out, "--method", "cpu-magic"}), 2, "use one of cpu-sequential, ");
    expectRefused(runCli({"video", in, "-o", at("out.mp4"), "--steadiness", "nan"}), 2, "--temporal-smoothing");
    expectRefused(runCli({"lab", "conv", "--methods", "cpu-magic"}), 2, "There is no implementation 'cpu-magic'");
    for (const char* command : {"image", "video", "lab", "evaluate"}) {
        const std::string help = runCli({command, "--help"}).out;
        EXPECT_EQ(help.find("--method"), std::string::npos) << command;
        EXPECT_EQ(help.find("--steadiness"), std::string::npos) << command;
    }
}

TEST_F(Cli, RefusesACommandLineThatMakesNoSense) {
    const std::string in = picture("a.png"), out = at("out.png");
    expectRefused(runCli({"paint"}), 2, "There is no command 'paint'");
    expectRefused(runCli({"image", in}), 2, "--output is required");
    expectRefused(runCli({"image", "-o", out}), 2, "IN is required");
    expectRefused(image({in, "-o", out, "--colour"}), 2, "There is no option '--colour'");
    expectRefused(runCli({"-reverse"}), 2, "There is no option '-reverse'");
    expectRefused(runCli({"-hello"}), 2, "There is no option '-hello'");  // with the h of --help in it
    expectRefused(runCli({"--frobnicate", "info"}), 2, "There is no option '--frobnicate'");
    expectRefused(runCli({"image", "-size", "3"}), 2, "There is no option '-size'");
    expectRefused(runCli({"info", "--help", "-x"}), 2, "There is no option '-x'");
    expectRefused(image({in, "-o", out, "--background", "sepia"}), 2, "'sepia' is not a background");
    expectRefused(image({in, "-o", out, "--background", "color:red"}), 2, "#rrggbb");
    expectRefused(image({in, "-o", out, "--placement", "tile"}), 2, "--placement does not know 'tile'");
    expectRefused(image({in, "-o", out, "--position", "2"}), 2, "--position");
    expectRefused(image({in, "-o", out, "--threshold", "1.5"}), 2, "--threshold must be between 0 and 1");
    expectRefused(image({in, "-o", out, "--softness", "nan"}), 2, "--softness must be between 0 and 1");
    expectRefused(runCli({"image", in, "-o", out, "--engine", "abacus"}), 2, "--engine does not know 'abacus'");
    expectRefused(image({in, "-o", out, "--precision", "half"}), 2, "--precision does not know 'half'");
    expectRefused(runCli({"image", in, "-o", out, "--size", "1"}), 2, "--size");
    expectRefused(image({in, "-o", at("out.gif")}), 2, "none of the extensions");
    EXPECT_EQ(folder_.names(), (Names{"a.png", "tiny.safetensors"}));
}

TEST_F(Cli, ComputesInSinglePrecisionWhenAsked) {
    const std::string in = picture("a.png");
    const json run = json::parse(image({in, "-o", at("out.png"), "--precision", "fp32", "--json"}).out);
    EXPECT_NE(run["engine"]["name"].get<std::string>().find("f32"), std::string::npos) << run["engine"]["name"];
}

TEST_F(Cli, WritesThePictureAndSaysWhatItTook) {
    const Outcome outcome = image({picture("a.png"), "-o", at("out.png")});
    EXPECT_EQ(outcome.exitCode, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(readImage(at("out.png"))->size(), (Size{40, 30}));
    for (const char* part : {"Engine: CPU", "(40x30)", "decode", "preprocess", "network", "refine", "foreground",
                             "composite", "encode", "total"}) {
        EXPECT_NE(outcome.out.find(part), std::string::npos) << part;
    }
}

TEST_F(Cli, IsSilentWhenAskedToBe) {
    const Outcome outcome = image({picture("a.png"), "-o", at("out.png"), "--quiet"});
    EXPECT_EQ(outcome.exitCode, 0);
    EXPECT_EQ(outcome.out + outcome.err, "");
}

TEST_F(Cli, WritesEveryFormatAndBackground) {
    const std::string in = picture("a.jpg"), behind = picture("behind.png", {9, 90});
    for (const char* out : {"o.png", "o.jpg", "o.jpeg", "o.webp", "o.tif", "o.bmp"}) {
        EXPECT_EQ(image({in, "-o", at(out)}).exitCode, 0) << out;
        EXPECT_EQ(readImage(at(out))->size(), (Size{40, 30})) << out;
    }
    for (const std::string background : {"blur", "blur:100", "color:#102030", "transparent"}) {
        EXPECT_EQ(image({in, "-o", at("b.png"), "--background", background}).exitCode, 0) << background;
    }
    for (const char* placement : {"fill", "fit", "stretch"}) {
        const Outcome outcome =
            image({in, "-o", at("b.png"), "--background", "image:" + behind, "--placement", placement});
        EXPECT_EQ(outcome.exitCode, 0) << outcome.err;
    }
}

TEST_F(Cli, ShowsThePartOfABackgroundThatIsAskedFor) {
    const std::string in = picture("a.jpg"), tall = picture("behind.png", {9, 90});
    const auto over = [&](const char* position) {
        EXPECT_EQ(image({in, "-o", at("b.png"), "--background", "image:" + tall, "--position", position}).exitCode, 0);
        return readImage(at("b.png"));
    };
    const auto upper = over("0"), middle = over("0.5"), same = over("0.5");
    const auto bytes = [](const auto& image) { return std::span(image->row(0), image->bytes()); };
    EXPECT_TRUE(std::ranges::equal(bytes(middle), bytes(same)));
    EXPECT_FALSE(std::ranges::equal(bytes(upper), bytes(middle)));
}

// Over one colour and over another, whatever is not the person differs by just that.
TEST_F(Cli, LaysThePersonOverTheBackground) {
    const std::string in = picture("a.png");
    ASSERT_EQ(image({in, "-o", at("matte.png"), "--matte-only"}).exitCode, 0);
    ASSERT_EQ(image({in, "-o", at("clear.png"), "--background", "transparent"}).exitCode, 0);
    ASSERT_EQ(image({in, "-o", at("red.png"), "--background", "color:#ff0000"}).exitCode, 0);
    const auto matte = readImage(at("matte.png")), clear = readImage(at("clear.png")), red = readImage(at("red.png"));
    for (int y = 0; y < 30; ++y) {
        for (int x = 0; x < 40 * 4; x += 4) {
            EXPECT_NEAR(matte->row(y)[x], clear->row(y)[x + 3], 1);
            EXPECT_EQ(red->row(y)[x + 3], 255);
            EXPECT_TRUE(matte->row(y)[x] > 0 || red->row(y)[x] >= 254) << x << "," << y;
        }
    }
}

// The edge as it was found; a harder one is another picture, so that the comparison can fail.
TEST_F(Cli, LeavesTheEdgeAsSoftAsItWasFoundByDefault) {
    for (const char* command : {"image", "video", "evaluate"}) {
        EXPECT_NE(runCli({command, "--help"}).out.find("--softness S=1 "), std::string::npos) << command;
    }
    const std::string in = picture("a.png");
    const auto matte = [&](Names more) {
        more.insert(more.begin(), {in, "-o", at("matte.png"), "--matte-only"});
        EXPECT_EQ(image(more).exitCode, 0);
        return readImage(at("matte.png"));
    };
    const auto byDefault = matte({}), asFound = matte({"--softness", "1"}), harder = matte({"--softness", "0.6"});
    const auto bytes = [](const auto& image) { return std::span(image->row(0), image->bytes()); };
    EXPECT_TRUE(std::ranges::equal(bytes(byDefault), bytes(asFound)));
    EXPECT_FALSE(std::ranges::equal(bytes(byDefault), bytes(harder)));
}

TEST_F(Cli, OfAVideoTheFirstFrameGoesBehind) {
    const std::string in = picture("in.png"), video = test::writeVideo(at("clip.mp4")).string();
    for (const std::string& background : {"video:" + video, "image:" + video, video}) {
        const Outcome done =
            image({in, "-o", at("out.png"), "--background", background, "--threshold", "1", "--softness", "0"});
        ASSERT_EQ(done.exitCode, 0) << done.err;
        EXPECT_EQ(test::videoFrameIn(*readImage(at("out.png"))), 0) << background;
    }
    test::writeBytes(at("bad.mp4"), test::bytesOf("no video"));
    expectRefused(image({in, "-o", at("out.png"), "--background", "video:" + at("bad.mp4")}), 3, "bad.mp4");
    expectRefused(image({in, "-o", at("out.png"), "--background", "video:" + at("none.mp4")}), 3, "none.mp4");
}

TEST_F(Cli, PrintsOneJsonObject) {
    const std::string good = picture("a.png");
    test::writeBytes(at("bad.png"), test::bytesOf("no picture"));
    const Outcome outcome = image({good, at("bad.png"), "-o", at("out"), "--json"});
    EXPECT_EQ(outcome.exitCode, 3);
    const json facts = json::parse(outcome.out);
    EXPECT_EQ(facts["version"], MATTE_VERSION);
    EXPECT_EQ(facts["exitCode"], 3);
    EXPECT_EQ(facts["engine"]["kind"], "cpu");
    EXPECT_EQ(facts["model"], model());
    ASSERT_EQ(facts["pictures"].size(), 2U);
    const json& done = facts["pictures"][0];
    EXPECT_EQ(done["input"], good);
    EXPECT_EQ(done["output"], at("out/a-cutout.png"));
    EXPECT_EQ(done["width"], 40);
    EXPECT_EQ(done["height"], 30);
    double sum = 0;
    for (const char* stage : {"decode", "preprocess", "network", "refine", "foreground", "composite", "encode"}) {
        ASSERT_TRUE(done["ms"].contains(stage)) << stage;
        sum += done["ms"][stage].get<double>();
    }
    EXPECT_LE(sum, done["ms"]["total"].get<double>() + 0.1);
    EXPECT_NE(facts["pictures"][1]["error"].get<std::string>().find("is not a JPEG"), std::string::npos);
}

TEST_F(Cli, TakesFilesFoldersAndPatterns) {
    const std::string one = picture("one.png");
    picture("shots/b.jpg");
    picture("shots/a.png");
    picture("shots/deeper/c.png");
    picture("more/x1.webp");
    picture("more/x2.tif");
    picture("more/y.png");
    test::writeBytes(at("shots/notes.txt"), test::bytesOf("not a picture"));
    const Outcome outcome = image({one, at("shots"), at("more/x*"), "-o", at("out")});
    EXPECT_EQ(outcome.exitCode, 0) << outcome.err;
    Names found;
    for (const auto& entry : fs::directory_iterator(at("out"))) found.push_back(entry.path().filename());
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, (Names{"a-cutout.png", "b-cutout.png", "one-cutout.png", "x1-cutout.png", "x2-cutout.png"}));
}

TEST_F(Cli, TakesANameThatLooksLikeAPattern) {
    const Outcome outcome = image({picture("a[1].png"), "-o", at("out.png")});
    EXPECT_EQ(outcome.exitCode, 0) << outcome.err;
}

TEST_F(Cli, NumbersResultsOfTheSameName) {
    const Outcome outcome =
        image({picture("a.png"), picture("a.jpg"), picture("b/a.png"), at("a.png"), "-o", at("out/")});
    EXPECT_EQ(outcome.exitCode, 0) << outcome.err;
    for (const char* name : {"out/a-cutout.png", "out/a-cutout-2.png", "out/a-cutout-3.png"}) {
        EXPECT_TRUE(fs::exists(at(name))) << name;
    }
    EXPECT_FALSE(fs::exists(at("out/a-cutout-4.png"))) << "a.png was named twice and done twice";
}

TEST_F(Cli, WantsAFolderForSeveralPictures) {
    expectRefused(image({picture("a.png"), picture("b.png"), "-o", at("out.png")}), 2, "name a folder");
}

TEST_F(Cli, NeverWritesOverAFileThatItReads) {
    const std::string in = picture("a.png");
    fs::create_symlink("a.png", at("link.png"));
    fs::create_hard_link(in, at("twin.png"));
    fs::create_directory(at("sub"));
    const auto before = test::readBytes(in);
    for (const std::string& out : {in, at("link.png"), at("twin.png"), at("sub/../a.png"), at("./a.png")}) {
        expectRefused(image({in, "-o", out}), 2, "would replace a file that is read");
    }
    fs::rename(in, at("b-cutout.png"));
    expectRefused(image({at("b-cutout.png"), picture("b.png"), "-o", folder_.path().string()}), 2, "would replace");
    const std::string behind = picture("behind.png");
    expectRefused(image({at("b.png"), "-o", behind, "--background", "image:" + behind}), 2, "would replace");
    EXPECT_EQ(test::readBytes(at("b-cutout.png")), before);
}

TEST_F(Cli, NeverWritesOverItsModelNorOverAnotherResult) {
    const std::string in = picture("a.png");
    fs::create_symlink("tiny.safetensors", at("model.png"));
    fs::create_symlink(fs::path(MATTE_RESOURCES) / "models/portrait-lite.safetensors", at("lite.png"));
    const auto before = test::readBytes(model());
    expectRefused(image({in, "-o", at("model.png")}), 2, "would replace a file that is read");
    expectRefused(runCli({"image", in, "--model", at("model.png"), "-o", at("model.png")}), 2, "would replace");
    expectRefused(runCli({"image", in, "--model", "portrait-lite", "-o", at("lite.png")}), 2, "would replace");
    EXPECT_EQ(test::readBytes(model()), before);
    fs::create_directory(at("out"));
    test::writeBytes(at("out/a-cutout.png"), test::bytesOf("older"));
    fs::create_symlink("a-cutout.png", at("out/b-cutout.png"));
    expectRefused(image({in, picture("b.png"), "-o", at("out")}), 2, "is a link to another result");
    EXPECT_EQ(test::readBytes(at("out/a-cutout.png")), test::bytesOf("older"));
}

TEST_F(Cli, GoesOnAfterABadPicture) {
    test::writeBytes(at("bad.jpg"), test::bytesOf("text"));
    const Outcome outcome = image({at("bad.jpg"), picture("good.png"), at("none.png"), "-o", at("out")});
    EXPECT_EQ(outcome.exitCode, 3);
    EXPECT_NE(outcome.err.find("bad.jpg is not a JPEG"), std::string::npos);
    EXPECT_NE(outcome.err.find("none.png doesn't exist"), std::string::npos);
    EXPECT_TRUE(fs::exists(at("out/good-cutout.png")));
}

TEST_F(Cli, SaysWhatNamesNoPicture) {
    fs::create_directory(at("bare"));
    expectRefused(image({at("bare"), "-o", at("out")}), 3, "bare holds no JPEG, PNG");
    expectRefused(image({at("*.webp"), "-o", at("out")}), 3, "No picture matches");
    EXPECT_FALSE(fs::exists(at("out")));
}

TEST_F(Cli, TellsInputModelEngineAndOutputApart) {
    const std::string in = picture("a.png");
    expectRefused(image({at("none.png"), "-o", at("out.png")}), 3, "doesn't exist");
    expectRefused(image({in, "-o", at("out.png"), "--background", "image:" + at("none.jpg")}), 3, "none.jpg");
    expectRefused(runCli({"image", in, "-o", at("out.png"), "--model", at("none.safetensors")}), 5, "none.safetensors");
    expectRefused(runCli({"image", in, "-o", at("out.png"), "--model", in}), 5, "a.png");
    fs::create_directory(at("dir.png"));
    fs::create_directory(at("dir.png/inner"));
    expectRefused(image({in, "-o", in + "/x.png"}), 7, "can't be created");
    EXPECT_FALSE(fs::exists(at("out.png")));
}

// A script that keeps the JSON learns that it has none.
TEST_F(Cli, FailsWhenItsOutputGoesNowhere) {
    const std::string command = std::string(MATTE_CLI) + " info --json > /dev/full";
    expectRefused(test::Program({"/bin/sh", "-c", command}).wait(), 7, "can't be printed");
}

TEST_F(Cli, SaysWhyCudaIsNotThere) {
    if (json::parse(runCli({"info", "--json"}).out)["engines"][1]["available"]) {
        GTEST_SKIP() << "this machine has a usable NVIDIA GPU";
    }
    const std::string in = picture("a.png");
    expectRefused(runCli({"image", in, "-o", at("out.png"), "--model", model(), "--engine", "cuda"}), 6, "CUDA");
}

// A name that could change the terminal's colours or move its cursor is shown harmless; one that is no UTF-8 is still
// valid JSON.
TEST_F(Cli, ShowsStrangeNamesSafely) {
    const std::string strange = picture("\x1b[31mred\xff.png");
    const Outcome text = image({strange, "-o", at("out.png")});
    EXPECT_EQ(text.exitCode, 0);
    EXPECT_EQ(text.out.find('\x1b'), std::string::npos);
    EXPECT_EQ(image({at("\x1b[2J.png"), "-o", at("out.png")}).err.find('\x1b'), std::string::npos);
    EXPECT_EQ(json::parse(image({strange, "-o", at("out.png"), "--json"}).out)["exitCode"], 0);
}

TEST_F(Cli, StopsCleanlyWhenInterrupted) {
    constexpr int kPictures = 12;
    Names words{MATTE_CLI, "image", "-o", at("out"), "--model", model(), "--engine", "cpu", "--json"};
    for (int i = 0; i < kPictures; ++i) words.push_back(picture(std::to_string(i) + ".png", {900, 700}));
    test::Program program(words);
    ASSERT_TRUE(test::eventually([&] { return fs::exists(at("out/0-cutout.png")); }));
    program.send(SIGINT);
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.exitCode, 130) << outcome.err;
    expectRefused(outcome, 130, "Interrupted");
    std::size_t results = 0;
    for (const auto& entry : fs::directory_iterator(at("out"))) {
        EXPECT_EQ(readImage(entry.path())->size(), (Size{900, 700})) << entry.path();
        ++results;
    }
    EXPECT_LT(results, std::size_t(kPictures));
    const json said = json::parse(outcome.out);
    EXPECT_EQ(said["exitCode"], 130);
    EXPECT_EQ(said["pictures"].size(), results) << "what was finished is told";
}

TEST_F(Cli, DescribesTheMachine) {
    const Outcome text = runCli({"info"});
    EXPECT_EQ(text.exitCode, 0);
    for (const char* part : {"Matte", "libvips", "oneDNN", "Processor", "Engine", "Own camera", "Model"}) {
        EXPECT_NE(text.out.find(part), std::string::npos) << part;
    }
    const Outcome machine = runCli({"info", "--json"});
    EXPECT_EQ(machine.exitCode, 0);
    EXPECT_EQ(machine.err, "");
    const json facts = json::parse(machine.out);
    EXPECT_EQ(facts["version"], MATTE_VERSION);
    EXPECT_EQ(facts["engines"][0]["kind"], "cpu");
    EXPECT_EQ(facts["engines"][0]["available"], true);
    EXPECT_EQ(facts["cuda"]["devices"].empty(), facts["cuda"]["unavailable"] != "");
    EXPECT_EQ(facts["virtualCamera"]["names"].empty(), facts["virtualCamera"].contains("unavailable"));
    EXPECT_GE(facts["model"]["levels"], 3);
    EXPECT_EQ(facts["model"]["widths"].size(), facts["model"]["levels"]);
}

// The data beside the installed program, and a folder named by the environment before it.
TEST_F(Cli, FindsItsModel) {
    fs::create_directories(at("data/models"));
    fs::copy(MATTE_RESOURCES "/models/portrait.safetensors", at("data/models/portrait.safetensors"));
    const json named = json::parse(runCli({"info", "--json"}, {{"MATTE_DATA", at("data")}}).out);
    EXPECT_EQ(named["model"]["path"], at("data/models/portrait.safetensors"));
    EXPECT_GE(named["model"]["levels"], 3);

    fs::create_directories(at("installed/bin"));
    fs::create_directories(at("installed/share/matte"));
    fs::copy(MATTE_CLI, at("installed/bin/matte-cli"));
    fs::rename(at("data/models"), at("installed/share/matte/models"));
    const Outcome installed = test::Program({at("installed/bin/matte-cli"), "info", "--json"}).wait();
    EXPECT_EQ(json::parse(installed.out)["model"]["path"], at("installed/share/matte/models/portrait.safetensors"));
}

}  // namespace
}  // namespace matte
