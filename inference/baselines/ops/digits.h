// SPDX-License-Identifier: Apache-2.0
// A classifier of handwritten digits, made of the baselines' operations: convolution, ReLU and max-pooling twice, then
// a fully connected layer and softmax. The same code on the CPU and the GPU. Any thread, one at a time for each object.
//
//     const DigitClassifier classifier(Safetensors::read("inference/baselines/ops/digits.safetensors"));
//     const Tensor probabilities = classifier.classify({{1, 1, 8, 8}, pixels}, Where::cpu);
#pragma once

#include "inference/baselines/ops/ops.h"

namespace matte::baselines {

class DigitClassifier {
public:
    /// What inference/training/train/digits.py writes. Throws Error(model).
    explicit DigitClassifier(const Safetensors& file);

    /// `images` [N, 1, 8, 8], 0 to 1; the result is [N, 10, 1, 1], rows that sum to 1.
    [[nodiscard]] Tensor classify(const Tensor& images, Where where) const;

private:
    WindowFilter conv1_, conv2_;
    std::vector<float> weights_, bias_;
};

/// The most probable class of each row.
std::vector<int> mostProbable(const Tensor& probabilities);

}  // namespace matte::baselines
