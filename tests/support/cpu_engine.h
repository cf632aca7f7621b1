// SPDX-License-Identifier: Apache-2.0
// An engine on the CPU, for photos and for live frames.
#pragma once

#include <memory>
#include <utility>

#include "inference/cpu/cpu_engine.h"

namespace matte::test {

inline std::unique_ptr<Engine> cpuEngine(UNet network, const EngineOptions& options) {
    return std::make_unique<CpuEngine>(std::move(network), options, "");
}

}  // namespace matte::test
