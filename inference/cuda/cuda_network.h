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
#include <optional>

#include "inference/core/image.h"
#include "inference/cuda/conv/conv.h"
#include "inference/cuda/conv/conv_gru.h"
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
    CudaNetwork(const UNet& unet, ConvKernel kernel, Choose choose = chooseFirst)
        : CudaNetwork(std::make_shared<CudaWeights>(unet, kernel), std::move(choose)) {}

    /// Prepares for inputs of `size` (sides are multiples of 2^(levels-1)); does nothing if the size is unchanged. The
    /// network must not be running.
    void configure(Size size);
    [[nodiscard]] Size size() const { return size_; }

    /// In device memory: [H, W, 8] halves (ConvKernel::fp32: floats), normalised R, G, B and five zeros; forward() does
    /// not change it.
    [[nodiscard]] void* input() const { return at(0); }
    /// The states of unet.cells() in device memory, which forward() reads and replaces: zeros after configure() for
    /// another size, and before the first frame. Null without cells; multiples of 1024 bytes. Its layout is the
    /// network's own.
    [[nodiscard]] std::byte* state() const { return states_.data(); }
    [[nodiscard]] std::size_t stateBytes() const { return states_.bytes(); }
    void clearState(cudaStream_t stream) const;
    /// In device memory: [H, W] floats, 0 to 1.
    [[nodiscard]] float* alpha() const { return reinterpret_cast<float*>(at(int(placements_.size()) - 1)); }
    /// Enqueues all layers. `afterLayer`, for timing, is called with a layer's index after enqueuing it; layers then
    /// don't overlap.
    void forward(cudaStream_t stream, const std::function<void(int)>& afterLayer = {}) const;

    /// The chosen configuration of each layer, for display; after configure().
    [[nodiscard]] const std::vector<std::string>& choices() const { return choices_; }
    /// Weights, activations and states.
    [[nodiscard]] std::size_t deviceBytes() const { return arena_.bytes() + states_.bytes() + weights_->deviceBytes(); }

private:
    /// A span of the arena, and the layers between which it is in use.
    struct Placement {
        std::size_t offset = 0, bytes = 0;
        int firstLayer = 0, lastLayer = 0;
    };
    static std::size_t place(std::vector<Placement>& placements);
    [[nodiscard]] std::vector<Placement> lifetimes() const;
    void build();
    void placeCells();
    [[nodiscard]] std::byte* at(int tensor) const {
        return tensor == kNoTensor ? nullptr : arena_.data() + placements_[std::size_t(tensor)].offset;
    }

    std::shared_ptr<const CudaWeights> weights_;
    Choose choose_;
    int withHead_;  ///< the layer that computes the head too, or -1
    Size size_;
    std::vector<std::optional<ConvLaunch>> launches_;  ///< of each layer; empty: the head of withHead_
    std::vector<Placement> placements_;                ///< of each tensor
    std::vector<GruMemory> cells_;                     ///< as unet().cells()
    DeviceBuffer arena_, states_;
    std::vector<std::string> choices_;
};

}  // namespace matte
