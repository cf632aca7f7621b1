// SPDX-License-Identifier: Apache-2.0
// The U-Net on the GPU: weights packed and uploaded once and shared by all networks of the model, a network's
// activations in one block of device memory whose parts are used again as soon as their last reader has run, and every
// launch prepared for the input's size. One thread at a time; belongs to the device that was current when it was made.
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
    /// Returns when all of them lie on the device. Throws as CudaNetwork does.
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
    /// Takes one of a layer's ranked configurations. All of them read the same packed weights.
    using Choose = std::function<ConvConfig(const ConvShape& shape, const std::vector<ConvConfig>& ranked)>;
    static ConvConfig chooseFirst(const ConvShape&, const std::vector<ConvConfig>& ranked) { return ranked.front(); }

    /// The fastest kernel of the current device. ConvKernel::fp32 instead of it is the exact mode.
    static ConvKernel bestKernel();

    /// Throws Error(engine); CudaError with cudaErrorMemoryAllocation when the device is full.
    CudaNetwork(std::shared_ptr<const CudaWeights> weights, Choose choose = chooseFirst);
    CudaNetwork(const UNet& unet, ConvKernel kernel, Choose choose = chooseFirst);
    ~CudaNetwork();
    CudaNetwork(CudaNetwork&&) noexcept;

    /// For inputs of `size` (sides multiples of 2^(levels-1)); nothing when it is the size already configured. The
    /// network must not be running.
    void configure(Size size);
    [[nodiscard]] Size size() const;

    /// Device memory: [H, W, 8] halves (ConvKernel::fp32: floats), normalised R, G, B and five zeros; forward() does
    /// not change it.
    [[nodiscard]] void* input() const;
    /// Device memory: [H, W] floats of 0 to 1.
    [[nodiscard]] float* alpha() const;
    /// Enqueues every layer. `afterLayer` is called between them with the layer's index, for timing; layers then don't
    /// overlap.
    void forward(cudaStream_t stream, const std::function<void(int)>& afterLayer = {}) const;

    /// The chosen configuration of each layer as text; after configure().
    [[nodiscard]] const std::vector<std::string>& choices() const;
    /// Of the weights and the activations.
    [[nodiscard]] std::size_t deviceBytes() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace matte
