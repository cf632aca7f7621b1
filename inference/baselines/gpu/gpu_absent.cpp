// SPDX-License-Identifier: Apache-2.0
// Takes the place of everything that needs CUDA in programs without it: the table of implementations stays whole, and
// whyUnavailable() keeps these from being called.
#include "inference/baselines/baselines.h"
#include "inference/baselines/memory.h"
#include "inference/baselines/ops/elements.h"
#include "inference/core/error.h"
#include "inference/cuda/device/devices.h"

namespace matte::baselines {
namespace {

[[noreturn]] void refuse() {
    throw Error(ErrorCategory::engine, queryCuda().unavailable);
}

}  // namespace

#define MATTE_ABSENT(result, name, ...) \
    result name(__VA_ARGS__) {          \
        refuse();                       \
    }
using LayerPointer = std::unique_ptr<Layer>;
using NetworkPointer = std::unique_ptr<NetworkImplementation>;

MATTE_ABSENT(void, useFirstDevice)
MATTE_ABSENT(PlainLayers, gpuLayers)
MATTE_ABSENT(LayerPointer, makeDirect, const Block&, const Shape&)
MATTE_ABSENT(LayerPointer, makeTiledPlain, const Block&, const Shape&)
MATTE_ABSENT(LayerPointer, makeTiled, const Block&, const Shape&)
MATTE_ABSENT(LayerPointer, makeFused, const Block&, const Shape&)
MATTE_ABSENT(LayerPointer, makeIm2col, const Block&, const Shape&)
MATTE_ABSENT(LayerPointer, makeWinograd, const Block&, const Shape&)
MATTE_ABSENT(LayerPointer, makeImplicitFp32, const Block&, const Shape&)
MATTE_ABSENT(LayerPointer, makeImplicitMma, const Block&, const Shape&)
MATTE_ABSENT(LayerPointer, makeImplicitSm90, const Block&, const Shape&)
MATTE_ABSENT(LayerPointer, makeCudnn, const Block&, const Shape&)
MATTE_ABSENT(NetworkPointer, makeProductFp32, const ModelPointer&)
MATTE_ABSENT(NetworkPointer, makeProductMma, const ModelPointer&)
MATTE_ABSENT(NetworkPointer, makeProductSm90, const ModelPointer&)
MATTE_ABSENT(LayerPointer, makeStencilGpu, const Filter3x3&, const Shape&)
MATTE_ABSENT(LayerPointer, makeStencilColumns, const Filter3x3&, const Shape&)
MATTE_ABSENT(LayerPointer, makeXnorGpu, const Filter3x3&, const Shape&)
MATTE_ABSENT(std::unique_ptr<Memory>, makeDeviceMemory)
MATTE_ABSENT(MachineRates, deviceLimits, bool)
MATTE_ABSENT(std::string, whyNoCudnn)
MATTE_ABSENT(void, launchForEach, std::size_t, const AnyElement&, StreamHandle)

}  // namespace matte::baselines
