// SPDX-License-Identifier: Apache-2.0
// The measured choice on a real device: legal, quick, remembered, the same for every slot.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>

#include "inference/cuda/conv/conv_tune.h"
#include "tests/gpu/gpu_case.h"
#include "tests/gpu/network_case.h"
#include "tests/support/files/scratch_folder.h"

namespace matte::test {
namespace {

using Clock = std::chrono::steady_clock;
using Choices = std::map<std::string, std::string>;

class Tuner : public testing::Test {
protected:
    /// What a new tuner chooses for every layer of a network, and how long it takes.
    std::chrono::duration<double> configure(Size size, std::vector<std::string>& choices) const {
        const auto weights = std::make_shared<const CudaWeights>(randomNetwork(32, 7), CudaNetwork::bestKernel());
        const auto tuner = std::make_shared<ConvTuner>(weights, file());
        CudaNetwork network(weights,
                            [tuner](const auto& shape, const auto& ranked) { return (*tuner)(shape, ranked); });
        const auto start = Clock::now();
        network.configure(size);
        choices = network.choices();
        return Clock::now() - start;
    }
    void expectSameMatte(const UNet& unet, Difference limit) const {
        const oracle::Activation input = oracle::noise(96, 128, 3, 8);
        const ConvKernel kernel = CudaNetwork::bestKernel();
        const auto weights = std::make_shared<const CudaWeights>(unet, kernel);
        const auto tuner = std::make_shared<ConvTuner>(weights, file());
        CudaNetwork ranked(weights),
            tuned(weights, [tuner](const auto&shape, const auto&configs) { return (*tuner)(shape, configs); });
        std::vector<float> results[2];
        int next = 0;
        for (CudaNetwork* network : {&ranked, &tuned}) {
            network->configure({128, 96});
            setInput(*network, kernel, input);
            const Stream stream;
            network->forward(stream.get());
            stream.wait();
            results[next++] = alphaOf(*network);
        }
        expectClose("alpha", difference(results[0], results[1]), limit);
    }
    [[nodiscard]] std::filesystem::path file() const { return folder_ / "kernels.json"; }
    ScratchFolder folder_;
};

TEST_F(Tuner, MeasuresOnceAndRemembers) {
    std::vector<std::string> measured, remembered;
    const auto first = configure({512, 288}, measured);
    ASSERT_TRUE(std::filesystem::exists(file()));
    std::filesystem::last_write_time(file(), std::filesystem::file_time_type::clock::now() - std::chrono::hours(24));
    const auto longAgo = std::filesystem::last_write_time(file());
    const auto second = configure({512, 288}, remembered);
    EXPECT_EQ(measured, remembered);
    EXPECT_EQ(std::filesystem::last_write_time(file()), longAgo) << "it was measured anew, and written";
    std::printf("tuning took %.0f ms, then %.1f ms\n", first.count() * 1e3, second.count() * 1e3);
}

TEST_F(Tuner, EveryLayerOfALargeInputHasAChoiceWhenTheTimeIsUp) {
    std::vector<std::string> choices;
    std::printf("tuning took %.0f ms\n", configure({1920, 1088}, choices).count() * 1e3);
    EXPECT_EQ(choices.size(), randomNetwork(32, 7).layers().size());
    EXPECT_EQ(std::ranges::count(choices, ""), 0);
}

TEST_F(Tuner, ATunedNetworkComputesTheSameMatte) {
    expectSameMatte(randomNetwork(16, 7), {1.2e-2, 5e-4});
}

TEST_F(Tuner, ATunedNetworkOfBottlenecksComputesTheSameMatte) {
    expectSameMatte(randomMobileNetwork(7), {0.1, 1e-3});  // halves cost it more: no ReLU ends a bottleneck
}

TEST_F(Tuner, AFullDeviceIsNoError) {
    const auto weights = std::make_shared<const CudaWeights>(randomNetwork(8, 7), CudaNetwork::bestKernel());
    ConvTuner tuner(weights, file());
    // A layer of this network, on a picture that no device holds.
    const ConvShape shape{ConvKind::conv3x3, 1, 1 << 17, 1 << 17, 8, 0, 8, true};
    const std::vector<ConvConfig> ranked = rankedConfigs(shape, DeviceFacts::current(), weights->kernel());
    EXPECT_EQ(tuner(shape, ranked), ranked.front());
}

}  // namespace
}  // namespace matte::test
