// SPDX-License-Identifier: Apache-2.0
// CpuPass: the matting pass on the CPU, for photos and for live frames: from a picture to its matte, its coefficients
// and its composite, in the steps of cuda/matting_pass.h. CpuLiveMemory: what live mattes hand on from one to the next.
// Both keep their memory while sizes stay. One thread at a time; the work runs on the threads of
// inference/core/parallel.h.
//
//     const Planes& matte = pass.networkMatte(picture, input, {}, output);
//     pass.refine(picture, matte, grid, {}, frame, output.times);
//     pass.composite(picture, frame, params, {}, image, output.times);
#pragma once

#include "inference/cpu/host_network.h"
#include "inference/engine/engine.h"
#include "inference/matting/component_filter.h"
#include "inference/matting/composite.h"
#include "inference/matting/guided_filter.h"
#include "inference/matting/resample.h"
#include "inference/matting/source_rows.h"
#include "inference/matting/temporal_filter.h"

namespace matte {

/// What is found out about one picture, on the coefficients' grid [h, w].
struct CpuFrame {
    Planes guided;          ///< [h, w, guided::kChannels]
    Planes alpha, linear;   ///< the refined matte, and the picture in linear light
    int blurredRadius = 0;  ///< of channel guided::kBlurred; 0: not blurred yet
};

class CpuPass {
public:
    explicit CpuPass(HostNetwork& network) : network_(network) {}

    /// The network's matte of `source` (any format but gray8), seen at `input`, valid until the next call. Adds
    /// prepare, preprocess and network to `output.times`; with `timeLayers` fills `output.layerMs`. Throws Cancelled.
    Planes& networkMatte(
        const ImageView& source, Size input, const std::stop_token& stop, Output& output, bool timeLayers = false);
    /// The network's last input, [h, w, 3], sRGB-encoded, 0 to 1.
    [[nodiscard]] const Planes& input() const { return input_; }
    /// The guided filter of `matte` by `source`, and both sides' colours, on a grid of `grid` points. Adds refine and
    /// foreground.
    void refine(const ImageView& source,
                const Planes& matte,
                Size grid,
                const std::stop_token& stop,
                CpuFrame& frame,
                StageTimes& times);
    /// `source` over `params.background` -> `out`, rgba8 of the same size. Adds plate, blur, wrap, where they are
    /// needed, and composite. Throws Cancelled.
    void composite(const ImageView& source,
                   CpuFrame& frame,
                   const CompositeParams& params,
                   const std::stop_token& stop,
                   Image& out,
                   StageTimes& times);
    /// The matte alone -> `out`, gray8 of `source`'s size. Throws Cancelled.
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
    Background plateFor_;  ///< holds the picture, so that another one at its place in memory is not taken for it
};

/// Of one source's frames, in their order.
class CpuLiveMemory {
public:
    /// Whether the matte [h, w, 1] of a frame, whose network input is `input`, may be shown. One that may not becomes
    /// empty, and the filters begin anew.
    MatteFault judge(const Planes& input, Planes& matte);
    /// The component filter and the temporal filter, where `params` want either. Adds their stages.
    void filter(const Planes& input, const ResolvedParams& params, Planes& matte, StageTimes& times);
    /// What the filters remember of earlier frames goes.
    void drop();
    /// Another source begins.
    void reset();

private:
    Planes before_;  ///< the input of the frame before
    MatteGuard guard_;
    ComponentFilter components_;
    TemporalFilter temporal_;
};

}  // namespace matte
