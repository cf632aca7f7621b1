// SPDX-License-Identifier: Apache-2.0
// A network with ConvGRU cells over the frames of a sequence: the oracle and the CPU engine against what PyTorch
// computed, and the CPU engine against the oracle on other shapes.
#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "inference/core/parallel.h"
#include "inference/cpu/cpu_network.h"
#include "inference/model/unet.h"
#include "tests/support/files/model_file.h"
#include "tests/support/pictures/oracle.h"

namespace matte {
namespace {

const std::string kData = MATTE_TEST_DATA;

/// What the oracle and the CPU engine differ by from PyTorch, at the most of all pixels and frames.
constexpr double kLimit = 2e-5;

double largest(const std::vector<float>& expected, const std::vector<float>& actual) {
    EXPECT_EQ(expected.size(), actual.size());
    double difference = 0;
    for (std::size_t i = 0; i < std::min(expected.size(), actual.size()); ++i) {
        EXPECT_TRUE(std::isfinite(actual[i]));
        difference = std::max(difference, std::abs(double(expected[i]) - actual[i]));
    }
    return difference;
}

class RecurrentPyTorch : public testing::Test {
protected:
    const UNet unet_ = UNet::load(Safetensors::read(kData + "/unet_recurrent.safetensors"));
    const Safetensors dump_ = Safetensors::read(kData + "/unet_recurrent_frames.safetensors");

