// SPDX-License-Identifier: Apache-2.0
// MattingPass: computes the matte and colours of a picture on the device: the network's input, the network, the guided
// filter, background blur and light wrap. run(), blur() and wrap() enqueue kernels and return; the others may wait for
// the device. One thread at a time, one stream; belongs to the device that was current at its construction.
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

    /// Prepares for pictures of size `picture` and a network input of size `input`. `filtered`: run() will filter the
    /// matte. Allocates and waits only for new sizes.
    void prepare(Size picture, Size input, bool filtered = false);
    /// Changes whenever memory used by earlier recorded graphs is reallocated.
    [[nodiscard]] unsigned version() const { return version_; }

    struct Run {
        int* nonFinite = nullptr;                ///< NonFiniteFlag::onHost
        LayerClock* layers = nullptr;            ///< if not null, times the layers, which then don't overlap
        const LiveMemory* live = nullptr;        ///< for live frames: keeps the state, applies the matte guard
        bool filtered = false;                   ///< for live frames: applies the filters, as `params` says
        const ResolvedParams* params = nullptr;  ///< in device memory
    };
    /// Computes frame.guided(), except `blurred` and `wrap`, from frame.picture().
    void run(const FrameMemory& frame, const Run& how, cudaStream_t stream, StageClock& stages);
    /// For stills, after run(): the network's last matte. Waits.
    [[nodiscard]] Planes matte(cudaStream_t stream) const;
    /// Only the network's matte of a still or part of one, at the input size `size`. Allocates and waits.
    Planes networkMatte(const device::Source& part, Size size, cudaStream_t stream);
    /// Computes frame.guided() as run() does, but from `matte` [h, w, 1] in place of the network's. Allocates and
    /// waits.
    void refine(const FrameMemory& frame, const Planes& matte, cudaStream_t stream);

    /// Computes guided.blurred; `params` lies in device memory.
    void blur(const device::GuidedCoefficients& guided, const ResolvedParams* params, cudaStream_t stream);

    /// Computes guided.wrap for a frame of `size` over `plate`; `params` and `plate` lie in device memory.
    void wrap(const device::GuidedCoefficients& guided,
              const ResolvedParams* params,
              const std::uint8_t* plate,
              Size size,
              cudaStream_t stream);

    [[nodiscard]] const CudaNetwork& network() const { return network_; }
    [[nodiscard]] const UNet& unet() const { return weights_->unet(); }

private:
    [[nodiscard]] device::NetworkInput input() const;
    void fillGuided(const FrameMemory& frame,
                    const float* matte,
                    const device::Resampling& toGrid,
                    int* nonFinite,
                    cudaStream_t stream,
                    StageClock& stages);
    void runNetwork(const Run& how, cudaStream_t stream);
    void runStill(cudaStream_t stream);
    const float* judgeAndFilter(const FrameMemory& frame, const Run& how, cudaStream_t stream, StageClock& stages);
    [[nodiscard]] device::Scratch scratchFor(Size grid);
    void enlarge(DeviceBuffer& buffer, std::size_t bytes);

    std::shared_ptr<const CudaWeights> weights_;
    CudaNetwork network_;
    device::Resampling toInput_, toGrid_, fromInput_;
    DeviceBuffer scratch_, filtering_;
    Stream side_;  ///< work that is independent of the network
    Event forked_{Event::Kind::order}, joined_{Event::Kind::order};
    unsigned version_ = 0;
};

}  // namespace matte
