// SPDX-License-Identifier: Apache-2.0
#include "inference/tools/evaluate/sequence_metrics.h"

#include <algorithm>
#include <cmath>

#include "inference/core/pixel_math.h"
#include "inference/matting/resample.h"
#include "inference/tools/evaluate/filters.h"

namespace matte {
namespace {

constexpr int kGridLongestSide = 320;
constexpr float kStill = 1.5F;               ///< of 255
constexpr float kMoving = 0.1F;              ///< change of the true alpha
constexpr double kFew = 0.05, kMany = 0.02;  ///< of a frame's labelled pixels
constexpr double kSigma = 2;
constexpr int kRadius = 6;

Size gridOf(Size frame) {
    const double scale = double(kGridLongestSide) / frame.longest();
    const auto side = [&](int pixels) { return std::max(1, int(std::lround(pixels * scale))); };
    return {side(frame.width), side(frame.height)};
}

Planes blurred(const Planes& in) {
    const auto gauss = [](int i) { return std::exp(-i * i / (2 * kSigma * kSigma)); };
    double sum = 0;
    for (int i = -kRadius; i <= kRadius; ++i) sum += gauss(i);
    std::vector<float> kernel;
    for (int i = -kRadius; i <= kRadius; ++i) kernel.push_back(float(gauss(i) / sum));
    Planes out(in.size, 1);
    out.values = filtered(in.values, in.size, kernel, kernel);
    return out;
}

/// The share of `alpha` that is somebody and not of the largest part.
double shareBeside(const Planes& alpha) {
    const Mask somebody = where(alpha, [](float value) { return value > kSomebody; });
    return double(somebody.count() - largestRegion(somebody).count()) / double(alpha.size.pixels());
}

float byteLuma(const std::uint8_t* pixel, int red, int blue) {
    return 0.299F * float(pixel[red]) + 0.587F * float(pixel[1]) + 0.114F * float(pixel[blue]);
}

}  // namespace

void SequenceMeter::Labels::add(const Planes& label, const Planes& alpha, bool isPerson) {
    std::size_t labelled = 0, differing = 0;
    for (std::size_t i = 0; i < label.values.size(); ++i) {
        if (label.values[i] <= kSomebody) continue;
        ++labelled;
        differing += (alpha.values[i] > kSomebody) != isPerson;
    }
    if (!labelled) return;
    const double share = double(differing) / double(labelled);
    pixels += double(labelled);
    wrong += double(differing);
    ++frames;
    few += share < kFew;
    many += share > kMany;
}

void SequenceMeter::add(const SequenceFrame& frame) {
    const auto& [luma, alpha, truth, limbs, things, seconds] = frame;
    switches_.add(alpha, truth, seconds);
    if (limbs) limbs_.add(*limbs, alpha, true);
    if (things) things_.add(*things, alpha, false);
    const Size grid = gridOf(alpha.size);
    Planes calm = blurred(resamplePlanes(luma, grid)), small = resamplePlanes(alpha, grid);
    ++frames_;
    beside_ += shareBeside(small);
    uncertain_ += uncertainShare(alpha);
    if (truth) mattes_.push_back(scoreMatte(alpha, *truth, bandOf_));
    const bool follows = alpha_.size == alpha.size;
    if (follows) {
        for (std::size_t i = 0; i < small.values.size(); ++i) {
            if (std::abs(calm.values[i] - luma_.values[i]) >= kStill) continue;
            ++stillPixels_;
            change_ += std::abs(double(small.values[i]) - double(small_.values[i]));
        }
    }
    if (follows && truth && truth_.size == truth->size) {
        double square = 0;
        for (std::size_t i = 0; i < alpha.values.size(); ++i) {
            const double change = double(alpha.values[i]) - double(alpha_.values[i]);
            const double trueChange = double(truth->values[i]) - double(truth_.values[i]);
            square += (change - trueChange) * (change - trueChange);
            if (std::abs(trueChange) <= kMoving) continue;
            ++movingPixels_;
            movingError_ += std::abs(double(alpha.values[i]) - double(truth->values[i]));
        }
        dtSsd_ += std::sqrt(square / double(alpha.values.size()));
        ++pairs_;
    }
    luma_ = std::move(calm);
    small_ = std::move(small);
    alpha_ = alpha;
    truth_ = truth ? *truth : Planes();
}

SequenceScores SequenceMeter::scores() const {
    const auto mean = [](double sum, double count) { return count > 0 ? std::optional(sum / count) : std::nullopt; };
    SequenceScores scores;
    scores.frames = frames_;
    scores.flicker = mean(change_, stillPixels_);
    scores.dtSsd = mean(dtSsd_, pairs_);
    scores.movingError = mean(movingError_, movingPixels_);
    scores.beside = mean(beside_, frames_);
    scores.switches = switches_.all();
    scores.wrongSwitches = switches_.wrong();
    scores.limbsLost = mean(limbs_.wrong, limbs_.pixels);
    scores.limbsKept = mean(limbs_.few, limbs_.frames);
    scores.thingsShown = mean(things_.wrong, things_.pixels);
    scores.thingsShownIn = mean(things_.many, things_.frames);
    scores.uncertain = mean(uncertain_, frames_).value_or(0);
    if (!mattes_.empty()) scores.mattes = meanScores(mattes_);
    return scores;
}

Planes lumaPlane(const ImageView& frame) {
    Planes luma(frame.size, 1);
    for (int y = 0; y < frame.size.height; ++y) {
        const std::uint8_t* row = frame.row(y);
        for (int x = 0; x < frame.size.width; ++x) {
            float value = 0;
            switch (frame.format) {
                case PixelFormat::gray8: value = float(row[x]); break;
                case PixelFormat::bgr8: value = byteLuma(row + std::ptrdiff_t(3) * x, 2, 0); break;
                case PixelFormat::rgba8: value = byteLuma(row + std::ptrdiff_t(4) * x, 0, 2); break;
                // Studio range: 16 to 235.
                case PixelFormat::nv12: value = (float(row[x]) - 16) * 255 / 219; break;
                case PixelFormat::yuyv: value = (float(row[std::ptrdiff_t(2) * x]) - 16) * 255 / 219; break;
            }
            luma.row(y)[x] = value;
        }
    }
    return luma;
}

}  // namespace matte
