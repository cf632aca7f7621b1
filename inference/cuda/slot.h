// SPDX-License-Identifier: Apache-2.0
// Slot: what the GPU needs for one picture at a time: a stream, the network's activations, a background, and for live
// frames a graph. Two slots let the upload of one frame run beside the computing of another. cutOut(), composite(),
// renderMatte() and start() enqueue and return, but wait where memory for a new size is needed; refineRegion(), wait(),
// finish() and drop() wait. One thread at a time; belongs to the device that was current when it was made.
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

    /// For stills of `picture` pixels, seen by the network at `input`.
    void prepare(Size picture, Size input);
    /// A still: upload, network, refinement. wait() for it before `cutout` is used.
    void cutOut(const CudaCutout& cutout, const std::stop_token& stop);
    /// After wait() for a still: people who are far away are looked at once more; whether there were any. Waits. When
    /// it throws CudaError for want of memory, `cutout` is as it was.
    bool refineRegion(const CudaCutout& cutout, const std::stop_token& stop);
    /// A still over its new background, or its matte alone.
    void composite(CudaCutout& cutout, const CompositeParams& params, Size size, const PictureMemory& out);
    void renderMatte(CudaCutout& cutout, const CompositeParams& params, Size size, const PictureMemory& out);
    /// Appends how long the steps since the last cutOut(), composite() or renderMatte() took.
    void wait(StageTimes& times) const;
    /// Of the last picture. After wait() or finish().
    [[nodiscard]] MatteFault matteFault() const { return MatteFault(control().nonFinite); }

    struct FrameSettings {
        Size input;                  ///< of the network
        LiveMemory* live = nullptr;  ///< of the source
        bool timeLayers = false;     ///< and stages
    };
    /// A live frame from its upload to its composite in `out`. The slot is idle before.
    void start(const Frame& frame,
               const CompositeParams& params,
               const FrameSettings& settings,
               std::shared_ptr<const PictureMemory> out);
    /// Waits for the frame.
    Output finish(const std::shared_ptr<Readback>& readback);
    /// Waits and forgets the frame, whatever became of it.
    void drop();

    [[nodiscard]] const CudaNetwork& network() const { return pass_.network(); }

private:
    /// What the host says and hears in page-locked memory.
    struct Control {
        ResolvedParams params;
        int nonFinite = 0;
    };
    /// What a recorded graph is good for.
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

    Stream stream_;  // first, so that it goes last
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
    bool warm_ = false;         ///< what is to be recorded has run once
    Graph plain_, timed_;       ///< of recorded_
    std::vector<Stage> marks_;  ///< the stages that timed_ marks
    Event begin_, done_{Event::Kind::asleep};
    Frame frame_;
    std::shared_ptr<const PictureMemory> out_;
    std::size_t bytesBefore_ = 0;
    bool timing_ = false, opaque_ = true;
};

}  // namespace matte
