// SPDX-License-Identifier: Apache-2.0
// The U-Net on oneDNN: nhwc activations, weights packed once for an input size, bias and activation fused into each
// convolution, and the skip connection as a second convolution that adds to the first, so that nothing is concatenated.
// One thread at a time; runs on the threads of inference/core/parallel.h.
#pragma once

#include <memory>

#include "inference/cpu/host_network.h"

namespace matte {

enum class CpuPrecision { f32 = 1, bf16 };

class CpuNetwork final : public HostNetwork {
public:
    CpuNetwork(UNet network, CpuPrecision precision);
    ~CpuNetwork() override;
    CpuNetwork(CpuNetwork&&) noexcept;

    /// bf16 where the machine's matrix unit (AMX) makes it many times faster, else f32.
    static CpuPrecision bestPrecision();
    /// Whether this processor can run it at all; bf16 wants AVX-512's bf16 arithmetic or AMX.
    static bool supports(CpuPrecision precision);
    /// oneDNN's version, "2.6.3".
    static std::string libraryVersion();

    [[nodiscard]] const UNet& unet() const override;
    void configure(Size size) override;
    [[nodiscard]] Size size() const override;
    [[nodiscard]] float* input() override;
    [[nodiscard]] const float* alpha() const override;
    /// The layers' milliseconds are their shares of the run: some of them run at the same time.
    void run(std::stop_token stop = {}, std::vector<float>* layerMs = nullptr) override;
    [[nodiscard]] std::string name() const override;
    /// The primitives for which oneDNN has only a reference implementation.
    [[nodiscard]] std::vector<std::string> warnings() const override;
    /// The layer's primitives one after another.
    [[nodiscard]] std::string implementation(int layer) const override;
    [[nodiscard]] int valueBytes() const override { return precision() == CpuPrecision::bf16 ? 2 : 4; }

    /// Tensor `index` of unet().tensors() after run() as f32 [h, w, channels]: for tests and tools.
    [[nodiscard]] std::vector<float> activation(int index) const;
    /// The implementation that oneDNN chose for each primitive, "up1.conv1: brgconv:avx512_core"; after configure().
    [[nodiscard]] const std::vector<std::string>& implementations() const;
    [[nodiscard]] CpuPrecision precision() const;

    /// From now on each run ends with a look whether something was written beyond the memory that was meant; run() then
    /// throws Error(engine). For tests: no sanitizer sees what oneDNN's generated code writes.
    void checkMemory();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace matte
