// SPDX-License-Identifier: Apache-2.0
// The whole network: the oracle and the CPU engine against what PyTorch computed, block by block, and the CPU engine
// against the oracle on other shapes.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/core/parallel.h"
#include "inference/cpu/cpu_network.h"
#include "inference/model/unet.h"
#include "tests/support/files/model_file.h"
#include "tests/support/pictures/oracle.h"

namespace matte {
namespace {

const std::string kData = MATTE_TEST_DATA;

struct Difference {
    double mean = 0, maximum = 0;
};

Difference difference(const std::vector<float>& expected, const std::vector<float>& actual) {
    EXPECT_EQ(expected.size(), actual.size());
    Difference result;
    for (std::size_t i = 0; i < std::min(expected.size(), actual.size()); ++i) {
        const double d = std::abs(double(expected[i]) - actual[i]);
        EXPECT_FALSE(std::isnan(d));
        result.mean += d / double(expected.size());
        result.maximum = std::max(result.maximum, d);
    }
    return result;
}

/// PyTorch's values, and for each block the tensor of ours that holds the same.
class PyTorch : public testing::TestWithParam<std::string> {
protected:
    const UNet unet_ = UNet::load(Safetensors::read(kData + "/" + GetParam() + ".safetensors"));
    const Safetensors dump_ = Safetensors::read(kData + "/" + GetParam() + "_activations.safetensors");

