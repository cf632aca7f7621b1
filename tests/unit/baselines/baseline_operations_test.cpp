// SPDX-License-Identifier: Apache-2.0
// The baselines' operations against PyTorch's values (tests/reference/dump_baselines.py) and against rules worked out
// by hand, on the CPU and, where there is one, on the GPU.
#include <cmath>

#include <gtest/gtest.h>

#include "inference/baselines/ops/digits.h"
#include "inference/core/error.h"
#include "inference/cuda/device/devices.h"
#include "tests/support/pictures/oracle.h"

namespace matte::baselines {
namespace {

const std::string kData = MATTE_TEST_DATA;

const Safetensors& dump() {
    static const Safetensors file = Safetensors::read(kData + "/operations.safetensors");
    return file;
}

const std::vector<float>& values(const std::string& name) {
    return dump().tensors().at(name).values;
}

const Tensor& input() {
    static const Tensor tensor{{2, 3, 11, 14}, values("in")};
    return tensor;
}

class Operations : public testing::TestWithParam<Where> {
protected:
    void SetUp() override {
        if (GetParam() == Where::cpu) return;
        if (const std::string why = queryCuda().unavailable; !why.empty()) GTEST_SKIP() << why;
    }
    /// PyTorch's own value of the name, in shape and in numbers.
    static void expectDumped(const std::string& name, const Tensor& actual) {
        const auto& expected = dump().tensors().at(name);
        const Shape& shape = actual.shape;
        std::vector<std::int64_t> sides{shape.batch, shape.channels, shape.height, shape.width};
        sides.resize(expected.shape.size());
        EXPECT_EQ(sides, expected.shape) << name;
        EXPECT_LE(oracle::nmse(expected.values, actual.values), 1e-12) << name;
    }
    [[nodiscard]] Tensor conv(const Window& window) const {
        return conv2d(input(), {4, values("weight"), values("bias")}, window, GetParam());
    }
};

TEST_P(Operations, ConvolvesWithPaddingStrideAndDilation) {
    expectDumped("conv_plain", conv({3, 5, 0, 0, 0, 0, 1, 1, 1, 1}));
    expectDumped("conv_padded", conv({3, 5, 1, 2, 1, 2, 1, 1, 1, 1}));
    expectDumped("conv_strided", conv({3, 5, 0, 0, 0, 0, 2, 3, 1, 1}));
    expectDumped("conv_dilated", conv({3, 5, 0, 0, 0, 0, 1, 1, 3, 2}));
    expectDumped("conv_everything", conv({3, 5, 2, 1, 2, 1, 2, 1, 2, 3}));
}

TEST_P(Operations, PadsAsTensorFlowDoes) {
    for (const auto& [stride, dilation] : {std::pair{1, 1}, {2, 1}, {3, 1}, {1, 2}}) {
        const Window window = windowFor(Padding::same, input().shape, 3, 5, stride, dilation);
        expectDumped("conv_same_" + std::to_string(stride) + "_" + std::to_string(dilation), conv(window));
    }
    expectDumped("conv_plain", conv(windowFor(Padding::valid, input().shape, 3, 5, 1, 1)));
}

TEST(SamePadding, HasItsOddHalfBehind) {
    // TensorFlow's own example: 'same' of width 13 with a kernel of 6 and stride 5 pads one before and two behind.
    const Window window = windowFor(Padding::same, {1, 1, 13, 13}, 6, 6, 5, 1);
    EXPECT_EQ(window.left, 1);
    EXPECT_EQ(window.right, 2);
    EXPECT_EQ(window.outWidth(13), 3);
    EXPECT_EQ(windowFor(Padding::valid, {1, 1, 13, 13}, 6, 6, 5, 1).outWidth(13), 2);
}

TEST_P(Operations, Pools) {
    const Where where = GetParam();
    expectDumped("max_pool", maxPool2d(input(), {2, 3, 0, 0, 0, 0, 2, 1, 1, 1}, where));
    expectDumped("max_pool_padded", maxPool2d(input(), {3, 3, 1, 1, 1, 1, 2, 2, 2, 2}, where));
    const Window window{3, 3, 1, 1, 1, 1, 2, 2, 1, 1};
    expectDumped("average_pool", averagePool2d(input(), window, true, where));
    expectDumped("average_pool_inside", averagePool2d(input(), window, false, where));
    expectDumped("global_average_pool", globalAveragePool(input(), where));
}

TEST_P(Operations, Activate) {
    const Where where = GetParam();
    expectDumped("relu", activate(input(), Activation::relu, 0, where));
    expectDumped("leaky_relu", activate(input(), Activation::leakyRelu, 0.1F, where));
    expectDumped("sigmoid", activate(input(), Activation::sigmoid, 0, where));
    expectDumped("tanh", activate(input(), Activation::tanh, 0, where));
    expectDumped("elu", activate(input(), Activation::elu, 0.7F, where));
}

TEST_P(Operations, Maxout) {
    Tensor twice{{2, 6, 11, 14}, {}};
    for (const std::size_t n : {0U, 1U}) {
        const auto picture = input().values.begin() + std::ptrdiff_t(n * 3 * 11 * 14);
        for (int i = 0; i < 2; ++i) twice.values.insert(twice.values.end(), picture, picture + 3 * 11 * 14);
    }
    expectDumped("maxout", maxout(twice, 3, GetParam()));
}

TEST_P(Operations, ConnectFullyAndTurnIntoProbabilities) {
    const Where where = GetParam();
    const Tensor dense = fullyConnected(input(), values("dense_weight"), values("dense_bias"), where);
    expectDumped("dense", dense);
    Tensor six{{2, 6, 1, 1}, {}}, sharp = dense;
    for (std::size_t i = 0; i < 14; ++i) {
        if (i % 7 < 6) six.values.push_back(dense.values[i]);
        sharp.values[i] *= 30;
    }
    expectDumped("dense_maxout", maxout(six, 2, where));
    expectDumped("softmax", softmax(sharp, where));
}

TEST_P(Operations, SoftmaxDoesNotOverflow) {
    const Tensor out = softmax({{1, 3, 1, 1}, {1000, 1000, -1000}}, GetParam());
    EXPECT_EQ(out.values, (std::vector<float>{0.5F, 0.5F, 0}));
}

TEST_P(Operations, ClassifyDigits) {
    const DigitClassifier classifier(Safetensors::read(kData + "/../../inference/baselines/ops/digits.safetensors"));
    const Safetensors test = Safetensors::read(kData + "/digits_test.safetensors");
    const auto& labels = test.tensors().at("labels").values;
    const auto& expected = test.tensors().at("probabilities").values;
    const Tensor images{{int(labels.size()), 1, 8, 8}, test.tensors().at("images").values};
    const Tensor probabilities = classifier.classify(images, GetParam());
    EXPECT_LE(oracle::nmse(expected, {probabilities.values.begin(), probabilities.values.begin() + 400}), 1e-10);
    const std::vector<int> classes = mostProbable(probabilities);
    int right = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) right += classes[i] == int(labels[i]) ? 1 : 0;
    std::printf("%d of %zu digits right\n", right, labels.size());
    EXPECT_GE(double(right) / double(labels.size()), 0.97);
}

INSTANTIATE_TEST_SUITE_P(Baselines, Operations, testing::Values(Where::cpu, Where::gpu), [](const auto& i) {
    return i.param == Where::cpu ? "Cpu" : "Gpu";
});

TEST(Layouts, AreTurnedIntoEachOther) {
    const Tensor nhwc = toNhwc(input());
    EXPECT_EQ(nhwc.values, values("nhwc"));
    EXPECT_EQ(toNchw(nhwc).values, input().values);
}

TEST(OperationShapes, AreRefusedWhenTheyDoNotFit) {
    EXPECT_THROW(conv2d(input(), {4, values("weight"), values("bias")}, {3, 3, 0, 0, 0, 0, 1, 1, 1, 1}), Error);
    EXPECT_THROW(maxPool2d(input(), {12, 2, 0, 0, 0, 0, 1, 1, 1, 1}), Error);
    EXPECT_THROW(maxPool2d(input(), {2, 2, 0, 0, 0, 0, 0, 1, 1, 1}), Error);
    EXPECT_THROW(maxout(input(), 2), Error);
    EXPECT_THROW(fullyConnected(input(), values("bias"), values("bias")), Error);
    EXPECT_THROW(softmax(input()), Error);
    EXPECT_THROW(DigitClassifier{dump()}, Error);
}

}  // namespace
}  // namespace matte::baselines
