// SPDX-License-Identifier: Apache-2.0
#include "tests/support/engines/baseline_case.h"

#include "tests/support/pictures/oracle.h"

namespace matte::test {
namespace {

/// Uniform between `low` and `high`.
std::vector<float> values(std::size_t count, float low, float high, unsigned seed) {
    auto noise = oracle::noise(1, int(count), 1, seed).values;
    for (float& value : noise) value = low + (high - low) * (value + 1) / 2;
    return noise;
}

}  // namespace

BlockCase::BlockCase(const baselines::Shape& shape, int outChannels, bool norm, unsigned seed)
    : input(values(shape.floats(), -1, 1, seed)) {
    block.filter = oracle::randomFilter(outChannels, shape.channels, 3, seed + 1);
    block.relu = true;
    const auto count = std::size_t(outChannels);
    if (norm) {
        block.norm = baselines::BatchNorm{values(count, 0.7F, 1.4F, seed + 2), values(count, -0.3F, 0.3F, seed + 3),
                                          values(count, -0.3F, 0.3F, seed + 4), values(count, 0.2F, 1.2F, seed + 5)};
    }
    const std::size_t pixels = shape.pixels();
    for (int n = 0; n < shape.batch; ++n) {
        oracle::Activation image(shape.height, shape.width, shape.channels);
        for (std::size_t i = 0; i < image.values.size(); ++i) {
            const std::size_t c = i % std::size_t(shape.channels), pixel = i / std::size_t(shape.channels);
            image.values[i] = input[(std::size_t(n) * shape.channels + c) * pixels + pixel];
        }
        oracle::Activation out = oracle::conv3x3(image, block.filter);
        if (block.norm) {
            const auto& b = *block.norm;
            out = oracle::batchNorm(out, b.gamma, b.beta, b.mean, b.variance, double(b.epsilon));
        }
        out = oracle::relu(std::move(out));
        for (std::size_t c = 0; c < count; ++c) {
            for (std::size_t i = 0; i < pixels; ++i) expected.push_back(out.values[i * count + c]);
        }
    }
}

}  // namespace matte::test
