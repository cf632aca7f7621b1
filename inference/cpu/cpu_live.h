// SPDX-License-Identifier: Apache-2.0
// CpuLive: one source of live frames on the CPU, from a frame to its composite: what is remembered from frame to frame,
// and all memory, which is kept while sizes stay. One thread at a time.
//
//     CpuLive live;
//     Output output = live.run(frame, params, network, inputSize);
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

class CpuLive {
public:
    /// `input` is the network's size for the frame. `timeLayers` fills Output::layerMs.
    Output run(const Frame& frame, const CompositeParams& params, HostNetwork& network, Size input, bool timeLayers);
    /// What the filters remember of earlier frames goes.
    void drop();
    /// Another source begins.
    void reset();

private:
    /// A picture and its pixels, used again once nobody else holds either.
    struct Shown {
        std::shared_ptr<Image> image;
        std::shared_ptr<HostPicture> picture;
    };
    const Shown& unused(Size size);
    /// The frame as rgba8, which the network now has as its input.
    ImageView preprocess(const Image& frame, HostNetwork& network, Size input, StageTimes& times);
    void findMatte(HostNetwork& network, Size input, bool timeLayers, Output& output);
    MatteFault judge();
    void filterMatte(const CompositeParams& params, bool usable, StageTimes& times);
    void refine(const ImageView& source, Size input, StageTimes& times);
    void light(const CompositeParams& params, const Image* plate, StageTimes& times);
    const Image* plate(const Background& background, Size size, StageTimes& times);

    RgbaFrame rgba_;
    FrameShrinker toInput_, toGuide_;
    Planes picture_, matte_;  ///< at the network's size
    Planes before_;           ///< the picture of the frame before
    MatteGuard guard_;
    ComponentFilter components_;
    TemporalFilter temporal_;
    Planes guide_, guided_, alpha_, linear_;  ///< on the coefficients' grid
    RefineScratch scratch_;
    Compositor compositor_;
    PictureLayer layer_;
    Image plate_;
    Background plateFor_;  ///< holds the picture, so that another one at its place in memory is not taken for it
    std::vector<Shown> shown_;
};

}  // namespace matte
