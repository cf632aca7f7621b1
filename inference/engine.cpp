// SPDX-License-Identifier: Apache-2.0
#include "inference/engine.h"

#include "inference/cpu/cpu_engine.h"
#include "inference/cuda/devices.h"
#include "inference/error.h"

namespace matte {

std::unique_ptr<Engine> Engine::create(UNet network, const EngineOptions& options) {
    std::string reason;
    if (options.kind != EngineKind::cpu) {
        const CudaStatus cuda = queryCuda();
        reason = cuda.unavailable.empty() ? "This version runs its network on the CPU only." : cuda.unavailable;
        if (options.kind == EngineKind::cuda) {
            throw Error(Area::engine, "The CUDA engine can't be used: " + reason + " Use --engine cpu or auto.");
        }
    }
    return std::make_unique<CpuEngine>(std::move(network), options, reason);
}

}  // namespace matte
