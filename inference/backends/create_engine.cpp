// SPDX-License-Identifier: Apache-2.0
#include "inference/backends/create_engine.h"

#include <functional>
#include <utility>

#include "inference/cpu/cpu_engine.h"
#include "inference/cuda/device/devices.h"
#include "inference/engine/failover_photo_engine.h"
#include "inference/model/default_model.h"
#include "inference/model/read_model.h"

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

struct Makers {
    std::function<std::unique_ptr<Engine>()> cuda;  ///< throws DeviceFailure where the CPU is as good
    std::function<std::unique_ptr<Engine>(const std::string& reason)> cpu;
};

Makers makersOf(UNet unet, const EngineOptions& options) {
    const auto network = std::make_shared<const UNet>(std::move(unet));
    const auto cuda = [network, options] {
        try {
            return createCuda(network, options);
        } catch (const DeviceFailure& failure) {
            if (options.kind == EngineKind::automatic) throw;
            throw Error(ErrorCategory::engine,
                        std::string("The CUDA engine can't be used: ") + failure.what() + " Use --engine cpu or auto.");
        }
    };
    const auto cpu = [network, options](const std::string& reason) {
        return std::make_unique<CpuEngine>(options.cpuNetwork ? options.cpuNetwork() : *network, options, reason);
    };
    return {cuda, cpu};
}

}  // namespace

std::unique_ptr<PhotoEngine> createPhotoEngine(UNet network, const EngineOptions& options) {
    const Makers make = makersOf(std::move(network), options);
    if (options.kind == EngineKind::cpu) return make.cpu("");
    return FailoverPhotoEngine::create(make.cuda, make.cpu);
}

LiveEngines createLiveEngines(UNet network, const EngineOptions& options) {
    const Makers make = makersOf(std::move(network), options);
    if (options.kind == EngineKind::cpu) return make.cpu("");
    return LiveEngines::create(make.cuda, make.cpu);
}

LiveEngines makeLiveEngines(const std::string& model, EngineOptions options) {
    options.cpuNetwork = [model] { return loadNetwork(liveModel(model, true)); };
    const bool onCpu = options.kind == EngineKind::cpu || !queryCuda().unavailable.empty();
    return createLiveEngines(loadNetwork(liveModel(model, onCpu)), options);
}

}  // namespace matte
