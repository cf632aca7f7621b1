// SPDX-License-Identifier: Apache-2.0
#include "inference/tools/evaluate/unknown_band.h"

#include <cmath>
#include <numeric>

namespace matte {
namespace {

constexpr double kSoftShare = 0.01;      ///< of the pixels of a true alpha, at least
constexpr double kSidesPerRadius = 100;  ///< longest sides of the picture by radii of the dilation
constexpr double kHairShare = 1.0 / 3;   ///< of the person's area
constexpr double kRounding = 1e-6;       ///< of a sum of alpha: its order must not decide

Mask softPixels(const Planes& truth) {
    return where(truth, [](float alpha) { return alpha > 0.02F && alpha < 0.98F; });
}

}  // namespace

bool isSoft(const Planes& truth) {
    return double(softPixels(truth).count()) > kSoftShare * double(truth.size.pixels());
}

Mask unknownBand(const Planes& truth) {
    return dilated(softPixels(truth), std::max(2, int(std::lround(truth.size.longest() / kSidesPerRadius))));
}

Mask hairPart(Mask band, const Planes& truth) {
    const double end = kHairShare * std::accumulate(truth.values.begin(), truth.values.end(), 0.0) - kRounding;
    double passed = 0;
    for (int y = 0; y < truth.size.height; ++y) {
        const float* row = truth.row(y);
        const auto flags = band.set.begin() + std::ptrdiff_t(y) * truth.size.width;
        if (passed >= end) std::fill_n(flags, truth.size.width, std::uint8_t(0));
        passed = std::accumulate(row, row + truth.size.width, passed);
    }
    return band;
}

}  // namespace matte