    [[nodiscard]] const Safetensors::Tensor& dumped(const std::string& name) const {
        return dump_.tensors().find(name)->second;
    }
    [[nodiscard]] int frames() const { return int(dumped("frames").shape[0]); }
    [[nodiscard]] Size size() const { return {int(dumped("frames").shape[2]), int(dumped("frames").shape[1])}; }
    [[nodiscard]] std::vector<float> part(const std::string& name, int frame) const {
        const auto& values = dumped(name).values;
        const auto each = std::ptrdiff_t(values.size()) / frames();
        return {values.begin() + frame * each, values.begin() + (frame + 1) * each};
    }
    [[nodiscard]] oracle::Activation frame(int number) const {
        oracle::Activation input(size().height, size().width, 3);
        input.values = part("frames", number);
        return input;
    }
    [[nodiscard]] const std::vector<float>& lastState(const ConvGru& cell) const {
        return dumped(unet_.tensors()[std::size_t(cell.state)].name).values;
    }
};

TEST_F(RecurrentPyTorch, OracleAgreesOnEveryFrame) {
    ASSERT_EQ(frames(), 16);
    ASSERT_EQ(unet_.cells().size(), 2U);
    oracle::States states;
    for (int i = 0; i < frames(); ++i) {
        const auto tensors = oracle::run(unet_, frame(i), nullptr, &states);
        EXPECT_LE(largest(part("mattes", i), tensors.back().values), kLimit) << "frame " << i;
    }
    for (std::size_t i = 0; i < states.size(); ++i) {
        EXPECT_LE(largest(lastState(unet_.cells()[i]), states[i].values), kLimit) << "cell " << i;
    }
}

TEST_F(RecurrentPyTorch, CpuF32AgreesOnEveryFrame) {
    CpuNetwork network(unet_, CpuPrecision::f32);
    network.configure(size());
    network.checkMemory();
    for (int i = 0; i < frames(); ++i) {
        std::ranges::copy(frame(i).values, network.input());
        network.run();
        EXPECT_LE(largest(part("mattes", i), {network.alpha(), network.alpha() + size().pixels()}), kLimit)
            << "frame " << i;
    }
    for (const ConvGru& cell : unet_.cells()) {
        EXPECT_LE(largest(lastState(cell), network.activation(cell.state)), kLimit);
    }
}

TEST_F(RecurrentPyTorch, CpuBf16AgreesOnEveryFrame) {
    if (!CpuNetwork::supports(CpuPrecision::bf16)) GTEST_SKIP() << "this processor has no bf16 arithmetic";
    CpuNetwork network(unet_, CpuPrecision::bf16);
    network.configure(size());
    network.checkMemory();
    for (int i = 0; i < frames(); ++i) {
        std::ranges::copy(frame(i).values, network.input());
        network.run();
        EXPECT_LE(largest(part("mattes", i), {network.alpha(), network.alpha() + size().pixels()}), 3e-2)
            << "frame " << i;
    }
}

TEST_F(RecurrentPyTorch, TheStateMatters) {
    const auto alone = oracle::run(unet_, frame(frames() - 1)).back().values;
    EXPECT_GT(largest(part("mattes", frames() - 1), alone), 100 * kLimit);
}

struct RecurrentShape {
    std::vector<int> widths;
    std::vector<std::string> levels;  ///< of the decoder, that have cells
    Size size;
    int threads;
};

class RecurrentCpu : public testing::TestWithParam<RecurrentShape> {
protected:
    ~RecurrentCpu() override { setThreads(0); }
    static UNet unet() {
        const auto tensors = test::withCells(test::randomUNet(GetParam().widths, 7), GetParam().levels, 8);
        return UNet::load(Safetensors::parse(test::encodeSafetensors(tensors), "random"));
    }
};

TEST_P(RecurrentCpu, GivesTheOraclesTensorsInEveryFrame) {
    setThreads(GetParam().threads);
    const UNet network = unet();
    const Size size = GetParam().size;
    CpuNetwork cpu(network, CpuPrecision::f32);
    cpu.configure(size);
    cpu.checkMemory();
    oracle::States states;
    for (unsigned frame = 0; frame < 4; ++frame) {
        const oracle::Activation in = oracle::noise(size.height, size.width, 3, 11 + frame);
        const auto expected = oracle::run(network, in, nullptr, &states);
        std::ranges::copy(in.values, cpu.input());
        cpu.run();
        for (std::size_t i = 1; i < expected.size(); ++i) {
            EXPECT_LE(oracle::nmse(expected[i].values, cpu.activation(int(i))), 1e-10)
                << network.tensors()[i].name << " of frame " << frame;
        }
    }
}

TEST_P(RecurrentCpu, IsTheSameToTheBitFromTheSameState) {
    setThreads(GetParam().threads);
    const Size size = GetParam().size;
    CpuNetwork cpu(unet(), CpuPrecision::f32);
    cpu.configure(size);
    const auto run = [&](unsigned frame) {
        std::ranges::copy(oracle::noise(size.height, size.width, 3, 11 + frame).values, cpu.input());
        cpu.run();
        return std::vector<float>(cpu.alpha(), cpu.alpha() + size.pixels());
    };
    EXPECT_TRUE(std::ranges::all_of(cpu.state(), [](float value) { return value == 0; }));
    run(0);
    const std::vector<float> kept(cpu.state().begin(), cpu.state().end());
    const auto second = run(1);
    run(2);
    std::ranges::copy(kept, cpu.state().begin());
    EXPECT_EQ(run(1), second);
    std::ranges::fill(cpu.state(), 0.0F);
    EXPECT_NE(run(1), second);
}

TEST_P(RecurrentCpu, WithoutCandidatesIsTheNetworkWithoutCellsToTheBit) {
    setThreads(GetParam().threads);
    const Size size = GetParam().size;
    const auto plain = test::randomUNet(GetParam().widths, 7);
    const auto celled = test::withoutCandidates(test::withCells(plain, GetParam().levels, 8));
    const auto network = [&](const test::ModelTensors& tensors) {
        CpuNetwork cpu(UNet::load(Safetensors::parse(test::encodeSafetensors(tensors), "random")), CpuPrecision::f32);
        cpu.configure(size);
        return cpu;
    };
    CpuNetwork without = network(plain), with = network(celled);
    for (unsigned frame = 0; frame < 3; ++frame) {
        for (CpuNetwork* cpu : {&without, &with}) {
            std::ranges::copy(oracle::noise(size.height, size.width, 3, 11 + frame).values, cpu->input());
            cpu->run();
        }
        EXPECT_TRUE(std::equal(with.alpha(), with.alpha() + size.pixels(), without.alpha())) << "frame " << frame;
        EXPECT_TRUE(std::ranges::all_of(with.state(), [](float value) { return value == 0; }));
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes,
                         RecurrentCpu,
                         testing::Values(RecurrentShape{{4, 8, 16}, {"up1"}, {4, 4}, 1},
                                         RecurrentShape{{6, 10, 16}, {"up1", "up2"}, {20, 12}, 2},
                                         RecurrentShape{{16, 32, 32, 64}, {"up1", "up3"}, {24, 16}, 3},
                                         RecurrentShape{{16, 24, 32}, {"up1", "up2"}, {100, 76}, 1},
                                         RecurrentShape{{16, 24, 32}, {"up1", "up2"}, {100, 76}, 5}));

}  // namespace
}  // namespace matte
