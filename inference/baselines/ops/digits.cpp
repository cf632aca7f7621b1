// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/ops/digits.h"

#include <algorithm>

#include "inference/core/error.h"

namespace matte::baselines {
namespace {

constexpr Window kAround{3, 3, 1, 1, 1, 1, 1, 1, 1, 1};  // 3x3, the size stays
constexpr Window kPool{2, 2, 0, 0, 0, 0, 2, 2, 1, 1};

std::vector<float> values(const Safetensors& file, const std::string& name, const std::vector<std::int64_t>& shape) {
    const auto found = file.tensors().find(name);
    if (found == file.tensors().end() || found->second.shape != shape) {
        throw Error(ErrorCategory::model,
                    "'" + file.name() + "' is no classifier of digits ('" + name +
                        "' is missing or misshapen): make it with inference/training/train/digits.py.");
    }
    return found->second.values;
}

}  // namespace

DigitClassifier::DigitClassifier(const Safetensors& file)
    : conv1_{16, values(file, "conv1.weight", {16, 1, 3, 3}), values(file, "conv1.bias", {16})},
      conv2_{32, values(file, "conv2.weight", {32, 16, 3, 3}), values(file, "conv2.bias", {32})},
      weights_(values(file, "out.weight", {10, 128})),
      bias_(values(file, "out.bias", {10})) {}

Tensor DigitClassifier::classify(const Tensor& images, Where where) const {
    if (images.shape.channels != 1 || images.shape.height != 8 || images.shape.width != 8) {
        throw Error(ErrorCategory::usage, "A digit is one channel of 8x8 pixels: scale the picture.");
    }
    Tensor x = activate(conv2d(images, conv1_, kAround, where), Activation::relu, 0, where);
    x = maxPool2d(x, kPool, where);
    x = activate(conv2d(x, conv2_, kAround, where), Activation::relu, 0, where);
    x = maxPool2d(x, kPool, where);
    return softmax(fullyConnected(x, weights_, bias_, where), where);
}

std::vector<int> mostProbable(const Tensor& probabilities) {
    std::vector<int> classes;
    const std::ptrdiff_t count = probabilities.shape.channels;
    for (auto row = probabilities.values.begin(); row != probabilities.values.end(); row += count) {
        classes.push_back(int(std::max_element(row, row + count) - row));
    }
    return classes;
}

}  // namespace matte::baselines
