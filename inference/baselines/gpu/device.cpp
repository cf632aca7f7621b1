// SPDX-License-Identifier: Apache-2.0
// The device's memory, what is in it before a layer runs, and the limits of its arithmetic and its memory.
#include <cstdio>

#include "inference/baselines/gpu/gpu.h"
#include "inference/baselines/memory.h"

namespace matte::baselines {
namespace {

class DeviceMemory final : public Memory {
public:
    float* allocate(std::size_t floats) override {
        buffers_.emplace_back(floats * sizeof(float));
        return buffers_.back().as<float>();
    }
    void upload(float* to, const float* from, std::size_t floats) override {
        CUDA_CHECK(cudaMemcpyAsync(to, from, floats * sizeof(float), cudaMemcpyHostToDevice, stream_.get()));
        stream_.wait();
    }
    void download(float* to, const float* from, std::size_t floats) override {
        CUDA_CHECK(cudaMemcpyAsync(to, from, floats * sizeof(float), cudaMemcpyDeviceToHost, stream_.get()));
        stream_.wait();
    }
    double time(const std::function<void()>& work) override {
        start_.record(stream_.get());
        work();
        end_.record(stream_.get());
        end_.wait();
        return double(end_.msSince(start_));
    }
    [[nodiscard]] StreamHandle stream() const override { return stream_.get(); }

private:
    Stream stream_;
    Event start_, end_;
    std::vector<DeviceBuffer> buffers_;
};

int attribute(cudaDeviceAttr which) {
    int device = 0, value = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
    return value;
}

/// Multiply-adds of halves with sums in single precision that a multiprocessor's tensor cores do in a clock, from
/// NVIDIA's architecture papers; the smaller figure where products of one architecture differ.
int tensorPerClock(int major, int minor) {
    if (major == 8) return minor == 0 ? 1024 : 256;
    if (major == 9) return 2048;
    if (major == 10) return 4096;
    return major >= 12 ? 256 : 0;
}

}  // namespace

void useFirstDevice() {
    CUDA_CHECK(cudaSetDevice(0));
}

std::unique_ptr<Memory> makeDeviceMemory() {
    return std::make_unique<DeviceMemory>();
}

DeviceBuffer uploaded(std::span<const float> values) {
    DeviceBuffer buffer(values.size_bytes());
    CUDA_CHECK(cudaMemcpy(buffer.data(), values.data(), buffer.bytes(), cudaMemcpyHostToDevice));
    return buffer;
}

std::vector<float> joined(const BatchNorm& norm) {
    std::vector<float> all;
    for (const auto* part : {&norm.gamma, &norm.beta, &norm.mean, &norm.variance}) {
        all.insert(all.end(), part->begin(), part->end());
    }
    return all;
}

MachineRates deviceLimits(bool tensorCores) {
    const int major = attribute(cudaDevAttrComputeCapabilityMajor),
              minor = attribute(cudaDevAttrComputeCapabilityMinor);
    const int cores = major == 8 && minor == 0 ? 64 : 128;  // of a multiprocessor
    const double clocks = 1e3 * attribute(cudaDevAttrClockRate) * attribute(cudaDevAttrMultiProcessorCount);
    // Data moves on both edges of the memory's clock.
    const double bytes = 2e3 * attribute(cudaDevAttrMemoryClockRate) * attribute(cudaDevAttrGlobalMemoryBusWidth) / 8.0;
    const double flops = 2 * clocks * cores, tensorFlops = 2 * clocks * tensorPerClock(major, minor);
    char text[200];
    std::snprintf(text, sizeof text,
                  "GPU limit, from its clocks and widths: %.1f TFLOP/s, %.0f TFLOP/s on tensor cores, %.2f TB/s.",
                  flops / 1e12, tensorFlops / 1e12, bytes / 1e12);
    return {tensorCores && tensorFlops > 0 ? tensorFlops : flops, bytes, text};
}

}  // namespace matte::baselines
