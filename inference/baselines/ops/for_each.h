// SPDX-License-Identifier: Apache-2.0
// Runs an element of elements.h for every value: a parallel loop on the CPU, one thread a value on the GPU. Any thread.
#pragma once

#include "inference/baselines/implementation.h"
#include "inference/baselines/ops/elements.h"

namespace matte::baselines {

// In for_each.cu; throw Error(engine).
void launchForEach(std::size_t count, const ConvAt& element, StreamHandle stream);
void launchForEach(std::size_t count, const MaxPoolAt& element, StreamHandle stream);
void launchForEach(std::size_t count, const AveragePoolAt& element, StreamHandle stream);
void launchForEach(std::size_t count, const ActivationAt& element, StreamHandle stream);
void launchForEach(std::size_t count, const MaxoutAt& element, StreamHandle stream);
void launchForEach(std::size_t count, const FullyConnectedAt& element, StreamHandle stream);
void launchForEach(std::size_t count, const SoftmaxAt& element, StreamHandle stream);

template <typename Element>
void forEach(Where where, std::size_t count, const Element& element, StreamHandle stream = nullptr) {
    if (where == Where::gpu) return launchForEach(count, element, stream);
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < std::ptrdiff_t(count); ++i) element(std::size_t(i));
}

}  // namespace matte::baselines
