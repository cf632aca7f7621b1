// SPDX-License-Identifier: Apache-2.0
#include "inference/engine/engine.h"

#include "inference/cpu/cpu_engine.h"
#include "inference/cuda/device/devices.h"
#include "inference/engine/fallback_engine.h"

#ifdef MATTE_HAVE_CUDA
#include "inference/cuda/cuda_engine.h"
#endif

namespace matte {
namespace {

/// Throws DeviceFailure when there is no GPU to run on.
std::unique_ptr<Engine> createCuda([[maybe_unused]] const std::shared_ptr<const UNet>& network,
                                   [[maybe_unused]] const EngineOptions& options) {
    if (const CudaStatus cuda = queryCuda(); !cuda.unavailable.empty()) throw DeviceFailure(cuda.unavailable, true);
#ifdef MATTE_HAVE_CUDA
    return std::make_unique<CudaEngine>(network, options);
#else
    return nullptr;
#endif
}

}  // namespace

std::unique_ptr<Engine> Engine::create(UNet network, const EngineOptions& options) {
    const auto shared = std::make_shared<const UNet>(std::move(network));
    const FallbackEngine::MakeEngine createCpu = [shared, options](const std::string& reason) {
        return std::make_unique<CpuEngine>(options.cpuNetwork ? options.cpuNetwork() : *shared, options, reason);
    };
    if (options.kind == EngineKind::cpu) return createCpu("");
    const auto createFirst = [&] { return createCuda(shared, options); };
    if (options.kind == EngineKind::automatic) return FallbackEngine::create(createFirst, createCpu);
    try {
        return std::make_unique<FallbackEngine>(createFirst(), createCpu);
    } catch (const DeviceFailure& failure) {
        throw Error(ErrorCategory::engine,
                    std::string("The CUDA engine can't be used: ") + failure.what() + " Use --engine cpu or auto.");
    }
}

}  // namespace matte
