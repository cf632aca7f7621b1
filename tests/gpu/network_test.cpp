// SPDX-License-Identifier: Apache-2.0
// Whole networks on the GPU against the scalar oracle, and the same bits however they are launched.
#include <cuda_fp16.h>

#include <algorithm>
#include <sstream>

#include "tests/gpu/gpu_case.h"
#include "tests/gpu/network_case.h"

namespace matte::test {
namespace {

struct NetworkSize {
    std::vector<int> widths;  ///< none: a network with bottlenecks
    Size size;
    unsigned seed;
};

using KernelAndSize = std::tuple<ConvKernel, NetworkSize>;

class Network : public testing::Test, public testing::WithParamInterface<KernelAndSize> {
protected:
    void SetUp() override {
        if (const std::string reason = whyNot(kernel()); !reason.empty()) GTEST_SKIP() << reason;
        input_ = oracle::noise(size().height, size().width, 3, std::get<1>(GetParam()).seed + 1);
    }
    [[nodiscard]] static ConvKernel kernel() { return std::get<0>(GetParam()); }
    [[nodiscard]] static Size size() { return std::get<1>(GetParam()).size; }
    [[nodiscard]] static UNet unet() {
        const NetworkSize& network = std::get<1>(GetParam());
        return network.widths.empty() ? randomMobileNetwork(network.seed) : randomNetwork(network.widths, network.seed);
    }
    [[nodiscard]] CudaNetwork configured(CudaNetwork::Choose choose = CudaNetwork::chooseFirst) const {
        CudaNetwork network(unet(), kernel(), std::move(choose));
        network.configure(size());
        setInput(network, kernel(), input_);
        return network;
    }
    static std::vector<float> runEagerly(const CudaNetwork& network) {
        const Stream stream;
        network.forward(stream.get());
        stream.wait();
        return alphaOf(network);
    }
    oracle::Activation input_;
};

float keptAsHalf(float value) {
    return __half2float(__float2half_rn(value));
}

TEST_P(Network, AlphaIsCloseToTheOracle) {
    const std::vector<float> expected = oracle::run(unet(), input_).back().values;
    const std::vector<float> found = runEagerly(configured());
    if (kernel() == ConvKernel::fp32) {
        EXPECT_LE(oracle::nmse(expected, found), 1e-10);
    } else {
        // Random weights leave alpha grey, where keeping halves costs most; a trained network's alpha loses a tenth of
        // it. Where one rounding falls otherwise than the oracle's, many behind it do: in a deep network that costs
        // more.
        const Difference halves = difference(expected, oracle::run(unet(), input_, keptAsHalf).back().values);
        const bool deep = std::get<1>(GetParam()).widths.empty();
        expectClose(
            "alpha", difference(expected, found),
            {deep ? std::max(1.2e-2, 2 * halves.maximum) : 1.2e-2, std::max(5e-4, (deep ? 1.2 : 1.1) * halves.mean)});
    }
}

TEST_P(Network, AGraphRepeatsTheEagerRunBitForBit) {
    const CudaNetwork network = configured();
    const std::vector<float> eager = runEagerly(network);
    const Stream stream;
    const Graph graph(stream.get(), [&] { network.forward(stream.get()); });
    for (int i = 0; i < repeats(20); ++i) {
        graph.launch(stream.get());
        stream.wait();
        ASSERT_EQ(alphaOf(network), eager) << "launch " << i;
    }
}

TEST_P(Network, TimedLayersGiveTheSameBits) {
    const CudaNetwork network = configured();
    const std::vector<float> together = runEagerly(network);
    const Stream stream;
    int layers = 0;
    network.forward(stream.get(), [&](int layer) { EXPECT_EQ(layer, layers++); });
    stream.wait();
    EXPECT_EQ(layers, int(unet().layers().size()));
    EXPECT_EQ(alphaOf(network), together);
}

TEST_P(Network, TwoNetworksThatShareWeightsGiveTheSameBits) {
    const auto weights = std::make_shared<const CudaWeights>(unet(), kernel());
    std::vector<float> results[2];
    CudaNetwork a(weights), b(weights);
    int next = 0;
    for (CudaNetwork* network : {&a, &b}) {
        network->configure(size());
        setInput(*network, kernel(), input_);
        results[next++] = runEagerly(*network);
    }
    EXPECT_EQ(results[0], results[1]);
}

TEST_P(Network, ASizeInBetweenLeavesNothingBehind) {
    CudaNetwork network = configured();
    const std::vector<float> before = runEagerly(network);
    network.configure({size().width * 2, size().height * (brief() ? 1 : 3)});
    runEagerly(network);
    network.configure(size());
    setInput(network, kernel(), input_);
    EXPECT_EQ(runEagerly(network), before);
}

TEST_P(Network, AConfigurationThatFailedHalfwayIsMadeAnew) {
    const std::vector<float> expected = runEagerly(configured());
    int layers = 0;
    CudaNetwork network(unet(), kernel(), [&](const ConvShape&, const std::vector<ConvConfig>& ranked) {
        if (++layers == 3) throw CudaError(cudaErrorMemoryAllocation, "a test");
        return ranked.front();
    });
    EXPECT_THROW(network.configure(size()), CudaError);
    network.configure(size());
    setInput(network, kernel(), input_);
    EXPECT_EQ(runEagerly(network), expected);
}

std::string nameOfNetwork(const testing::TestParamInfo<KernelAndSize>& info) {
    const auto& [kernel, network] = info.param;
    std::ostringstream name;
    name << nameOf(kernel);
    if (network.widths.empty()) name << "_bottlenecks";
    for (const int width : network.widths) name << '_' << width;
    name << "_at_" << text(network.size);
    return name.str();
}

INSTANTIATE_TEST_SUITE_P(Kernels,
                         Network,
                         testing::Combine(testing::ValuesIn(kKernels),
                                          testing::Values(NetworkSize{{8, 16, 32, 64, 128}, {16, 16}, 2},
                                                          NetworkSize{{12, 24, 48, 96, 192}, {80, 32}, 3},
                                                          NetworkSize{{16, 32, 64, 128, 256}, {64, 48}, 1},
                                                          NetworkSize{{32, 64, 128, 256, 512}, {96, 64}, 4},
                                                          NetworkSize{{16, 32, 64}, {12, 20}, 5},
                                                          NetworkSize{{64, 96, 128}, {36, 20}, 6},
                                                          NetworkSize{{32, 64, 128, 192, 256, 352}, {96, 64}, 7},
                                                          NetworkSize{{16, 32, 64, 64, 80, 56, 48}, {128, 64}, 9},
                                                          NetworkSize{{32, 64, 128, 192, 256, 192, 112}, {128, 64}, 8},
                                                          NetworkSize{{}, {16, 16}, 10},
                                                          NetworkSize{{}, {80, 48}, 11},
                                                          NetworkSize{{}, {128, 64}, 12})),
                         nameOfNetwork);

}  // namespace
}  // namespace matte::test