    [[nodiscard]] const Safetensors::Tensor& dumped(const std::string& name) const {
        return dump_.tensors().find(name)->second;
    }
    [[nodiscard]] oracle::Activation input() const {
        const auto& tensor = dumped("input");
        oracle::Activation input(int(tensor.shape[0]), int(tensor.shape[1]), 3);
        input.values = tensor.values;
        return input;
    }
    /// Of the mean difference: one network is three times as deep as the other.
    [[nodiscard]] static double limit() { return GetParam() == "unet_mobile" ? 3e-6 : 1e-6; }
    /// "down1" is what its last layer writes; "out" is the head itself.
    [[nodiscard]] std::map<std::string, int> blocks() const {
        std::map<std::string, int> result;
        for (const Conv& layer : unet_.layers()) result[layer.name.substr(0, layer.name.find('.'))] = layer.out;
        return result;
    }
    [[nodiscard]] CpuNetwork ran(CpuPrecision precision) const {
        CpuNetwork network(unet_, precision);
        const oracle::Activation in = input();
        network.configure({in.width, in.height});
        std::ranges::copy(in.values, network.input());
        network.run();
        return network;
    }
};

TEST_P(PyTorch, DumpHoldsEveryBlock) {
    EXPECT_EQ(dump_.tensors().size(), blocks().size() + 1);  // and the input
    for (const auto& [block, index] : blocks()) EXPECT_TRUE(dump_.tensors().contains(block)) << block;
}

TEST_P(PyTorch, OracleAgreesOnEveryBlock) {
    const auto tensors = oracle::run(unet_, input());
    for (const auto& [block, index] : blocks()) {
        const Difference d = difference(dumped(block).values, tensors[std::size_t(index)].values);
        EXPECT_LE(d.mean, limit()) << block;
        EXPECT_LE(d.maximum, 1e-4) << block;
    }
}

TEST_P(PyTorch, CpuF32AgreesOnEveryBlock) {
    const CpuNetwork network = ran(CpuPrecision::f32);
    for (const auto& [block, index] : blocks()) {
        const Difference d = difference(dumped(block).values, network.activation(index));
        std::printf("%-6s mean %.2e maximum %.2e\n", block.c_str(), d.mean, d.maximum);
        EXPECT_LE(d.mean, limit()) << block;
        EXPECT_LE(d.maximum, 1e-4) << block;
    }
}

TEST_P(PyTorch, CpuBf16AgreesAtTheOutput) {
    if (!CpuNetwork::supports(CpuPrecision::bf16)) GTEST_SKIP() << "this processor has no bf16 arithmetic";
    const CpuNetwork network = ran(CpuPrecision::bf16);
    const Difference d = difference(dumped("out").values, network.activation(unet_.layers().back().out));
    std::printf("bf16 out: mean %.2e maximum %.2e\n", d.mean, d.maximum);
    EXPECT_LE(d.mean, 2e-3);
}

INSTANTIATE_TEST_SUITE_P(Networks, PyTorch, testing::Values("unet_small", "unet_mobile"));

Safetensors random(const std::vector<int>& widths, std::uint32_t seed) {
    return Safetensors::parse(test::encodeSafetensors(test::randomUNet(widths, seed)), "random");
}

struct Shape {
    std::vector<int> widths;
    Size size;
};

class CpuAgainstOracle : public testing::TestWithParam<Shape> {};

void expectTheOraclesTensors(const UNet& unet, Size size) {
    const oracle::Activation in = oracle::noise(size.height, size.width, 3, 11);
    const auto expected = oracle::run(unet, in);
    CpuNetwork network(unet, CpuPrecision::f32);
    network.configure(size);
    network.checkMemory();
    std::ranges::copy(in.values, network.input());
    network.run();
    for (std::size_t i = 1; i < expected.size(); ++i) {
        EXPECT_LE(oracle::nmse(expected[i].values, network.activation(int(i))), 1e-10) << unet.tensors()[i].name;
    }
}

TEST_P(CpuAgainstOracle, EveryTensor) {
    expectTheOraclesTensors(UNet::load(random(GetParam().widths, 7)), GetParam().size);
}

INSTANTIATE_TEST_SUITE_P(Shapes,
                         CpuAgainstOracle,
                         testing::Values(Shape{{4, 8, 16}, {4, 4}},                // one pixel at the deepest level
                                         Shape{{3, 5, 7}, {12, 20}},               // widths that no vector divides
                                         Shape{{16, 32, 32, 64}, {24, 16}},        // widths that do, one of them twice
                                         Shape{{8, 8, 12, 12, 16, 16}, {64, 32}},  // six levels
                                         Shape{{8, 8, 12, 12, 16, 12, 8}, {128, 64}}  // seven levels, narrower below
                                         ));

TEST(CpuNetwork, RunsEncodersOfBottlenecksAsTheOracleDoes) {
    const UNet unet = UNet::load(Safetensors::parse(test::encodeSafetensors(test::randomMobileUNet(7)), "mobile"));
    for (const Size size : {Size{16, 16}, Size{48, 32}}) expectTheOraclesTensors(unet, size);
}

// Large enough for several tasks a layer; rows that no number of tasks divides, and one thread without tasks beside it.
TEST(CpuNetwork, GivesTheOraclesTensorsWithAnyNumberOfThreads) {
    const UNet plain = UNet::load(random({16, 24, 32}, 3));
    const UNet mobile = UNet::load(Safetensors::parse(test::encodeSafetensors(test::randomMobileUNet(7)), "mobile"));
    for (const int count : {1, 2, 5}) {
        setThreads(count);
        expectTheOraclesTensors(plain, {100, 76});
        expectTheOraclesTensors(mobile, {208, 176});
    }
    setThreads(0);
}

TEST(CpuNetwork, IsTheSameToTheBitWithAnyNumberOfThreads) {
    const UNet unet = UNet::load(random({16, 24, 32}, 3));
    std::vector<std::vector<float>> alphas;
    for (const int count : {1, 2, 3, 7}) {
        setThreads(count);
        CpuNetwork network(unet, CpuPrecision::f32);
        network.configure({100, 76});
        std::ranges::copy(oracle::noise(76, 100, 3, 5).values, network.input());
        network.run();
        alphas.emplace_back(network.alpha(), network.alpha() + 100 * 76);
    }
    setThreads(0);
    for (const auto& alpha : alphas) EXPECT_EQ(alpha, alphas.front());
}

TEST(CpuNetwork, GivesTheSameAfterItsSizeChangedTwice) {
    const UNet unet = UNet::load(random({4, 8, 16}, 3));
    CpuNetwork network(unet, CpuPrecision::f32);
    const auto alphaAt = [&](Size size) {
        const oracle::Activation in = oracle::noise(size.height, size.width, 3, 5);
        network.configure(size);
        std::ranges::copy(in.values, network.input());
        network.run();
        return std::vector<float>(network.alpha(), network.alpha() + size.pixels());
    };
    const auto first = alphaAt({16, 8});
    alphaAt({8, 24});
    EXPECT_EQ(first, alphaAt({16, 8}));
}

TEST(CpuNetwork, ASizeThatFailedIsNotTakenForBuilt) {
    CpuNetwork network(UNet::load(random({4, 8, 16}, 3)), CpuPrecision::f32);
    network.configure({16, 8});
    for (int attempt = 0; attempt < 2; ++attempt) EXPECT_THROW(network.configure({16, -8}), Error);
    network.configure({16, 8});
    std::fill_n(network.input(), 16 * 8 * 3, 0.5F);
    network.run();
    EXPECT_TRUE(std::all_of(network.alpha(), network.alpha() + 16 * 8, [](float a) { return a > 0 && a < 1; }));
}

TEST(CpuNetwork, StopsBetweenLayersWhenAsked) {
    const UNet unet = UNet::load(random({4, 8, 16}, 3));
    CpuNetwork network(unet, CpuPrecision::f32);
    network.configure({16, 16});
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(network.run(stop.get_token()), Cancelled);
}

TEST(CpuNetwork, SaysWhichImplementationRunsEachLayer) {
    const UNet unet = UNet::load(random({16, 32, 64}, 3));
    CpuNetwork network(unet, CpuPrecision::f32);
    network.configure({32, 32});
    EXPECT_GE(network.implementations().size(), unet.layers().size());
    for (const std::string& line : network.implementations()) EXPECT_NE(line.find(": "), std::string::npos) << line;
}

}  // namespace
}  // namespace matte
