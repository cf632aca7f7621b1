// SPDX-License-Identifier: Apache-2.0
// The gradient and connectivity errors of Rhemann et al., CVPR 2009.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "inference/tools/evaluate/filters.h"
#include "inference/tools/evaluate/matte_metrics.h"

namespace matte {
namespace {

constexpr double kSigma = 1.4;
constexpr int kRadius = 4;  ///< beyond it the Gaussian is below a hundredth

/// The Gaussian and its derivative, such that the squares of their outer product sum to 1.
struct Kernels {
    std::vector<double> smooth, slope;
    Kernels() {
        double smoothSquares = 0, slopeSquares = 0;
        for (int i = 0; i <= 2 * kRadius; ++i) {
            const double x = i - kRadius, value = std::exp(-x * x / (2 * kSigma * kSigma));
            smooth.push_back(value);
            slope.push_back(-x * value);
            smoothSquares += value * value;
            slopeSquares += x * value * x * value;
        }
        for (double& value : smooth) value /= std::sqrt(smoothSquares);
        for (double& value : slope) value /= std::sqrt(slopeSquares);
    }
};

std::vector<double> gradientLength(const Planes& matte) {
    static const Kernels kernels;
    const std::vector<double> values(matte.values.begin(), matte.values.end());
    const auto x = filtered(values, matte.size, kernels.slope, kernels.smooth);
    auto length = filtered(values, matte.size, kernels.smooth, kernels.slope);
    for (std::size_t i = 0; i < length.size(); ++i) length[i] = std::hypot(x[i], length[i]);
    return length;
}

/// 8 bits meet the thresholds exactly or not at all: rounding must not decide.
constexpr double kRounding = 1e-6;
constexpr int kSteps = 10;

/// How strongly a pixel of this alpha hangs together with the region that holds it up to `level`.
double connectedness(double alpha, double level) {
    constexpr double kTolerance = 0.15;
    const double distance = alpha - level;
    return distance >= kTolerance - kRounding ? 1 - distance : 1;
}

}  // namespace

double gradientError(const Planes& found, const Planes& truth) {
    const auto a = gradientLength(found), b = gradientLength(truth);
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum / 1000;
}

double connectivityError(const Planes& found, const Planes& truth) {
    const std::size_t pixels = truth.values.size();
    std::vector<double> level(pixels, -1);  // the highest at which the pixel is still in the largest shared region
    for (int step = 1; step <= kSteps; ++step) {
        const double threshold = double(step) / kSteps - kRounding;
        std::vector<std::uint8_t> shared(pixels);
        for (std::size_t i = 0; i < pixels; ++i) {
            shared[i] = std::uint8_t(double(found.values[i]) >= threshold && double(truth.values[i]) >= threshold);
        }
        const auto inside = largestRegion(std::move(shared), truth.size);
        for (std::size_t i = 0; i < pixels; ++i) {
            if (level[i] < 0 && !inside[i]) level[i] = double(step - 1) / kSteps;
        }
    }
    double sum = 0;
    for (std::size_t i = 0; i < pixels; ++i) {
        const double at = level[i] < 0 ? 1 : level[i];
        sum += std::abs(connectedness(double(found.values[i]), at) - connectedness(double(truth.values[i]), at));
    }
    return sum / 1000;
}

}  // namespace matte
