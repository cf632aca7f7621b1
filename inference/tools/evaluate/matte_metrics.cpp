// SPDX-License-Identifier: Apache-2.0
#include "inference/tools/evaluate/matte_metrics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

namespace matte {
namespace {

/// One flag a pixel.
struct Mask {
    Size size;
    std::vector<std::uint8_t> set;
    explicit Mask(Size s) : size(s), set(s.pixels()) {}
};

bool isPerson(float alpha) {
    return alpha > 0.5F;
}
bool isUncertain(float alpha) {
    return alpha > 0.05F && alpha < 0.95F;
}

Mask where(const Planes& matte, const std::function<bool(float)>& holds) {
    Mask mask(matte.size);
    for (std::size_t i = 0; i < mask.set.size(); ++i) mask.set[i] = std::uint8_t(holds(matte.values[i]));
    return mask;
}

/// Whether any pixel of the line within `radius` is set, along a line of `count` pixels that are `step` apart.
void grownLine(const std::uint8_t* in, int count, std::size_t step, int radius, std::uint8_t* out) {
    int near = 0;
    for (int i = 0; i < std::min(radius, count); ++i) near += in[std::size_t(i) * step];
    for (int i = 0; i < count; ++i) {
        if (i + radius < count) near += in[std::size_t(i + radius) * step];
        if (i - radius - 1 >= 0) near -= in[std::size_t(i - radius - 1) * step];
        out[std::size_t(i) * step] = std::uint8_t(near > 0);
    }
}

/// What lies within `radius` of something set, along both axes.
Mask grown(const Mask& mask, int radius) {
    Mask across(mask.size), out(mask.size);
    const auto width = std::size_t(mask.size.width);
    for (std::size_t y = 0; y < std::size_t(mask.size.height); ++y) {
        grownLine(mask.set.data() + y * width, mask.size.width, 1, radius, across.set.data() + y * width);
    }
    for (std::size_t x = 0; x < width; ++x) {
        grownLine(across.set.data() + x, mask.size.height, width, radius, out.set.data() + x);
    }
    return out;
}

/// The person's pixels that touch the background, also at a corner; the picture's edge is no outline.
Mask outlineOf(const Planes& matte) {
    Mask outline = grown(where(matte, [](float alpha) { return !isPerson(alpha); }), 1);
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
    const auto foundPixels = countBoth(found, found), truePixels = countBoth(truth, truth);
    if (!foundPixels || !truePixels) return foundPixels == truePixels ? 1 : 0;
    const double precision = share(countBoth(found, grown(truth, kTolerance)), foundPixels, 0);
    const double recall = share(countBoth(truth, grown(found, kTolerance)), truePixels, 0);
    return precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0;
}

/// Where the truth is hard and no edge of it is near.
double uncertainAwayFrom(const Mask& outline, const Planes& found, const Planes& truth) {
    Mask edge = where(truth, isUncertain);
    for (std::size_t i = 0; i < edge.set.size(); ++i) edge.set[i] |= outline.set[i];
    const Mask near = grown(edge, std::max(2, int(std::lround(truth.size.longest() / 50.0))));
    std::size_t count = 0;
    for (std::size_t i = 0; i < near.set.size(); ++i) count += !near.set[i] && isUncertain(found.values[i]);
    return share(count, near.set.size(), 0);
}

}  // namespace

MatteScores scoreMatte(const Planes& found, const Planes& truth) {
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
    scores.gradient = gradientError(found, truth);
    scores.connectivity = connectivityError(found, truth);
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
        for (const MatteScores& one : all) mean.*measure += one.*measure / double(all.size());
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
