// SPDX-License-Identifier: Apache-2.0
// Every configuration of every convolution kernel against the definition, on sizes that are awkward on purpose.
#include <set>

#include "tests/gpu/conv_case.h"
#include "tests/gpu/gpu_case.h"

namespace matte::test {
namespace {

/// Relative to the reference in double precision, for inputs rounded as the kernel reads them.
double limitOf(ConvKernel kernel) {
    return kernel == ConvKernel::fp32 ? 1e-11 : 1e-6;
}

class Problems {
public:
    ConvShape& conv(int n, int h, int w, int c0, int c1, int out, bool pooled = false) {
        return add(ConvKind::conv3x3, n, h, w, c0, c1, out, pooled);
    }
    ConvShape& up(int n, int h, int w, int in, int out) { return add(ConvKind::up2x2, n, h, w, in, 0, out, false); }
    ConvShape& pointwise(int n, int h, int w, int in, int out, bool pooled = false) {
        return add(ConvKind::pointwise, n, h, w, in, 0, out, pooled);
    }
    /// The last of a bottleneck.
    void linear(int n, int h, int w, int in, int out, bool added, bool pooled = false) {
        ConvShape& shape = pointwise(n, h, w, in, out, pooled);
        shape.linear = true;
        shape.added = added;
    }
    void depthwise(int n, int h, int w, int channels, int side, int stride) {
        ConvShape& shape = add(ConvKind::depthwise, n, h, w, channels, 0, channels, false);
        shape.side = side;
        shape.stride = stride;
    }
    void stem(int n, int h, int w, int out) { conv(n, h, w, 3, 0, out).stride = 2; }
    [[nodiscard]] const std::vector<ConvShape>& list() const { return list_; }

private:
    ConvShape& add(ConvKind kind, int n, int h, int w, int c0, int c1, int out, bool pooled) {
        ConvShape& shape = list_.emplace_back();
        shape.kind = kind;
        shape.batch = n;
        shape.height = h;
        shape.width = w;
        shape.in0Channels = c0;
        shape.in1Channels = c1;
        shape.outChannels = out;
        shape.pooled = pooled;
        return shape;
    }
    std::vector<ConvShape> list_;
};

/// One of each kind, small: what the sanitizers have time for.
std::vector<ConvShape> fewProblems() {
    Problems problems;
    problems.conv(1, 32, 32, 64, 0, 64);
    problems.conv(1, 17, 19, 40, 24, 72);
    problems.conv(1, 20, 36, 3, 0, 16, true);
    problems.up(1, 9, 13, 48, 24);
    problems.conv(1, 18, 20, 32, 32, 32, true).widthMultiple = 4;
    ConvShape& last = problems.conv(1, 18, 20, 16, 0, 16);
    last.widthMultiple = 4;
    last.head = true;
    problems.conv(1, 11, 10, 256, 0, 96);
    problems.conv(1, 12, 10, 128, 128, 64, true);
    problems.pointwise(1, 9, 13, 24, 72);
    problems.linear(1, 12, 18, 72, 20, true, true);
    problems.depthwise(1, 9, 13, 20, 5, 1);
    problems.depthwise(1, 10, 14, 20, 3, 2);
    problems.stem(1, 10, 14, 12);
    return problems.list();
}

std::vector<ConvShape> manySizes() {
    Problems problems;
    for (const auto& [h, w] :
         {std::pair(1, 1), {1, 2}, {2, 1}, {1, 40}, {40, 1}, {3, 5}, {8, 16}, {33, 31}, {64, 65}}) {
        problems.conv(1, h, w, 64, 0, 64);
        problems.conv(1, h, w, 16, 16, 16);
        problems.up(1, h, w, 64, 32);
    }
    return problems.list();
}

std::vector<ConvShape> manyChannels() {
    Problems problems;
    for (const int in : {3, 5, 8, 16, 24, 32, 48, 64, 72, 96, 128, 200, 320}) {
        problems.conv(1, 18, 22, in, 0, 64);
        problems.conv(1, 13, 24, 32, in, 40);
        problems.up(1, 11, 10, in, 20);
    }
    for (const int out : {3, 8, 16, 24, 32, 48, 64, 72, 100, 128, 192, 256, 320}) {
        problems.conv(1, 16, 18, 64, 0, out);
        problems.conv(1, 10, 34, 24, 0, out, true);
        problems.up(1, 5, 17, 40, out);
    }
    return problems.list();
}

/// Layers whose width has a known divisor may count two or four pixels as one, and the last ones may end in the head.
std::vector<ConvShape> narrowLayers() {
    Problems problems;
    for (const int out : {8, 12, 16, 27, 32, 48, 64}) {
        for (const auto& [h, w] : {std::pair(1, 4), {2, 8}, {33, 36}, {18, 68}}) {
            for (const bool head : {false, true}) {
                const bool pooled = !head && h % 2 == 0;
                const auto with = [&](ConvShape& shape, int multiple) {
                    shape.widthMultiple = multiple;
                    shape.head = head;
                };
                with(problems.conv(1, h, w, 3, 0, out, pooled), 4);
                with(problems.conv(2, h, w, out, 0, out, pooled), 4);
                with(problems.conv(1, h, w, out, out, out, pooled), 2);
                with(problems.conv(1, h, w, out, out, out), 1);
            }
            problems.up(1, h, w, 2 * out, out).widthMultiple = 4;
            problems.up(1, h, w, 2 * out, out).widthMultiple = 2;
        }
    }
    return problems.list();
}

std::vector<ConvShape> asInNetworks() {
    Problems problems;
    problems.conv(1, 2, 2, 64, 0, 64, true);
    problems.conv(1, 64, 48, 128, 0, 128, true);
    problems.conv(3, 34, 38, 32, 32, 32, true);
    problems.conv(2, 15, 20, 64, 64, 128);
    problems.conv(4, 32, 32, 64, 0, 64, true);
    problems.conv(1, 32, 32, 512, 0, 1024);
    problems.conv(1, 32, 32, 512, 512, 512);
    problems.conv(1, 128, 136, 64, 0, 64, true);
    problems.conv(1, 256, 256, 128, 0, 64);
    problems.conv(1, 300, 500, 16, 16, 16);
    problems.up(2, 33, 20, 128, 64);
    problems.up(1, 32, 32, 1024, 512);
    problems.up(1, 100, 90, 32, 16);
    problems.conv(1, 7, 12, 256, 0, 352);
    problems.conv(1, 7, 12, 352, 0, 352);
    problems.conv(1, 14, 24, 256, 256, 256);
    problems.conv(1, 14, 24, 192, 0, 256, true);
    problems.conv(1, 28, 48, 192, 192, 192);
    problems.up(1, 7, 12, 352, 256);
    problems.conv(1, 5, 8, 192, 0, 112);  // portrait's deep levels
    problems.conv(1, 5, 8, 112, 0, 112);
    problems.up(1, 5, 8, 112, 192);
    problems.conv(1, 10, 16, 192, 192, 192);
    problems.conv(1, 10, 16, 256, 0, 192);
    problems.conv(1, 20, 32, 256, 256, 256);
    problems.conv(1, 20, 32, 192, 0, 256, true);
    problems.conv(1, 40, 64, 192, 192, 192);
    problems.up(1, 10, 16, 192, 256);
    problems.conv(1, 2, 4, 56, 0, 48);  // a plain portrait-lite's
    problems.up(1, 2, 4, 48, 56);
    problems.conv(1, 4, 8, 56, 56, 56);
    problems.conv(1, 16, 16, 128, 0, 256);
    problems.conv(2, 18, 32, 512, 0, 512, true);
    problems.conv(1, 288, 512, 16, 0, 16, true).widthMultiple = 4;
    for (const auto& [h, w, channels] : {std::tuple(512, 512, 64), {1088, 1920, 32}}) {
        ConvShape& last = problems.conv(1, h, w, channels, channels, channels);
        last.widthMultiple = 4;
        last.head = true;
    }
    return problems.list();
}

std::vector<ConvShape> pointwiseLayers() {
    Problems problems;
    for (const auto& [h, w] : {std::pair(1, 1), {1, 40}, {40, 1}, {3, 5}, {33, 31}}) {
        problems.pointwise(1, h, w, 16, 96);
        problems.linear(1, h, w, 96, 24, false);
        problems.linear(2, h, w, 96, 24, true);
    }
    for (const int in : {3, 13, 32, 33, 65, 100, 1248}) {
        problems.pointwise(1, 10, 18, in, 40);
        problems.linear(1, 10, 18, in, 40, true);
    }
    for (const int out : {3, 8, 13, 64, 72, 130, 200, 352}) {
        problems.linear(1, 10, 18, 72, out, false, true);
        problems.linear(2, 10, 18, 72, out, true, true);
        problems.pointwise(2, 10, 18, 72, out, true);
    }
    problems.pointwise(1, 160, 256, 16, 64);
    problems.linear(1, 80, 128, 96, 24, true, true);
    problems.pointwise(1, 20, 32, 112, 672);
    problems.linear(1, 10, 16, 1248, 352, true);
    return problems.list();
}

std::vector<ConvShape> directLayers() {
    Problems problems;
    for (const int side : {3, 5}) {
        for (const auto& [h, w] : {std::pair(1, 1), {1, 9}, {9, 1}, {7, 13}}) problems.depthwise(2, h, w, 13, side, 1);
        for (const int channels : {8, 13, 96, 1248}) {
            problems.depthwise(1, 11, 21, channels, side, 1);
            for (const auto& [h, w] : {std::pair(2, 2), {2, 34}, {14, 18}}) {
                problems.depthwise(2, h, w, channels, side, 2);
            }
        }
        problems.depthwise(1, 80, 128, 144, side, 2);
    }
    for (const int out : {3, 8, 16, 20, 72}) {
        for (const auto& [h, w] : {std::pair(2, 2), {6, 34}, {62, 90}}) problems.stem(2, h, w, out);
    }
    return problems.list();
}

using KernelAndShape = std::tuple<ConvKernel, ConvShape>;

class Convolution : public testing::Test, public testing::WithParamInterface<KernelAndShape> {};

TEST_P(Convolution, EqualsItsDefinitionInEveryConfiguration) {
    const auto& [kernel, shape] = GetParam();
    if (const std::string reason = whyNot(kernel); !reason.empty()) GTEST_SKIP() << reason;
    if (shape.head && !fusesHead(shape, kernel)) GTEST_SKIP() << "This kernel leaves the head to a layer of its own.";
    ConvCase layer(shape, kernel, 17);
    const std::vector<ConvConfig> configs = rankedConfigs(shape, DeviceFacts::current(), kernel);
    ASSERT_FALSE(configs.empty());
    for (const ConvConfig& config : configs) {
        const CheckResult result = layer.check(config);
        EXPECT_LE(result.nmse, limitOf(kernel)) << config.text();
        EXPECT_LE(result.pooledNmse, limitOf(kernel)) << config.text();
        EXPECT_TRUE(result.paddingZero) << config.text() << " writes past the last channel";
        EXPECT_TRUE(result.guardIntact) << config.text() << " writes past the end";
    }
}

/// The cache of measured choices tells configurations apart by their texts.
TEST_P(Convolution, NamesEachConfigurationDifferently) {
    const auto& [kernel, shape] = GetParam();
    std::set<std::string> names;
    const std::vector<ConvConfig> configs = rankedConfigs(shape, {9, 0, 132}, kernel);
    for (const ConvConfig& config : configs) names.insert(config.text());
    EXPECT_EQ(names.size(), configs.size());
}

std::string nameOfCase(const testing::TestParamInfo<KernelAndShape>& info) {
    return nameOf(std::get<0>(info.param)) + "_" + testName(text(std::get<1>(info.param)));
}

INSTANTIATE_TEST_SUITE_P(Few,
                         Convolution,
                         testing::Combine(testing::ValuesIn(kKernels), testing::ValuesIn(fewProblems())),
                         nameOfCase);
INSTANTIATE_TEST_SUITE_P(Sizes,
                         Convolution,
                         testing::Combine(testing::ValuesIn(kKernels), testing::ValuesIn(manySizes())),
                         nameOfCase);
INSTANTIATE_TEST_SUITE_P(Channels,
                         Convolution,
                         testing::Combine(testing::ValuesIn(kKernels), testing::ValuesIn(manyChannels())),
                         nameOfCase);
INSTANTIATE_TEST_SUITE_P(Narrow,
                         Convolution,
                         testing::Combine(testing::ValuesIn(kKernels), testing::ValuesIn(narrowLayers())),
                         nameOfCase);
INSTANTIATE_TEST_SUITE_P(Networks,
                         Convolution,
                         testing::Combine(testing::ValuesIn(kKernels), testing::ValuesIn(asInNetworks())),
                         nameOfCase);
INSTANTIATE_TEST_SUITE_P(Pointwise,
                         Convolution,
                         testing::Combine(testing::ValuesIn(kKernels), testing::ValuesIn(pointwiseLayers())),
                         nameOfCase);
INSTANTIATE_TEST_SUITE_P(Direct,
                         Convolution,
                         testing::Combine(testing::ValuesIn(kKernels), testing::ValuesIn(directLayers())),
                         nameOfCase);

}  // namespace
}  // namespace matte::test
