// SPDX-License-Identifier: Apache-2.0
// Every baseline against the scalar oracle: single blocks and whole networks. What a machine can't run is
// skipped with the reason.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "inference/baselines/baselines.h"
#include "inference/baselines/memory.h"
#include "inference/core/error.h"
#include "tests/support/engines/baseline_case.h"
#include "tests/support/files/model_file.h"
#include "tests/support/pictures/oracle.h"

namespace matte::baselines {

/// For the tests' names.
void PrintTo(const Implementation& implementation, std::ostream* out) {
    *out << implementation.name;
}

namespace {

class EveryImplementation : public testing::TestWithParam<Implementation> {
protected:
    void SetUp() override {
        if (const std::string why = whyUnavailable(GetParam()); !why.empty()) GTEST_SKIP() << why;
    }
};

TEST_P(EveryImplementation, RunsABlockAsTheOracleDoes) {
    if (!GetParam().block) GTEST_SKIP() << "whole networks only";
    const Shape shapes[] = {
        {1, 3, 32, 48},   // a network's first layer
        {2, 16, 17, 33},  // nothing that a tile divides
        {1, 40, 1, 1},    // one pixel
        {3, 7, 5, 200},   // channels that no vector divides
        {1, 130, 14, 14}  // more channels than a slice
    };
    for (const Shape& shape : shapes) {
        for (const int outChannels : {1, 18, 70}) {
            const test::BlockCase layer(shape, outChannels, true, 5);
            const auto made = makeBlock(GetParam(), layer.block, shape);
            const auto actual = runLayer(*made, GetParam().where, layer.input, layer.expected.size());
            EXPECT_LE(oracle::nmse(layer.expected, actual), GetParam().nmse)
                << shape.batch << "x" << shape.channels << "x" << shape.height << "x" << shape.width << " -> "
                << outChannels;
        }
    }
}

TEST_P(EveryImplementation, RunsANetworkAsTheOracleDoes) {
    if (!GetParam().network) GTEST_SKIP() << "single layers only";
    for (const auto& [widths, size] :
         {std::pair{std::vector{4, 8, 16}, Size{20, 12}}, std::pair{std::vector{6, 10, 16, 24, 32}, Size{48, 64}}}) {
        const auto model = std::make_shared<const Model>(Model::random(widths, 3));
        const oracle::Activation input = oracle::noise(size.height, size.width, 3, 4);
        const auto expected = oracle::run(model->unet, input);
        const auto network = makeNetwork(GetParam(), model);
        network->configure(size);
        std::vector<float> alpha(size.pixels());
        network->run(input.values, alpha);
        // Alpha is squeezed into 0 to 1 by the sigmoid: halves show less there than inside.
        EXPECT_LE(oracle::nmse(expected.back().values, alpha), GetParam().nmse);
        for (std::size_t i = 1; i < expected.size(); ++i) {
            const auto actual = network->activation(int(i));
            if (actual.empty()) continue;
            EXPECT_LE(oracle::nmse(expected[i].values, actual), GetParam().nmse) << model->unet.tensors()[i].name;
        }
    }
}

TEST_P(EveryImplementation, GivesTheSameAfterItsSizeChangedTwice) {
    if (!GetParam().network) GTEST_SKIP() << "single layers only";
    const auto model = std::make_shared<const Model>(Model::random({4, 8, 16}, 3));
    const auto network = makeNetwork(GetParam(), model);
    const auto alphaAt = [&](Size size) {
        network->configure(size);
        std::vector<float> alpha(size.pixels());
        network->run(oracle::noise(size.height, size.width, 3, 5).values, alpha);
        return alpha;
    };
    const auto first = alphaAt({16, 8});
    alphaAt({8, 24});
    EXPECT_EQ(first, alphaAt({16, 8}));
}

INSTANTIATE_TEST_SUITE_P(Baselines,
                         EveryImplementation,
                         testing::ValuesIn(implementations().begin(), implementations().end()),
                         [](const auto& i) {
                             std::string name(i.param.name);
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

TEST(Implementations, AreFoundByName) {
    for (const Implementation& implementation : implementations())
        EXPECT_EQ(implementationNamed(implementation.name).title, implementation.title);
    EXPECT_THROW(implementationNamed("cpu-magic"), Error);
}

TEST(Implementations, RefuseWhatTheyCanNotRun) {
    const auto model = std::make_shared<const Model>(Model::random({4, 8, 16}, 3));
    EXPECT_THROW(makeBlock(implementationNamed("cpu-onednn"), model->blocks.front(), {1, 3, 8, 8}), Error);
    EXPECT_THROW(makeNetwork(implementationNamed("gpu-cudnn"), model), Error);
}

TEST(Implementations, RefuseARecurrentNetworkWithAClearSentence) {
    const auto bytes = test::encodeSafetensors(test::withCells(test::randomUNet({4, 8, 16}, 1), {"up1"}, 2));
    const auto model = std::make_shared<const Model>(Model::load(Safetensors::parse(bytes, "recurrent")));
    for (const char* name : {"cpu-sequential", "cpu-onednn"}) {
        try {
            makeNetwork(implementationNamed(name), model);
            ADD_FAILURE() << name << " ran it";
        } catch (const Error& error) {
            EXPECT_EQ(error.category, ErrorCategory::model);
            EXPECT_STREQ(error.what(),
                         "The model 'recurrent' is recurrent, and no other implementation runs recurrent networks: "
                         "choose another model.");
        }
    }
}

TEST(Folding, GivesWhatTheSeparateLayersGive) {
    const Shape shape{2, 5, 9, 11};
    const test::BlockCase layer(shape, 12, true, 8);
    Block once{folded(layer.block), {}, true};
    const auto made = makeSequential(once, shape);
    EXPECT_LE(oracle::nmse(layer.expected, runLayer(*made, Where::cpu, layer.input, layer.expected.size())), 1e-12);
}

TEST(Folding, IsTheNetworksOwn) {
    const Model model = Model::random({4, 8, 16}, 3);
    for (std::size_t i = 0; i < model.blocks.size(); ++i) {
        const Filter mine = folded(model.blocks[i]), &theirs = model.unet.layers()[i].filter;
        EXPECT_EQ(mine.weights, theirs.weights) << model.unet.layers()[i].name;
        EXPECT_EQ(mine.bias, theirs.bias) << model.unet.layers()[i].name;
    }
}

/// Copies of one run, all blocks together.
BlockTransfers transfersOf(const char* implementation) {
    const auto network =
        makeNetwork(implementationNamed(implementation), std::make_shared<const Model>(Model::random({4, 8, 16}, 3)));
    network->configure({16, 16});
    std::vector<float> alpha(256);
    const RunReport report = network->run(oracle::noise(16, 16, 3, 5).values, alpha);
    BlockTransfers sum{"all", 0, 0};
    for (const BlockTransfers& block : report.transfers) sum.in += block.in, sum.out += block.out;
    return sum;
}

TEST(Progress, IsToldOfTheRunUnderWay) {
    const auto model = std::make_shared<const Model>(Model::random({4, 8, 16}, 3));
    const auto network = makeNetwork(implementationNamed("cpu-sequential"), model);
    network->configure({20, 12});
    const std::vector<float> input(std::size_t(20 * 12 * 3), 0.5F);
    std::vector<float> alpha(std::size_t(20 * 12));
    network->run(input, alpha);
    EXPECT_NEAR(network->begun(), 1, 1e-9);
    std::stop_source stop;
    stop.request_stop();
    network->stopBy(stop.get_token());
    EXPECT_THROW(network->run(input, alpha), Cancelled);
    EXPECT_EQ(network->begun(), 0);
}

TEST(Transfers, AreCounted) {
    if (const auto why = whyUnavailable(implementationNamed("gpu-direct")); !why.empty()) GTEST_SKIP() << why;
    // 10 convolutions of three steps, 2 poolings, 2 transposed convolutions and the head.
    EXPECT_EQ(transfersOf("gpu-direct").in, 35);
    EXPECT_EQ(transfersOf("gpu-direct").out, 35);
    EXPECT_EQ(transfersOf("gpu-fused").in, 15);
    EXPECT_EQ(transfersOf("gpu-resident").in, 1);
    EXPECT_EQ(transfersOf("gpu-resident").out, 0);
    EXPECT_EQ(transfersOf("gpu-mma").in, 1);
    EXPECT_EQ(transfersOf("gpu-mma").out, 0);
}

TEST(Fused, GivesTheSeparateKernelsBits) {
    if (const auto why = whyUnavailable(implementationNamed("gpu-fused")); !why.empty()) GTEST_SKIP() << why;
    const Shape shape{2, 19, 30, 45};
    const test::BlockCase layer(shape, 33, true, 8);
    const auto run = [&](const char* name) {
        const auto made = makeBlock(implementationNamed(name), layer.block, shape);
        return runLayer(*made, Where::gpu, layer.input, layer.expected.size());
    };
    const auto direct = run("gpu-direct");
    EXPECT_EQ(direct, run("gpu-tiled-plain"));
    EXPECT_EQ(direct, run("gpu-tiled"));
    EXPECT_EQ(direct, run("gpu-fused"));
}

}  // namespace
}  // namespace matte::baselines
