// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/network_case.h"

#include <cuda_fp16.h>

#include <algorithm>

#include "tests/support/files/model_file.h"

namespace matte::test {

UNet randomNetwork(int base, unsigned seed) {
    return randomNetwork({base, 2 * base, 4 * base, 8 * base, 16 * base}, seed);
}

UNet randomNetwork(const std::vector<int>& widths, unsigned seed) {
    return UNet::load(Safetensors::parse(encodeSafetensors(randomUNet(widths, seed), unetMetadata(widths)), "random"));
}

UNet randomMobileNetwork(unsigned seed) {
    return UNet::load(Safetensors::parse(encodeSafetensors(randomMobileUNet(seed)), "random"));
}

UNet randomRecurrentNetwork(const std::vector<int>& widths, const std::vector<std::string>& levels, unsigned seed) {
    const ModelTensors plain = widths.empty() ? randomMobileUNet(seed) : randomUNet(widths, seed);
    return UNet::load(Safetensors::parse(encodeSafetensors(withCells(plain, levels, seed + 1)), "recurrent"));
}

CudaNetwork::Choose chooseWithout(const std::string& skip) {
    return [skip](const ConvShape&, const std::vector<ConvConfig>& ranked) {
        const auto allowed = [&](const ConvConfig& config) {
            return skip.empty() || config.text().find(skip) == std::string::npos;
        };
        return *std::ranges::find_if(ranked, allowed);
    };
}

void setInput(const CudaNetwork& network, ConvKernel kernel, const oracle::Activation& input) {
    std::vector<float> floats(network.size().pixels() * 8, 0.0F);
    for (std::size_t i = 0; i < input.values.size(); ++i) floats[i / 3 * 8 + i % 3] = input.values[i];
    std::vector<__half> halves(floats.size());
    std::ranges::transform(floats, halves.begin(), [](float value) { return __float2half_rn(value); });
    const void* from = kernel == ConvKernel::fp32 ? static_cast<const void*>(floats.data()) : halves.data();
    CUDA_CHECK(
        cudaMemcpy(network.input(), from, floats.size() * std::size_t(valueBytes(kernel)), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaDeviceSynchronize());
}

std::vector<float> alphaOf(const CudaNetwork& network) {
    std::vector<float> alpha(network.size().pixels());
    CUDA_CHECK(cudaMemcpy(alpha.data(), network.alpha(), alpha.size() * sizeof(float), cudaMemcpyDeviceToHost));
    return alpha;
}

}  // namespace matte::test
