// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/device/device_rates.h"

#include <algorithm>
#include <array>

#include "inference/cuda/device/ptx.cuh"

namespace matte {
namespace {

constexpr int kThreads = 256, kSteps = 2048;

/// Halves between 0.5 and 1 with random sign and mantissa: operand values affect the power draw, and that the clock.
__device__ std::uint32_t randomHalves(std::uint32_t seed) {
    seed = (seed ^ 61) ^ (seed >> 16);
    seed *= 9;
    seed ^= seed >> 4;
    seed *= 0x27d4eb2d;
    seed ^= seed >> 15;
    return (seed & 0x83FF83FF) | 0x38003800;
}

__global__ void __launch_bounds__(kThreads) mmaLoop(float* out) {
    constexpr int kChains = 8;  // products that don't wait for one another
    const std::uint32_t seed = blockIdx.x * kThreads + threadIdx.x;
    std::uint32_t a[4], b[kChains][2];
    for (int i = 0; i < 4; ++i) a[i] = randomHalves(seed * 4 + std::uint32_t(i));
    for (int i = 0; i < kChains; ++i) {
        for (int j = 0; j < 2; ++j) b[i][j] = randomHalves(seed * 31 + std::uint32_t(i * 2 + j));
    }
    float sums[kChains][4] = {};
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
        for (int i = 0; i < kChains; ++i) ptx::mma16816(sums[i], a, b[i][0], b[i][1]);
    }
    float sum = 0;
    for (const auto& four : sums) sum += four[0] + four[1] + four[2] + four[3];
    out[seed] = sum;
}
constexpr double kMmaFlops = 2.0 * 16 * 8 * 16 * 8 * kSteps;  // of a warp

__global__ void __launch_bounds__(kThreads) fmaLoop(float* out) {
    constexpr int kChains = 16;
    const std::uint32_t seed = blockIdx.x * kThreads + threadIdx.x;
    float factor[kChains], sums[kChains];
    for (int i = 0; i < kChains; ++i) {
        factor[i] = float(randomHalves(seed + std::uint32_t(i)) & 0xFFFF) / 65536.0F;
        sums[i] = float(i);
    }
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
        for (int i = 0; i < kChains; ++i) sums[i] = fmaf(sums[i], factor[i], factor[(i + 1) % kChains]);
    }
    float sum = 0;
    for (const float value : sums) sum += value;
    out[seed] = sum;
}
constexpr double kFmaFlops = 2.0 * 16 * kSteps;  // of a thread

__global__ void __launch_bounds__(kThreads) copyLoop(const float4* from, std::size_t count, float4* to) {
    for (std::size_t i = std::size_t(blockIdx.x) * kThreads + threadIdx.x; i < count;
         i += std::size_t(gridDim.x) * kThreads) {
        to[i] = from[i];
    }
}

/// Seconds of one call, the median of a few, after one that is not counted.
template <typename Enqueue>
double secondsOf(const Enqueue& enqueue) {
    const Stream stream;
    const Event start, end;
    std::array<double, 7> times{};
    enqueue(stream.get());
    for (double& seconds : times) {
        start.record(stream.get());
        enqueue(stream.get());
        CUDA_CHECK(cudaGetLastError());
        end.record(stream.get());
        end.wait();
        seconds = double(end.msSince(start)) / 1e3;
    }
    std::ranges::nth_element(times, times.begin() + times.size() / 2);
    return times[times.size() / 2];
}

double copyRate(int multiprocessors) {
    std::size_t free = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    // Far more than any cache holds, in whole megabytes.
    const std::size_t bytes = std::min(std::size_t(512), free / 4 >> 20) << 20;
    const DeviceBuffer from(bytes), to(bytes);
    const double seconds = secondsOf([&](cudaStream_t stream) {
        copyLoop<<<unsigned(multiprocessors) * 16, kThreads, 0, stream>>>(from.as<float4>(), bytes / sizeof(float4),
                                                                          to.as<float4>());
    });
    return 2 * double(bytes) / seconds;
}

}  // namespace

MachineRates measureRates(ConvKernel kernel) {
    const int count = DeviceFacts::current().multiprocessors;
    const int blocks = count * (kernel == ConvKernel::fp32 ? 8 : 4);
    const DeviceBuffer out(std::size_t(blocks) * kThreads * sizeof(float));
    double flops = 0;
    const double seconds = secondsOf([&](cudaStream_t stream) {
        if (kernel == ConvKernel::fp32) {
            fmaLoop<<<unsigned(blocks), kThreads, 0, stream>>>(out.as<float>());
            flops = kFmaFlops * kThreads * blocks;
        } else if (kernel == ConvKernel::mma) {
            mmaLoop<<<unsigned(blocks), kThreads, 0, stream>>>(out.as<float>());
            flops = kMmaFlops * (kThreads / 32) * blocks;
        } else {
            flops = launchWgmmaLoop(count, out.as<float>(), stream);
        }
    });
    const char* products = kernel == ConvKernel::sm90  ? "wgmma on random halves"
                           : kernel == ConvKernel::mma ? "mma.sync on random halves"
                                                       : "single-precision multiply-adds";
    return {flops / seconds, copyRate(count), std::string(products) + ", a copy within the device's memory"};
}

}  // namespace matte
