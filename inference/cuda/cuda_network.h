// SPDX-License-Identifier: Apache-2.0
// The U-Net on the GPU. CudaWeights: packed and uploaded once, shared by all networks of the model. CudaNetwork:
// activations in one block of device memory, where tensors with disjoint lifetimes share space, and launches prepared
// for the input's size. One thread at a time; belongs to the device that was current at its construction.
//
//     CudaNetwork network(unet, CudaNetwork::bestKernel());
//     network.configure({512, 288});
//     network.forward(stream);  // input() -> alpha()
#pragma once

#include <functional>
#include <memory>

#include "inference/core/image.h"
#include "inference/cuda/conv/conv.h"
#include "inference/model/unet.h"

namespace matte {

class CudaWeights {
public:
    /// Returns when the upload is complete. Throws as CudaNetwork().
    CudaWeights(const UNet& unet, ConvKernel kernel);

    struct Layer {
        DeviceBuffer weights, bias;
    };
    [[nodiscard]] const std::vector<Layer>& layers() const { return layers_; }  ///< as unet().layers()
    [[nodiscard]] const UNet& unet() const { return unet_; }
    [[nodiscard]] ConvKernel kernel() const { return kernel_; }
    [[nodiscard]] const DeviceFacts& device() const { return device_; }
    [[nodiscard]] std::size_t deviceBytes() const;

private:
    UNet unet_;
    ConvKernel kernel_;
    DeviceFacts device_;
    std::vector<Layer> layers_;
};

class CudaNetwork {
public:
    /// Chooses one of a layer's ranked configurations, all of which use the same packed weights.
    using Choose = std::function<ConvConfig(const ConvShape& shape, const std::vector<ConvConfig>& ranked)>;
    static ConvConfig chooseFirst(const ConvShape&, const std::vector<ConvConfig>& ranked) { return ranked.front(); }

    /// The fastest kernel of the current device. ConvKernel::fp32 is the exact alternative.
    static ConvKernel bestKernel();

    /// Throws Error(engine), or CudaError with cudaErrorMemoryAllocation when device memory is exhausted.
    CudaNetwork(std::shared_ptr<const CudaWeights> weights, Choose choose = chooseFirst);
    CudaNetwork(const UNet& unet, ConvKernel kernel, Choose choose = chooseFirst);
    ~CudaNetwork();
    CudaNetwork(CudaNetwork&&) noexcept;

    /// Prepares for inputs of `size` (sides are multiples of 2^(levels-1)); does nothing if the size is unchanged. The
    /// network must not be running.
    void configure(Size size);
    [[nodiscard]] Size size() const;

    /// In device memory: [H, W, 8] halves (ConvKernel::fp32: floats), normalised R, G, B and five zeros; forward() does
    /// not change it.
    [[nodiscard]] void* input() const;
    /// In device memory: [H, W] floats, 0 to 1.
    [[nodiscard]] float* alpha() const;
    /// Enqueues all layers. `afterLayer`, for timing, is called with a layer's index after enqueuing it; layers then
    /// don't overlap.
    void forward(cudaStream_t stream, const std::function<void(int)>& afterLayer = {}) const;

    /// The chosen configuration of each layer, for display; after configure().
    [[nodiscard]] const std::vector<std::string>& choices() const;
    /// Weights and activations.
    [[nodiscard]] std::size_t deviceBytes() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace matte
