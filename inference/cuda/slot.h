// SPDX-License-Identifier: Apache-2.0
// Slot: the GPU resources for one picture at a time: a stream, the network's activations, a background plate and, for
// live frames, a CUDA graph. Two slots overlap the upload of one frame with the computation of another. cutOut(),
// composite(), renderMatte() and start() enqueue and return, unless a new size needs memory; refineRegion(), wait(),
// finish() and drop() wait. One thread at a time; belongs to the device that was current at its construction.
//
//     slot.start(frame, params, settings, pictures.take(bytes));
//     Output output = slot.finish(readback);
#pragma once

#include <optional>

#include "inference/cuda/cuda_cutout.h"
#include "inference/cuda/cuda_picture.h"
#include "inference/cuda/matting_pass.h"
#include "inference/cuda/pixels/plate.h"

namespace matte {

class Slot {
public:
    Slot(std::shared_ptr<const CudaWeights> weights, CudaNetwork::Choose choose, CudaFault fault);

    /// Prepares for stills of size `picture` and a network input of size `input`.
    void prepare(Size picture, Size input);
    /// Cuts out a still: upload, network, refinement. Call wait() before using `cutout`.
    void cutOut(const CudaCutout& cutout, const std::stop_token& stop);
    /// After cutOut() and wait(): runs the second pass on distant people; returns whether there were any. Waits. If it
    /// throws CudaError for lack of memory, `cutout` is unchanged.
    bool refineRegion(const CudaCutout& cutout, const std::stop_token& stop);
    /// Renders a still over its new background, or its matte.
    void composite(CudaCutout& cutout, const CompositeParams& params, Size size, const PictureMemory& out);
    void renderMatte(CudaCutout& cutout, const CompositeParams& params, Size size, const PictureMemory& out);
    /// Waits for the last cutOut(), composite() or renderMatte() and appends its times.
    void wait(StageTimes& times) const;
    /// The last picture's; after wait() or finish().
    [[nodiscard]] MatteFault matteFault() const { return MatteFault(control().nonFinite); }

    struct FrameSettings {
        Size input;                  ///< size of the network's input
        LiveMemory* live = nullptr;  ///< of the source
        bool timeLayers = false;     ///< times layers and stages
    };
    /// Enqueues a live frame, from its upload to its composite in `out`. The slot must be idle.
    void start(const Frame& frame,
               const CompositeParams& params,
               const FrameSettings& settings,
               std::shared_ptr<const PictureMemory> out);
    /// Waits for the frame.
    Output finish(const std::shared_ptr<Readback>& readback);
    /// Waits and discards the frame, even if it failed.
    void drop();

    [[nodiscard]] const CudaNetwork& network() const { return pass_.network(); }

private:
    /// Data exchanged with the device through page-locked memory.
    struct Control {
        ResolvedParams params;
        int nonFinite = 0;
    };
    /// The conditions under which a recorded graph is valid.
    struct Recording {
        Size size;
        PixelFormat format = PixelFormat::rgba8;
        bool blurred = false, filtered = false;
        unsigned passVersion = 0, liveVersion = 0;
        bool operator==(const Recording&) const = default;
    };
    [[nodiscard]] Control& control() const { return *control_.as<Control>(); }
    [[nodiscard]] const ResolvedParams* deviceParams() const { return paramsBlock_.as<ResolvedParams>(); }
    void prepareFrame(const Image& image, bool filtered, const FrameSettings& settings);
    void upload(const Image& image, const FrameMemory& memory);
    void uploadParams(const ResolvedParams& params);
    void findMatte(const FrameSettings& settings);
    void show(const device::Source& source,
              const device::GuidedCoefficients& guided,
              const CompositeParams& params,
              const PictureMemory& out);

    Stream stream_;  // first, so that it is destroyed last
    CudaFault fault_;
    MattingPass pass_;
    Plate plate_;
    StagedCopy copy_;
    PinnedBuffer control_{sizeof(Control)};
    DeviceBuffer paramsBlock_{sizeof(ResolvedParams)};
    StageClock stages_;
    LayerClock layers_;

    // Live frames:
    FrameMemory memory_;
    Recording recorded_;
    bool warm_ = false;         ///< the work to record has run once
    Graph plain_, timed_;       ///< for recorded_
    std::vector<Stage> marks_;  ///< stages marked by timed_
    Event begin_, done_{Event::Kind::asleep};
    Frame frame_;
    std::shared_ptr<const PictureMemory> out_;
    std::size_t bytesBefore_ = 0;
    bool timing_ = false, opaque_ = true;
};

}  // namespace matte
