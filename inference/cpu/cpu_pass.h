// SPDX-License-Identifier: Apache-2.0
// CpuPass: the matting pass on the CPU, for photos and live frames: matte, guided-filter coefficients and composite of
// a picture, in the same steps as cuda/matting_pass.h. CpuLiveMemory: the state that live mattes carry from frame to
// frame. Both keep their memory while sizes stay the same. One thread at a time; the work runs on the threads of
// inference/core/parallel.h.
//
//     const Planes& matte = pass.networkMatte(picture, input, {}, output);
//     pass.refine(picture, matte, grid, {}, frame, output.times);
//     pass.composite(picture, frame, params, {}, image, output.times);
#pragma once

#include <span>

#include "inference/cpu/host_network.h"
#include "inference/engine/engine.h"
#include "inference/matting/component_filter.h"
#include "inference/matting/composite.h"
#include "inference/matting/guided_filter.h"
#include "inference/matting/resample.h"
#include "inference/matting/scene_cut.h"
#include "inference/matting/source_rows.h"
#include "inference/matting/temporal_filter.h"

namespace matte {

/// The results for one picture, on the coefficients' grid [h, w].
struct CpuFrame {
    Planes guided;          ///< [h, w, guided::kChannels]
    Planes alpha, linear;   ///< the refined matte [h, w, 1], and the picture in linear light [h, w, 3]
    int blurredRadius = 0;  ///< radius of the blur in channel guided::kBlurred; 0: none yet
};

/// For the frames of one source, in order.
class CpuLiveMemory {
public:
    /// Before a frame's network: puts the recurrent state that the frame before left into `state`. Zero for a source's
    /// first frame, after a scene cut, after drop(), and at another size; `input` is the network's input.
    void restoreState(const Planes& input, std::span<float> state);
    /// After it: keeps the state for the next frame.
    void keepState(std::span<const float> state) { state_.assign(state.begin(), state.end()); }
    /// Applies the matte guard to a frame's matte [h, w, 1]; `input` is its network input. On a fault clears the matte,
    /// the recurrent state and the filters' history.
    MatteFault judge(const Planes& input, Planes& matte);
    /// Applies the component filter and the temporal filter, as `params` says. Adds their stages to `times`.
    void filter(const Planes& input, const ResolvedParams& params, Planes& matte, StageTimes& times);
    /// Clears the recurrent state and the filters' history.
    void drop();
    /// Clears all history, for a new source.
    void reset();

private:
    void dropMattes();

    std::vector<float> state_;  ///< as HostNetwork::state(); empty: zero
    Size stateFor_;             ///< the input's size that it belongs to
    SceneCut cut_;
    Planes before_;  ///< the previous frame's input
    MatteGuard guard_;
    ComponentFilter components_;
    TemporalFilter temporal_;
};

class CpuPass {
public:
    explicit CpuPass(HostNetwork& network) : network_(network) {}

    /// The network's matte of `source` (any format but gray8) at the input size `input`, valid until the next call: a
    /// still, or the next frame of the sequence of `live`. Adds prepare, preprocess and network to `output.times`; with
    /// `timeLayers` fills `output.layerMs`. Throws Cancelled.
    Planes& networkMatte(const ImageView& source,
                         Size input,
                         const std::stop_token& stop,
                         Output& output,
                         CpuLiveMemory* live = nullptr,
                         bool timeLayers = false);
    /// The network's last input, [h, w, 3], sRGB-encoded, 0 to 1.
    [[nodiscard]] const Planes& input() const { return input_; }
    /// Refines `matte` by the guided filter with `source` as guide, and estimates local colours, on a grid of `grid`
    /// points. Adds refine and foreground to `times`.
    void refine(const ImageView& source,
                const Planes& matte,
                Size grid,
                const std::stop_token& stop,
                CpuFrame& frame,
                StageTimes& times);
    /// Composites `source` over `params.background` into `out`, rgba8 of the same size. Adds composite and, if needed,
    /// plate, blur and lightWrap to `times`. Throws Cancelled.
    void composite(const ImageView& source,
                   CpuFrame& frame,
                   const CompositeParams& params,
                   const std::stop_token& stop,
                   Image& out,
                   StageTimes& times);
    /// Renders the matte into `out`, gray8 of `source`'s size. Throws Cancelled.
    void matte(const ImageView& source,
               const CpuFrame& frame,
               const CompositeParams& params,
               const std::stop_token& stop,
               Image& out);

private:
    const Image* plate(const Background& background, Size size, StageTimes& times);

    HostNetwork& network_;
    FrameShrinker toInput_, toGrid_;
    Planes input_, matte_, guide_;
    RefineScratch scratch_;
    Compositor compositor_;
    PictureLayer layer_;
    Image plate_;
    Background plateFor_;  ///< owns the picture, so that its address is not reused by another one
};

}  // namespace matte
