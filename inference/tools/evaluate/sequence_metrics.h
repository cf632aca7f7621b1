// SPDX-License-Identifier: Apache-2.0
// Scores of the mattes of a sequence, above all how steady they are. One thread at a time.
//     SequenceMeter meter;
//     while (...) meter.add({luma, alpha, truth ? &*truth : nullptr});
//     std::printf("%.5f\n", *meter.scores().flicker);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inference/core/image.h"
#include "inference/tools/evaluate/matte_metrics.h"
#include "inference/tools/evaluate/switches.h"

namespace matte {

/// What was measured of one sequence. Some measures are made on a grid of 320 pixels along the longest side.
struct SequenceScores {
    std::string name;
    int frames = 0;
    /// Mean |change of alpha| from a frame to the next, over the pixels where nothing happens: those whose luma,
    /// blurred by a Gaussian of 2 pixels, changes by less than 1.5 of 255. On the grid. Null before two frames.
    std::optional<double> flicker;
    /// Erofeev et al., "Perceptually Motivated Benchmark for Video Matting", BMVC 2015: the mean over pairs of frames
    /// of the root mean square of (change of alpha - change of the true alpha). Null before two frames with a truth.
    std::optional<double> dtSsd;
    /// Mean |alpha - true alpha| where something moves: over the pixels whose true alpha changed by more than .1 since
    /// the frame before. A trail shows here. Null before there is such a pixel.
    std::optional<double> movingError;
    /// Mean share of a frame with an alpha above 1/2 outside the largest such region: what is taken for the person
    /// where one person is to be seen. On the grid. Null before the first frame.
    std::optional<double> beside;
    /// SwitchMeter's all() and wrong(): the area that switches, in shares of the frame by second.
    std::optional<double> switches, wrongSwitches;
    /// The share of the labelled pixels of limbs with an alpha of at most 1/2, and the share of the frames with such
    /// pixels in which less than 5 % of them are. Null without labels.
    std::optional<double> limbsLost, limbsKept;
    /// The share of the labelled pixels of things that are nobody's with an alpha above 1/2, and the share of the
    /// frames with such pixels in which more than 2 % of them are. Null without labels.
    std::optional<double> thingsShown, thingsShownIn;
    double uncertain = 0;               ///< mean of uncertainShare() over the frames
    std::optional<MatteScores> mattes;  ///< means over the frames that have a true matte
};

/// What is known of a frame; all planes are [h, w, 1], of its size.
struct SequenceFrame {
    const Planes& luma;              ///< 0 to 255
    const Planes& alpha;             ///< the matte that was found, 0 to 1, as those below
    const Planes* truth = nullptr;   ///< the true matte; null where it is not known
    const Planes* limbs = nullptr;   ///< above 1/2 where an arm, a hand or a leg is labelled; null without labels
    const Planes* things = nullptr;  ///< the same of furniture and other things that are not of the person
    double seconds = 0;              ///< its time in the sequence
};

class SequenceMeter {
public:
    explicit SequenceMeter(BandOf bandOf = BandOf::softMattes) : bandOf_(bandOf) {}
    /// The next frame. One of another size begins a new sequence, whose pairs count with the others.
    void add(const SequenceFrame& frame);
    /// Of the frames so far; without a name.
    [[nodiscard]] SequenceScores scores() const;

private:
    /// The labelled pixels of all frames, those that are wrong, and what became of the frames that have some.
    struct Labels {
        double pixels = 0, wrong = 0;
        int frames = 0, few = 0, many = 0;  ///< few: below 5 % of a frame's labelled pixels are wrong; many: above 2 %
        void add(const Planes& label, const Planes& alpha, bool isPerson);
    };

    BandOf bandOf_;
    SwitchMeter switches_;
    Labels limbs_, things_;
    Planes luma_, small_;  ///< of the frame before, on the grid
    Planes alpha_, truth_;
    int frames_ = 0, pairs_ = 0;
    std::vector<MatteScores> mattes_;
    double beside_ = 0, uncertain_ = 0, stillPixels_ = 0, change_ = 0, dtSsd_ = 0, movingPixels_ = 0, movingError_ = 0;
};

/// The luma of a frame in any format, [h, w, 1] of 0 to 255.
Planes lumaPlane(const ImageView& frame);

}  // namespace matte
