// SPDX-License-Identifier: Apache-2.0
#include "inference/tools/evaluate/matte_metrics.h"

#include <algorithm>
#include <cmath>

#include "inference/tools/evaluate/rhemann.h"
#include "inference/tools/evaluate/unknown_band.h"

namespace matte {
namespace {

bool isPerson(float alpha) {
    return alpha > 0.5F;
}
bool isUncertain(float alpha) {
    return alpha > 0.05F && alpha < 0.95F;
}

/// The person's pixels that touch the background, also at a corner; the picture's edge is no outline.
Mask outlineOf(const Planes& matte) {
    Mask outline = dilated(where(matte, [](float alpha) { return !isPerson(alpha); }), 1);
    for (std::size_t i = 0; i < outline.set.size(); ++i) outline.set[i] &= std::uint8_t(isPerson(matte.values[i]));
    return outline;
}

double share(std::size_t part, std::size_t whole, double ofNothing) {
    return whole ? double(part) / double(whole) : ofNothing;
}

std::size_t countBoth(const Mask& a, const Mask& b) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < a.set.size(); ++i) count += a.set[i] & b.set[i];
    return count;
}

double boundaryScore(const Mask& found, const Mask& truth) {
    constexpr int kTolerance = 2;
    const auto foundPixels = found.count(), truePixels = truth.count();
    if (!foundPixels || !truePixels) return foundPixels == truePixels ? 1 : 0;
    const double precision = share(countBoth(found, dilated(truth, kTolerance)), foundPixels, 0);
    const double recall = share(countBoth(truth, dilated(found, kTolerance)), truePixels, 0);
    return precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0;
}

/// Where the truth is hard and no edge of it is near.
double uncertainAwayFrom(const Mask& outline, const Planes& found, const Planes& truth) {
    Mask edge = where(truth, isUncertain);
    for (std::size_t i = 0; i < edge.set.size(); ++i) edge.set[i] |= outline.set[i];
    const Mask near = dilated(edge, std::max(2, int(std::lround(truth.size.longest() / 50.0))));
    std::size_t count = 0;
    for (std::size_t i = 0; i < near.set.size(); ++i) count += !near.set[i] && isUncertain(found.values[i]);
    return share(count, near.set.size(), 0);
}

/// Null where nothing is soft.
std::optional<BandScores> scoreBand(const Planes& found,
                                    const Planes& truth,
                                    const std::vector<double>& gradient,
                                    const std::vector<double>& connectivity) {
    const Mask band = unknownBand(truth);
    const auto pixels = band.count();
    if (!pixels) return std::nullopt;
    double difference = 0, square = 0;
    for (std::size_t i = 0; i < band.set.size(); ++i) {
        if (!band.set[i]) continue;
        const double d = double(found.values[i]) - double(truth.values[i]);
        difference += std::abs(d);
        square += d * d;
    }
    return BandScores{difference / 1000, square / double(pixels), inThousands(gradient, band),
                      inThousands(connectivity, band), inThousands(gradient, hairPart(band, truth))};
}

template <typename Scores>
double meanOf(const std::vector<Scores>& all, double Scores::*measure) {
    double sum = 0;
    for (const Scores& one : all) sum += one.*measure;
    return all.empty() ? 0 : sum / double(all.size());
}

}  // namespace

MatteScores scoreMatte(const Planes& found, const Planes& truth, BandOf bandOf) {
    std::size_t both = 0, either = 0, neither = 0;
    double difference = 0, square = 0;
    const std::size_t pixels = truth.values.size();
    for (std::size_t i = 0; i < pixels; ++i) {
        const bool a = isPerson(found.values[i]), b = isPerson(truth.values[i]);
        both += a && b;
        either += a || b;
        neither += !a && !b;
        const double d = double(found.values[i]) - double(truth.values[i]);
        difference += std::abs(d);
        square += d * d;
    }
    MatteScores scores;
    scores.personIou = share(both, either, 1);
    scores.meanIou = (scores.personIou + share(neither, pixels - both, 1)) / 2;
    scores.mad = difference / double(pixels);
    scores.mse = square / double(pixels);
    const auto gradient = gradientErrors(found, truth), connectivity = connectivityErrors(found, truth);
    scores.gradient = inThousands(gradient);
    scores.connectivity = inThousands(connectivity);
    if (bandOf == BandOf::everyMatte || isSoft(truth)) scores.band = scoreBand(found, truth, gradient, connectivity);
    const Mask outline = outlineOf(truth);
    scores.boundary = boundaryScore(outlineOf(found), outline);
    scores.uncertain = uncertainShare(found);
    scores.uncertainAway = uncertainAwayFrom(outline, found, truth);
    return scores;
}

double uncertainShare(const Planes& matte) {
    return share(std::size_t(std::ranges::count_if(matte.values, isUncertain)), matte.values.size(), 0);
}

MatteScores meanScores(const std::vector<MatteScores>& all) {
    MatteScores mean;
    for (double MatteScores::*measure :
         {&MatteScores::meanIou, &MatteScores::personIou, &MatteScores::mad, &MatteScores::mse, &MatteScores::gradient,
          &MatteScores::connectivity, &MatteScores::boundary, &MatteScores::uncertain, &MatteScores::uncertainAway}) {
        mean.*measure = meanOf(all, measure);
    }
    std::vector<BandScores> bands;
    for (const MatteScores& one : all) {
        if (one.band) bands.push_back(*one.band);
    }
    if (bands.empty()) return mean;
    mean.band.emplace();
    for (double BandScores::*measure : {&BandScores::sad, &BandScores::mse, &BandScores::gradient,
                                        &BandScores::connectivity, &BandScores::hairGradient}) {
        (*mean.band).*measure = meanOf(bands, measure);
    }
    return mean;
}

double worstTenth(const std::vector<MatteScores>& all) {
    std::vector<double> values;
    values.reserve(all.size());
    for (const MatteScores& one : all) values.push_back(one.meanIou);
    std::ranges::sort(values);
    const std::size_t count = std::min(values.size(), std::max<std::size_t>(1, values.size() / 10));
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += values[i];
    return count ? sum / double(count) : 0;
}

}  // namespace matte
