// SPDX-License-Identifier: Apache-2.0
// A network that gives a wrong matte of the test picture is refused before it shows anything.
#include <algorithm>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/cpu/cpu_engine.h"
#include "inference/engine/self_test.h"
#include "inference/matting/resample.h"
#include "inference/model/read_model.h"
#include "tests/support/engines/painted_network.h"
#include "tests/support/files/model_file.h"
#include "tests/support/files/scratch_folder.h"
#include "tests/support/running/program.h"

namespace matte {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

constexpr const char* kWrongMatte = "its matte of the test picture is not the one that its file says";
/// Of portrait-lite, a weight of down5.block6.conv1.
constexpr std::size_t kShowsTheRoom = 609067;

fs::path fileOf(const std::string& model) {
    return fs::path(MATTE_RESOURCES) / "models" / (model + ".safetensors");
}

UNet networkOf(const Bytes& bytes) {
    return UNet::load(Safetensors::parse(bytes, "damaged"));
}

/// Why an engine on the CPU does not take the network; empty when it does.
std::string refusal(UNet network, Precision precision = Precision::fast) {
    try {
        CpuEngine(std::move(network), {.kind = EngineKind::cpu, .precision = precision}, "");
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::model);
        return error.what();
    }
    return {};
}

bool says(const std::string& sentence, const std::string& part) {
    return sentence.find(part) != std::string::npos;
}

/// Flips the highest exponent bit of the `value`-th F16 value.
void flip(Bytes& model, std::size_t value) {
    std::uint64_t header = 0;
    std::memcpy(&header, model.data(), 8);
    model.at(8 + header + 2 * value + 1) ^= 0x40;
}

TEST(SelfTest, TheProgramsModelsPassInEachPrecision) {
    for (const std::string model : {"portrait", "portrait-lite"}) {
        const UNet network = loadNetwork(model);
        ASSERT_TRUE(network.knownAnswer()) << model;
        for (const CpuPrecision precision : {CpuPrecision::f32, CpuPrecision::bf16}) {
            if (!CpuNetwork::supports(precision)) continue;
            CpuNetwork cpu(network, precision);
            const auto problem = selfTest(network, [&](const Image& picture) { return cpu.matteOf(picture.view()); });
            EXPECT_EQ(problem, "") << model;
        }
    }
}

TEST(SelfTest, OneFlippedBitThatShowsTheRoomIsRefused) {
    Bytes model = test::readBytes(fileOf("portrait-lite"));
    flip(model, kShowsTheRoom);
    EXPECT_TRUE(says(refusal(networkOf(model)), kWrongMatte));
    flip(model, kShowsTheRoom);
    EXPECT_EQ(refusal(networkOf(model)), "");
}

