// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/gpu/gpu.h"

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

}  // namespace matte::baselines
