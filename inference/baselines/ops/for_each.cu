// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/gpu/for_each.cuh"
#include "inference/baselines/ops/elements.h"

namespace matte::baselines {

void launchForEach(std::size_t count, const AnyElement& element, StreamHandle stream) {
    std::visit([&](const auto& one) { launchEach(count, one, stream); }, element);
}

}  // namespace matte::baselines
