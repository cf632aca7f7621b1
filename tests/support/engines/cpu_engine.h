// SPDX-License-Identifier: Apache-2.0
// An engine on the CPU, for photos and for live frames.
#pragma once

#include <memory>
#include <utility>

#include "inference/cpu/cpu_engine.h"
#include "tests/support/files/model_file.h"

namespace matte::test {

inline std::unique_ptr<Engine> cpuEngine(UNet network, const EngineOptions& options) {
    return std::make_unique<CpuEngine>(std::move(network), options, "");
}

/// With tinyNetwork(), whose input is 64 pixels long unless the options say otherwise.
inline std::unique_ptr<Engine> tinyEngine(const EngineOptions& options = {.networkLongestSide = 64}) {
    return cpuEngine(tinyNetwork(), options);
}

/// The like with tinyRecurrentNetwork().
inline std::unique_ptr<Engine> tinyRecurrentEngine(const EngineOptions& options = {.networkLongestSide = 64}) {
    return cpuEngine(tinyRecurrentNetwork(), options);
}

}  // namespace matte::test
