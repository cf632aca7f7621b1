// SPDX-License-Identifier: Apache-2.0
// MattingPass: from a picture on the device to its matte and colours: the network's input, the network, the refinement,
// and what stands behind, blurred. run(), blur() and wrap() enqueue kernels and return; the others may wait for the
// device. One thread at a time, one stream; belongs to the device that was current when it was made.
//
//     pass.prepare(size, unet.inputSize(size));
//     pass.run(frame, {.nonFinite = &flag}, stream, stages);
#pragma once

#include "inference/cuda/cuda_network.h"
#include "inference/cuda/frame_memory.h"
#include "inference/cuda/live_memory.h"
#include "inference/cuda/stage_clock.h"

namespace matte {

class MattingPass {
public:
    MattingPass(std::shared_ptr<const CudaWeights> weights, CudaNetwork::Choose choose);

    /// For pictures of the size `picture`, which the network gets at `input`. `filtered`: run() is to filter the matte.
    /// Allocates and waits where sizes are new.
    void prepare(Size picture, Size input, bool filtered = false);
    /// Changes whenever a graph that was recorded before would use memory that is gone.
    [[nodiscard]] unsigned version() const { return version_; }

    struct Run {
        int* nonFinite = nullptr;                ///< NonFiniteFlag::onHost
        LayerClock* layers = nullptr;            ///< when not null, times each layer, which then don't overlap
        const LiveMemory* live = nullptr;        ///< of a live frame, whose matte is judged
        bool filtered = false;                   ///< and filtered as `params` says
        const ResolvedParams* params = nullptr;  ///< in device memory
    };
    /// Fills frame.guided(), all but `blurred` and `wrap`, from frame.picture().
    void run(const FrameMemory& frame, const Run& how, cudaStream_t stream, StageClock& stages);
    /// For stills, after run(). The network's matte of what it saw last. Waits for it.
    [[nodiscard]] Planes matte(cudaStream_t stream) const;
    /// The network's matte of a picture, or of part of one, alone: seen at `input`. Allocates, and waits for it.
    Planes networkMatte(const device::Source& part, Size input, cudaStream_t stream);
    /// Fills frame.guided() as run() does, but from `matte` [h, w, 1] instead of the network's. Allocates, and waits
    /// for it.
    void refine(const FrameMemory& frame, const Planes& matte, cudaStream_t stream);

    /// Fills guided.blurred; `params` lies in device memory.
    void blur(const device::GuidedCoefficients& guided, const ResolvedParams* params, cudaStream_t stream);

    /// Fills guided.wrap for a frame of `size` over `plate`.
    void wrap(const device::GuidedCoefficients& guided,
              const ResolvedParams* params,
              const std::uint8_t* plate,
              Size size,
              cudaStream_t stream);

    [[nodiscard]] const CudaNetwork& network() const { return network_; }
    [[nodiscard]] const UNet& unet() const { return weights_->unet(); }

private:
    void shrinkToInput(const device::Source& source, const device::Resampling& resampling, cudaStream_t stream);
    void fillGuided(const FrameMemory& frame,
                    const float* matte,
                    const device::Resampling& toGrid,
                    int* nonFinite,
                    cudaStream_t stream,
                    StageClock& stages);
    void runNetwork(LayerClock* layers, cudaStream_t stream);
    const float* judgeAndFilter(const FrameMemory& frame, const Run& how, cudaStream_t stream, StageClock& stages);
    [[nodiscard]] device::Scratch scratchFor(Size grid);
    void enlarge(DeviceBuffer& buffer, std::size_t bytes);

    std::shared_ptr<const CudaWeights> weights_;
    CudaNetwork network_;
    device::Resampling toInput_, toGrid_, fromInput_;
    DeviceBuffer scratch_, filtering_;
    Stream side_;  ///< what need not wait for the network
    Event forked_{Event::Kind::order}, joined_{Event::Kind::order};
    unsigned version_ = 0;
};

}  // namespace matte
