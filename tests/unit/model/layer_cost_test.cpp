// SPDX-License-Identifier: Apache-2.0
// The costs that the timing overlay sets a layer's time against, counted by hand for a small network.
#include <algorithm>

#include <gtest/gtest.h>

#include "inference/model/layer_cost.h"
#include "tests/support/files/model_file.h"

namespace matte {
namespace {

constexpr Size kInput{16, 8};

class LayerCost : public testing::Test {
protected:
    [[nodiscard]] const Conv& layer(const std::string& name) const {
        for (const Conv& candidate : network_.layers()) {
            if (candidate.name == name) return candidate;
        }
        throw std::out_of_range(name);
    }
    UNet network_ = UNet::load(Safetensors::parse(
        test::encodeSafetensors(test::randomUNet({4, 8, 16}, 1), test::unetMetadata({4, 8, 16})), "small"));
};

TEST_F(LayerCost, CountsTheFirstConvolution) {
    const Conv& first = network_.layers().front();
    EXPECT_EQ(layerShape(network_, first, kInput), "3 -> 4, 3x3, 16x8");
    EXPECT_EQ(layerFlops(network_, first, kInput), 2.0 * 3 * 4 * 9 * 16 * 8);
    EXPECT_EQ(layerBytes(network_, first, kInput, 2), 2.0 * (3 * 4 * 9 + 4 + 16 * 8 * (3 + 4)));
}

TEST_F(LayerCost, CountsThePooledCopyAndTheSkipConnection) {
    const Conv& pooled = layer("down1.conv2");
    EXPECT_EQ(layerBytes(network_, pooled, kInput, 4), 4.0 * (4 * 4 * 9 + 4 + 16 * 8 * (4 + 4) + 8 * 4 * 4));
    const Conv& skip = layer("up2.conv1");
    EXPECT_EQ(layerShape(network_, skip, kInput), "4 + 4 -> 4, 3x3, 16x8");
    EXPECT_EQ(layerFlops(network_, skip, kInput), 2.0 * 8 * 4 * 9 * 16 * 8);
}

TEST_F(LayerCost, CountsUpSamplingByItsOutput) {
    const Conv& up = layer("up2.upconv");
    EXPECT_EQ(layerShape(network_, up, kInput), "8 -> 4, up 2x2, 16x8");
    EXPECT_EQ(layerFlops(network_, up, kInput), 2.0 * 8 * 4 * 16 * 8)
        << "each output has one tap of each input channel";
}

TEST(LayerCostOfBottlenecks, CountsWhatIsAddedAmongTheBytes) {
    const UNet network = UNet::load(Safetensors::parse(test::encodeSafetensors(test::randomMobileUNet(1)), "mobile"));
    const auto layer = [&](const std::string& name) { return *std::ranges::find(network.layers(), name, &Conv::name); };
    const Size input{32, 16};
    const Conv depthwise = layer("down3.block1.conv2"), pointwise = layer("down3.block2.conv3");
    EXPECT_EQ(layerShape(network, depthwise, input), "48 -> 48, depthwise 5x5 / 2, 8x4");
    EXPECT_EQ(layerFlops(network, depthwise, input), 2.0 * 25 * 48 * 8 * 4);
    EXPECT_EQ(layerShape(network, pointwise, input), "48 -> 12, 1x1 +, 8x4");
    EXPECT_EQ(layerBytes(network, pointwise, input, 2), 2.0 * (48 * 12 + 12 + (48 + 12 + 12) * 8 * 4));
}

TEST_F(LayerCost, AddsUpToTheNetwork) {
    double sum = 0;
    for (const Conv& each : network_.layers()) sum += layerFlops(network_, each, kInput);
    EXPECT_EQ(sum, network_.flops(kInput));
}

}  // namespace
}  // namespace matte
