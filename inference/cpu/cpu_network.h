// SPDX-License-Identifier: Apache-2.0
// The U-Net on oneDNN: nhwc activations, weights packed once for an input size, bias and activation fused into each
// convolution, and the skip connection as a second convolution that adds to the first, so that nothing is concatenated.
// One thread at a time; runs on OpenMP's threads of the caller.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "inference/model/unet.h"

namespace matte {

enum class CpuPrecision { f32 = 1, bf16 };

class CpuNetwork {
public:
    CpuNetwork(UNet network, CpuPrecision precision);
    ~CpuNetwork();
    CpuNetwork(CpuNetwork&&) noexcept;

    /// bf16 where the machine's matrix unit (AMX) makes it many times faster, else f32.
    static CpuPrecision bestPrecision();
    /// Whether this processor can run it at all; bf16 wants AVX-512's bf16 arithmetic or AMX.
    static bool supports(CpuPrecision precision);
    /// oneDNN's version, "2.6.3".
    static std::string libraryVersion();

    /// Builds everything for inputs of `size` (sides multiples of 2^(levels-1)); nothing when it is the size already
    /// built. Throws Error(engine).
    void configure(Size size);
    [[nodiscard]] Size size() const;

    /// [H, W, 3] normalised R, G, B to fill before run(); valid until the next configure().
    [[nodiscard]] float* input();
    /// [H, W] alpha of 0 to 1 after run().
    [[nodiscard]] const float* alpha() const;
    /// Throws Error(engine), or Cancelled between two layers. `layerMs`, when not null, becomes the milliseconds of
    /// each of unet().layers(); they add up to a little more than the run without.
    void run(std::stop_token stop = {}, std::vector<float>* layerMs = nullptr);

    /// Tensor `index` of unet().tensors() after run() as f32 [h, w, channels]: for tests and tools.
    [[nodiscard]] std::vector<float> activation(int index) const;
    /// The implementation that oneDNN chose for each primitive, "up1.conv1: brgconv:avx512_core"; after configure().
    [[nodiscard]] const std::vector<std::string>& implementations() const;
    /// The same for one of unet().layers(): its primitives one after another.
    [[nodiscard]] std::string implementation(int layer) const;
    [[nodiscard]] const UNet& unet() const;
    [[nodiscard]] CpuPrecision precision() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace matte
