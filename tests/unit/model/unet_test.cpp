// SPDX-License-Identifier: Apache-2.0
// The network built from a file's tensors: its table, its batch-norm folding, its input sizes, and the files that it
// refuses.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/model/unet.h"
#include "tests/support/files/model_file.h"
#include "tests/support/pictures/oracle.h"

namespace matte {
namespace {

using test::encodeSafetensors;
using test::ModelTensors;
using test::randomMobileUNet;
using test::randomUNet;

UNet load(const ModelTensors& tensors, const test::Metadata& metadata = {}) {
    return UNet::load(Safetensors::parse(encodeSafetensors(tensors, metadata), "net"));
}

std::string refusal(const ModelTensors& tensors, const test::Metadata& metadata = {}) {
    try {
        load(tensors, metadata);
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::model);
        return error.what();
    }
    return "";
}

TEST(UNet, IsATableInTheOrderInWhichItRuns) {
    const UNet unet = load(randomUNet({4, 8, 16}, 1));
    std::string order;
    for (const Conv& layer : unet.layers()) order += layer.name + " ";
    EXPECT_EQ(order,
              "down1.conv1 down1.conv2 down2.conv1 down2.conv2 down3.conv1 down3.conv2 "
              "up1.upconv up1.conv1 up1.conv2 up2.upconv up2.conv1 up2.conv2 out ");
    const auto& tensors = unet.tensors();
    EXPECT_EQ(tensors[0].channels, 3);
    const Conv& decoder = unet.layers()[7];  // up1.conv1: the skip first, then what came up
    EXPECT_EQ(tensors[std::size_t(decoder.in0)].name, "down2.conv2");
    EXPECT_EQ(tensors[std::size_t(decoder.in1)].name, "up1.upconv");
    EXPECT_EQ(tensors[std::size_t(decoder.out)].level, 1);
    EXPECT_EQ(tensors[std::size_t(unet.layers()[1].pooled)].level, 1);
    EXPECT_EQ(unet.layers()[5].pooled, kNoTensor);
    EXPECT_EQ(unet.levels(), 3);
}

TEST(UNet, ReadsBottlenecksInTheEncoder) {
    const UNet unet = load(randomMobileUNet(1));
    std::string order;
    for (const Conv& layer : unet.layers()) {
        order += layer.name.substr(4) + (layer.stride == 2 ? "/2" : "") + (layer.added != kNoTensor ? "+ " : " ");
        if (layer.name == "down5.conv2") break;
    }
    EXPECT_EQ(order,
              "1.conv1 2.conv1/2 2.block1.conv2 2.block1.conv3 "
              "3.block1.conv1 3.block1.conv2/2 3.block1.conv3 3.block2.conv1 3.block2.conv2 3.block2.conv3+ "
              "4.block1.conv1 4.block1.conv2/2 4.block1.conv3 4.block2.conv1 4.block2.conv2 4.block2.conv3+ "
              "5.conv1 5.conv2 ");
    const auto& tensors = unet.tensors();
    const auto named = [&](const std::string& name) { return *std::ranges::find(unet.layers(), name, &Conv::name); };
    EXPECT_EQ(named("down2.conv1").in0, 0) << "the stem reads the picture";
    EXPECT_EQ(tensors[std::size_t(named("down2.conv1").out)].level, 1);
    EXPECT_EQ(tensors[std::size_t(named("down3.block1.conv1").out)].level, 1) << "widened before it is halved";
    EXPECT_EQ(named("down3.block2.conv3").added, named("down3.block2.conv1").in0);
    EXPECT_TRUE(named("down3.block2.conv1").relu && !named("down3.block2.conv3").relu);
    EXPECT_EQ(tensors[std::size_t(named("down4.block2.conv3").pooled)].level, 4);
    EXPECT_EQ(tensors[std::size_t(named("up4.conv1").in0)].name, "down1.conv1");
    EXPECT_EQ(named("down3.block1.conv2").filter.side(), 5);
}

TEST(UNet, ReadsTheCellsOfTheDecoder) {
    const ModelTensors plain = randomUNet({4, 8, 16}, 1);
    const UNet unet = load(test::withCells(plain, {"up1"}, 2));
    std::string order;
    for (const Conv& layer : unet.layers()) {
        if (layer.name.starts_with("up1")) order += layer.name + (layer.relu ? "+ " : " ");
    }
    EXPECT_EQ(order, "up1.upconv up1.conv1+ up1.conv2+ up1.gru.gates up1.gru.candidate ");
    ASSERT_EQ(unet.cells().size(), 1U);
    const ConvGru& cell = unet.cells().front();
    const auto& tensors = unet.tensors();
    const auto channels = [&](int tensor) { return tensors[std::size_t(tensor)].channels; };
    EXPECT_EQ(tensors[std::size_t(cell.in)].name, "up1.conv2");
    EXPECT_EQ(tensors[std::size_t(cell.out)].name, "up1.gru");
    EXPECT_EQ((std::vector{channels(cell.in), channels(cell.gates), channels(cell.out)}), (std::vector{8, 8, 8}));
    EXPECT_EQ((std::vector{channels(cell.input), channels(cell.state), channels(cell.reset), channels(cell.candidate)}),
              (std::vector{4, 4, 4, 4}));
    const Conv& next = *std::ranges::find(unet.layers(), "up2.upconv", &Conv::name);
    EXPECT_EQ(next.in0, cell.out) << "the next level reads what the cell gives";
    EXPECT_FALSE(load(plain).isRecurrent());
    // Both convolutions at half the input's size: 8 x 8 and 4 x 8 filters of 9 weights.
    EXPECT_EQ(unet.flops({16, 16}) - load(plain).flops({16, 16}), 2.0 * 8 * 8 * (8 * 8 + 4 * 8) * 9);
}

TEST(UNet, RefusesCellsThatDontFit) {
    const ModelTensors good = test::withCells(randomUNet({4, 8, 16}, 1), {"up1"}, 2);
    EXPECT_EQ(refusal(good), "");
    for (const std::string name :
         {"up1.gru.gates.weight", "up1.gru.gates.bias", "up1.gru.candidate.weight", "up1.gru.candidate.bias"}) {
        ModelTensors missing = good, wrong = good;
        missing.erase(name);
        EXPECT_NE(refusal(missing).find("the tensor '" + name + "' is missing"), std::string::npos) << name;
        wrong.at(name) = {{2, 2}, {1, 2, 3, 4}};
        EXPECT_NE(refusal(wrong).find("'" + name + "' has the wrong shape"), std::string::npos) << name;
    }
    ModelTensors swapped = good;
    std::swap(swapped.at("up1.gru.gates.weight"), swapped.at("up1.gru.candidate.weight"));
    EXPECT_NE(refusal(swapped).find("'up1.gru.gates.weight' has the wrong shape"), std::string::npos);
    ModelTensors foreign = good;
    foreign["up1.gru.bn.weight"] = {{8}, std::vector<float>(8, 1.0F)};
    EXPECT_NE(refusal(foreign).find("'up1.gru.bn.weight' that no layer uses"), std::string::npos);
    const ModelTensors odd = test::withCells(randomUNet({4, 7, 16}, 1), {"up1"}, 2);
    EXPECT_NE(refusal(odd).find("'up1.gru' is the cell of a level of 7 channels, which has no half"),
              std::string::npos);
    ModelTensors encoder = randomUNet({4, 8, 16}, 1);
    encoder["down1.gru.gates.weight"] = {{4, 4, 3, 3}, std::vector<float>(144, 0.1F)};
    EXPECT_NE(refusal(encoder).find("that no layer uses"), std::string::npos) << "cells are the decoder's";
}

TEST(UNet, RefusesBottlenecksThatDontFit) {
    const ModelTensors good = randomMobileUNet(1);
    EXPECT_EQ(refusal(good), "");
    ModelTensors kernel = good;
    kernel["down3.block1.conv2.weight"] = {{48, 1, 7, 7}, std::vector<float>(48 * 49)};
    EXPECT_NE(refusal(kernel).find("wrong shape"), std::string::npos);
    ModelTensors grouped = good;
    grouped["down3.block1.conv2.weight"] = {{48, 2, 5, 5}, std::vector<float>(48 * 50)};
    EXPECT_NE(refusal(grouped).find("wrong shape"), std::string::npos);
    ModelTensors chain = good;
    chain["down3.block1.conv3.weight"] = {{12, 40, 1, 1}, std::vector<float>(480)};
    EXPECT_NE(refusal(chain).find("does not take what the layer before it gives"), std::string::npos);
    ModelTensors stem = good;
    stem["down2.conv2.weight"] = {{16, 16, 3, 3}, std::vector<float>(16 * 16 * 9)};
    EXPECT_NE(refusal(stem).find("'down2.conv2.weight' that no layer uses"), std::string::npos);
    ModelTensors first = good;
    for (const std::string part : {"conv2.weight", "conv3.weight"}) {
        first["down1.block1." + part] = good.at("down2.block1." + part);
    }
    EXPECT_NE(refusal(first).find("that no layer uses"), std::string::npos) << "level 1 halves nothing";
    ModelTensors gap = good;
    gap.erase("down3.block2.conv3.weight");
    EXPECT_NE(refusal(gap).find("missing"), std::string::npos);
}

TEST(UNet, TakesAnyWidthsAndThreeToEightLevels) {
    EXPECT_EQ(load(randomUNet({5, 7, 9}, 1)).levels(), 3);
    EXPECT_EQ(load(randomUNet({4, 6, 6, 8, 8, 8}, 1)).levels(), 6);
    EXPECT_EQ(load(randomUNet({4, 6, 6, 8, 8, 8, 5, 3}, 1)).levels(), 8);
    EXPECT_NE(refusal(randomUNet({4, 8}, 1)).find("2 levels"), std::string::npos);
    EXPECT_NE(refusal(randomUNet({4, 4, 4, 4, 4, 4, 4, 4, 4}, 1)).find("levels"), std::string::npos);
}

TEST(UNet, FoldsBatchNormAsTheOracleComputesIt) {
    const ModelTensors tensors = randomUNet({4, 8, 16}, 9);
    const UNet unet = load(tensors, {{"bn_eps", "1e-3"}});
    const auto values = [&](const std::string& name) { return tensors.at("down1." + name).values; };
    const Filter plain{4, 3, values("conv1.weight"), values("conv1.bias")};
    const auto in = oracle::noise(6, 5, 3, 2);
    const auto expected = oracle::batchNorm(oracle::conv3x3(in, plain), values("bn1.weight"), values("bn1.bias"),
                                            values("bn1.running_mean"), values("bn1.running_var"), 1e-3);
    EXPECT_LE(oracle::nmse(expected.values, oracle::conv3x3(in, unet.layers()[0].filter).values), 1e-12);
}

TEST(UNet, TurnsUpConvWeightsToOutputsFirst) {
    const ModelTensors tensors = randomUNet({4, 8, 16}, 9);
    const UNet unet = load(tensors);
    const Filter& filter = unet.layers()[6].filter;
    const auto& stored = tensors.at("up1.upconv.weight");  // [16, 8, 2, 2]
    EXPECT_EQ(filter.inChannels, 16);
    EXPECT_EQ(filter.outChannels, 8);
    EXPECT_EQ(filter.weights[(3 * 16 + 5) * 4 + 2], stored.values[(5 * 8 + 3) * 4 + 2]);
}

TEST(UNet, WorksWithoutBiasesAndWithoutBatchNorm) {
    ModelTensors tensors = randomUNet({4, 8, 16}, 1);
    std::erase_if(tensors, [](const auto& item) {
        return item.first.find(".bn") != std::string::npos || item.first.ends_with("conv1.bias");
    });
    const UNet unet = load(tensors);
    EXPECT_EQ(unet.layers()[0].filter.bias, std::vector<float>(4, 0.0F));
    EXPECT_EQ(unet.layers()[0].filter.weights, tensors.at("down1.conv1.weight").values);
}

TEST(UNet, ChoosesInputsThatEveryLevelDivides) {
    const UNet unet = load(randomUNet({4, 8, 16, 16, 16}, 1), {{"longest_side", "256"}});
    EXPECT_EQ(unet.inputSize({4000, 3000}), (Size{256, 192}));
    EXPECT_EQ(unet.inputSize({1080, 1920}), (Size{144, 256}));
    EXPECT_EQ(unet.inputSize({1, 1}), (Size{256, 256}));
    EXPECT_EQ(unet.inputSize({10000, 1}), (Size{256, 16}));
    EXPECT_EQ(unet.inputSize({1920, 1080}, 512), (Size{512, 288}));
}

TEST(UNet, GivesPhotosAnInputOfTheirOwn) {
    const ModelTensors tensors = randomUNet({4, 8, 16, 16, 16}, 1);
    const UNet both = load(tensors, {{"longest_side", "256"}, {"photo_side", "320"}});
    EXPECT_EQ(both.inputSize({4000, 3000}), (Size{256, 192}));
    EXPECT_EQ(both.photoInputSize({4000, 3000}), (Size{320, 240}));
    EXPECT_EQ(both.photoInputSize({4000, 3000}, 512), (Size{512, 384})) << "as the user says";
    const UNet one = load(tensors, {{"longest_side", "256"}});
    EXPECT_EQ(one.photoInputSize({4000, 3000}), (Size{256, 192}));
}

TEST(UNet, HalvesItsInputDownTo128Pixels) {
    const UNet unet = load(randomUNet({4, 4, 4, 4, 4, 4, 4}, 1), {{"longest_side", "576"}});
    const Size photo{4000, 3000};
    std::vector<int> sides;
    for (Size input = unet.inputSize(photo); input.longest() > 0 && sides.size() < 9;) {
        sides.push_back(input.longest());
        const int next = unet.smallerSide(photo, input);
        input = next ? unet.inputSize(photo, next) : Size{};
    }
    EXPECT_EQ(sides, (std::vector{576, 320, 192, 128}));
}

TEST(UNet, CountsItsOperations) {
    const UNet unet = load(randomUNet({16, 32, 64, 128, 256}, 1));
    EXPECT_NEAR(unet.flops({512, 512}) / 1e9, 24.26, 0.01);
}

TEST(UNet, RefusesWhatIsNotAUNet) {
    const ModelTensors good = randomUNet({4, 8, 16}, 1);
    EXPECT_EQ(refusal(good), "");

    ModelTensors missing = good;
    missing.erase("up2.conv1.weight");
    EXPECT_NE(refusal(missing).find("'up2.conv1.weight' is missing"), std::string::npos);

    ModelTensors stranger = good;
    stranger["extra"] = {{1}, {0}};
    EXPECT_NE(refusal(stranger).find("'extra' that no layer uses"), std::string::npos);

    ModelTensors shape = good;
    shape["down1.conv2.bias"] = {{3}, {0, 0, 0}};
    EXPECT_NE(refusal(shape).find("'down1.conv2.bias' has the wrong shape"), std::string::npos);

    ModelTensors kernel = good;
    kernel["down1.conv1.weight"] = {{4, 3, 5, 5}, std::vector<float>(300)};
    EXPECT_NE(refusal(kernel).find("wrong shape"), std::string::npos);

    ModelTensors chain = good;
    chain["down2.conv1.weight"] = {{8, 5, 3, 3}, std::vector<float>(360)};
    EXPECT_NE(refusal(chain).find("does not take what the layer before it gives"), std::string::npos);

    ModelTensors head = good;
    head["out.weight"] = {{2, 4, 1, 1}, std::vector<float>(8)};
    head["out.bias"] = {{2}, {0, 0}};
    EXPECT_NE(refusal(head).find("more than one channel"), std::string::npos);
}

TEST(UNet, RefusesNumbersThatAreNone) {
    ModelTensors nan = randomUNet({4, 8, 16}, 1);
    nan["up1.conv2.weight"].values[7] = NAN;
    EXPECT_NE(refusal(nan).find("NaN"), std::string::npos);
    ModelTensors negative = randomUNet({4, 8, 16}, 1);
    negative["down1.bn1.running_var"].values[0] = -1;
    EXPECT_NE(refusal(negative).find("negative"), std::string::npos);
    EXPECT_NE(refusal(randomUNet({4, 8, 16}, 1), {{"bn_eps", "5"}}).find("bn_eps"), std::string::npos);
    EXPECT_NE(refusal(randomUNet({4, 8, 16}, 1), {{"longest_side", "9"}}).find("longest_side"), std::string::npos);
    EXPECT_NE(refusal(randomUNet({4, 8, 16}, 1), {{"photo_side", "5000"}}).find("photo_side"), std::string::npos);
}

}  // namespace
}  // namespace matte