TEST(SelfTest, WhoIsNotRefusedStillFindsThePerson) {
    const Bytes whole = test::readBytes(fileOf("portrait-lite"));
    const UNet sound = networkOf(whole);
    std::minstd_rand random(5);
    int refused = 0;
    for (int i = 0; i < 12; ++i) {
        Bytes model = whole;
        flip(model, random() % 900'000);
        try {
            const UNet network = networkOf(model);  // refuses what is infinite
            if (!refusal(network).empty()) {
                ++refused;
                continue;
            }
            CpuNetwork cpu(network, CpuPrecision::f32);
            const auto answer = answerOf(network, [&](const Image& picture) { return cpu.matteOf(picture.view()); });
            for (std::size_t cell = 0; cell < answer.cells.size(); ++cell) {
                EXPECT_NEAR(answer.cells[cell], sound.knownAnswer()->cells[cell], 24) << i;
            }
        } catch (const Error&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 6) << "most such flips matter";
}

TEST(SelfTest, TheCommandsRefuseADamagedModel) {
    const test::ScratchFolder folder;
    const std::string model = (folder / "damaged.safetensors").string(), out = (folder / "out.png").string();
    Bytes bytes = test::readBytes(fileOf("portrait-lite"));
    flip(bytes, kShowsTheRoom);
    test::writeBytes(model, bytes);
    const std::string photo = MATTE_RESOURCES "/samples/astronaut.png";
    const std::vector<std::vector<std::string>> commands{
        {"image", photo, "-o", out, "--engine", "cpu"},
        {"image", photo, "-o", out, "--implementation", "cpu-parallel"},
        {"video", photo, "-o", out + ".mp4", "--engine", "cpu"},
        {"evaluate", "--sequence", "test:person", "--engine", "cpu"}};
    for (std::vector<std::string> words : commands) {
        words.insert(words.end(), {"--model", model});
        const test::Outcome outcome = test::runCli(words);
        EXPECT_EQ(outcome.exitCode, 5) << words.front() << outcome.out;
        EXPECT_TRUE(says(outcome.err, kWrongMatte)) << words.front() << outcome.err;
    }
    EXPECT_FALSE(fs::exists(out));
}

TEST(SelfTest, ARecurrentModelsAnswerIsThatOfAStillWhichRunsTwice) {
    // Of a cell that follows at once, and passes on much of what it has seen.
    test::ModelTensors tensors = test::withCells(test::randomUNet({4, 8, 16}, 1), {"up1", "up2"}, 2);
    for (auto& [name, tensor] : tensors) {
        const float gain = name.find(".gru.") == std::string::npos ? 1.0F : 4.0F;
        for (float& value : tensor.values) value *= gain;
    }
    const UNet network = networkOf(test::encodeSafetensors(tensors));
    const auto answered = [&](int runs) {
        const KnownAnswer answer = answerOf(network, [&](const Image& picture) {
            CpuNetwork cpu(network, CpuPrecision::f32);
            cpu.configure(picture.size());
            cpu.setInput(resampleToPlanes(picture.view(), picture.size()));
            for (int run = 0; run < runs; ++run) cpu.run();
            Planes matte;
            cpu.readMatte(matte);
            return matte;
        });
        return networkOf(test::encodeSafetensors(tensors, {{"known_answer", answer.text()}}));
    };
    EXPECT_EQ(refusal(answered(2)), "");
    EXPECT_EQ(refusal(answered(2), Precision::fp32), "");
    const test::ScratchFolder folder;
    const std::string model = (folder / "recurrent.safetensors").string();
    test::writeBytes(model, test::encodeSafetensors(tensors));
    const test::Outcome printed = test::runCli({"info", "--answer", model});
    EXPECT_EQ(printed.out, answered(2).knownAnswer()->text() + "\n") << printed.err;
    EXPECT_NE(printed.out, answered(1).knownAnswer()->text() + "\n");
}

TEST(SelfTest, AModelThatTakesARoomForAPersonIsRefused) {
    test::ModelTensors tensors = test::randomUNet({4, 8, 16}, 1);
    EXPECT_EQ(refusal(networkOf(test::encodeSafetensors(tensors))), "");
    tensors["out.bias"].values = {50};
    EXPECT_TRUE(says(refusal(networkOf(test::encodeSafetensors(tensors))), "it takes an empty room for a person"));
    tensors["out.bias"].values = {-50};
    EXPECT_EQ(refusal(networkOf(test::encodeSafetensors(tensors))), "");
}

TEST(SelfTest, AMatteThatIsNotFiniteIsRefused) {
    const auto infinite = [](const Planes&, Planes& alpha) { alpha.values.back() = INFINITY; };
    try {
        const CpuEngine engine(std::make_unique<test::PaintedNetwork>(infinite), {}, "");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::model);
        EXPECT_TRUE(says(error.what(), "not finite")) << error.what();
    }
}

TEST(SelfTest, AnAnswerHoldsWithinItsTolerance) {
    const test::ModelTensors tensors = test::randomUNet({4, 8, 16}, 1);
    CpuNetwork cpu(networkOf(test::encodeSafetensors(tensors)), CpuPrecision::f32);
    KnownAnswer answer = answerOf(cpu.unet(), [&](const Image& picture) { return cpu.matteOf(picture.view()); });
    const auto refusalOf = [&](const std::string& text) {
        return refusal(networkOf(test::encodeSafetensors(tensors, {{"known_answer", text}})), Precision::fp32);
    };
    EXPECT_EQ(refusalOf(answer.text()), "");
    answer.cells[100] = std::uint8_t(answer.cells[100] + answer.tolerance);
    EXPECT_EQ(refusalOf(answer.text()), "");
    ++answer.cells[100];
    EXPECT_TRUE(says(refusalOf(answer.text()), kWrongMatte));
}

TEST(SelfTest, AnAnswerThatIsNoneIsRefused) {
    KnownAnswer answer{{192, 128}, 12, {}};
    const std::string good = answer.text();
    ASSERT_TRUE(KnownAnswer::parse(good));
    EXPECT_EQ(KnownAnswer::parse(good)->text(), good);
    std::string wrong = good;
    wrong.back() = 'g';
    for (const std::string& text :
         {std::string(), std::string("192x128 12"), good + "0", good + " 1", good.substr(1, good.size() - 2), wrong,
          "192X128" + good.substr(7), "192x128 255" + good.substr(10), "192x128 0" + good.substr(10),
          "4096x128" + good.substr(7), "-92x128" + good.substr(7), "193x128" + good.substr(7)}) {
        const auto bytes = test::encodeSafetensors(test::randomUNet({4, 8, 16}, 1), {{"known_answer", text}});
        EXPECT_THROW(networkOf(bytes), Error) << text.substr(0, 20);
    }
}

}  // namespace
}  // namespace matte
