// SPDX-License-Identifier: Apache-2.0
// Any bytes are a model or are refused with Error(model): nothing crashes, and no tensor's size disagrees with its
// shape.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>

#include "inference/core/error.h"
#include "inference/model/safetensors.h"
#include "inference/model/unet.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const matte::Safetensors file = matte::Safetensors::parse({data, size}, "fuzz");
        for (const auto& [name, tensor] : file.tensors()) {
            const auto elements =
                std::accumulate(tensor.shape.begin(), tensor.shape.end(), std::int64_t(1), std::multiplies<>());
            if (std::size_t(elements) != tensor.values.size()) __builtin_trap();
        }
        const matte::UNet network = matte::UNet::load(file);
        if (!(network.flops(network.inputSize({640, 480})) > 0)) __builtin_trap();
    } catch (const matte::Error& error) {
        if (error.category != matte::ErrorCategory::model) __builtin_trap();
    }
    return 0;
}
