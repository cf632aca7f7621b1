// SPDX-License-Identifier: Apache-2.0
// The U-Net on oneDNN: NHWC activations, weights reordered once per input size, bias and activation fused into each
// convolution. A skip connection is a second convolution that accumulates onto the first, in place of a concatenation.
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

    /// bf16 on processors with AMX, where it is many times faster, else f32.
    static CpuPrecision bestPrecision();
    /// Whether this processor can run `precision`; bf16 requires AVX-512 BF16 or AMX.
    static bool supports(CpuPrecision precision);
    /// oneDNN's version, "2.6.3".
    static std::string libraryVersion();

    [[nodiscard]] const UNet& unet() const override;
    void configure(Size size) override;
    [[nodiscard]] Size size() const override;
    [[nodiscard]] float* input() override;
    [[nodiscard]] const float* alpha() const override;
    [[nodiscard]] std::span<float> state() override;
    /// `layerMs` are each layer's share of the run's time, because some layers run concurrently.
    void run(std::stop_token stop = {}, std::vector<float>* layerMs = nullptr) override;
    [[nodiscard]] std::string name() const override;
    /// The primitives that run on oneDNN's slow reference implementation.
    [[nodiscard]] std::vector<std::string> warnings() const override;
    /// The implementations of the layer's primitives, in order.
    [[nodiscard]] std::string implementation(int layer) const override;
    [[nodiscard]] int valueBytes() const override { return precision() == CpuPrecision::bf16 ? 2 : 4; }

    /// Tensor `index` of unet().tensors() after run(), as f32 [h, w, channels]. For tests and tools.
    [[nodiscard]] std::vector<float> activation(int index) const;
    /// oneDNN's implementation of each primitive, "up1.conv1: brgconv:avx512_core"; after configure().
    [[nodiscard]] const std::vector<std::string>& implementations() const;
    [[nodiscard]] CpuPrecision precision() const;

    /// Makes each later run() check for writes outside its buffers and throw Error(engine) if there were any. For
    /// tests: sanitizers don't see what oneDNN's generated code writes.
    void checkMemory();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace matte
