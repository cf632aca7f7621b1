// SPDX-License-Identifier: Apache-2.0
// One thread for each value that a kernel writes.
#include <cuda_fp16.h>

#include "inference/cuda/conv/conv.h"
#include "inference/cuda/conv/conv_gru.h"
#include "inference/cuda/conv/head.cuh"

namespace matte {
namespace {

constexpr unsigned kThreads = 256;

__device__ float load(float value) {
    return value;
}
__device__ float load(__half value) {
    return __half2float(value);
}
__device__ void store(float value, float& to) {
    to = value;
}
__device__ void store(float value, __half& to) {
    to = __float2half_rn(value);
}

/// The pixel and the channel of thread `i` of a tensor of `padded` channels.
struct Place {
    std::size_t pixel;
    int channel;
    __device__ explicit Place(int padded) {
        const std::size_t i = std::size_t(blockIdx.x) * kThreads + threadIdx.x;
        pixel = i / unsigned(padded);
        channel = int(i % unsigned(padded));
    }
};

template <typename Value>
__global__ void __launch_bounds__(kThreads) takeInputKernel(GruMemory cell, int padded, int paddedHalf) {
    const Place at(paddedHalf);
    if (at.pixel >= cell.pixels) return;
    const int half = cell.channels / 2;
    const auto* in = static_cast<const Value*>(cell.in) + at.pixel * padded;
    auto* input = static_cast<Value*>(cell.input) + at.pixel * paddedHalf;
    input[at.channel] = at.channel < half ? in[half + at.channel] : Value(0.0F);
}

template <typename Value>
__global__ void __launch_bounds__(kThreads) resetKernel(GruMemory cell, int padded, int paddedHalf) {
    const Place at(paddedHalf);
    if (at.pixel >= cell.pixels) return;
    const auto* gates = static_cast<const Value*>(cell.gates) + at.pixel * padded;
    const std::size_t i = at.pixel * paddedHalf + at.channel;
    const bool used = at.channel < cell.channels / 2;
    store(used ? sigmoid(load(gates[at.channel])) * cell.state[i] : 0.0F, static_cast<Value*>(cell.reset)[i]);
}

template <typename Value>
__global__ void __launch_bounds__(kThreads) updateKernel(GruMemory cell, int padded, int paddedHalf) {
    const Place at(padded);
    if (at.pixel >= cell.pixels) return;
    const int half = cell.channels / 2, c = at.channel - half;
    const std::size_t i = at.pixel * padded + at.channel;
    float value = load(static_cast<const Value*>(cell.in)[i]);
    if (c >= 0 && c < half) {
        const std::size_t j = at.pixel * paddedHalf + c;
        const float z = sigmoid(load(static_cast<const Value*>(cell.gates)[i]));
        const float candidate = tanhf(load(static_cast<const Value*>(cell.candidate)[j]));
        const float state = (1 - z) * cell.state[j] + z * candidate;
        cell.state[j] = state;
        store(state, static_cast<Value*>(cell.stateRounded)[j]);
        value += state;
    }
    store(value, static_cast<Value*>(cell.out)[i]);
}

using Kernel = void (*)(GruMemory, int, int);

void launch(Kernel floats, Kernel halves, const GruMemory& cell, int writtenChannels, cudaStream_t stream) {
    const int padded = paddedChannels(cell.channels), paddedHalf = paddedChannels(cell.channels / 2);
    const std::size_t values = cell.pixels * std::size_t(paddedChannels(writtenChannels));
    (cell.inFloats ? floats : halves)<<<unsigned((values + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
        cell, padded, paddedHalf);
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void takeGruInput(const GruMemory& cell, cudaStream_t stream) {
    launch(takeInputKernel<float>, takeInputKernel<__half>, cell, cell.channels / 2, stream);
}

void resetGruState(const GruMemory& cell, cudaStream_t stream) {
    launch(resetKernel<float>, resetKernel<__half>, cell, cell.channels / 2, stream);
}

void updateGruState(const GruMemory& cell, cudaStream_t stream) {
    launch(updateKernel<float>, updateKernel<__half>, cell, cell.channels, stream);
}

}  // namespace matte
