// SPDX-License-Identifier: Apache-2.0
#include "inference/tools/evaluate/rhemann.h"

#include <cmath>
#include <numeric>

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

std::vector<double> gradientErrors(const Planes& found, const Planes& truth) {
    auto errors = gradientLength(found);
    const auto trueLength = gradientLength(truth);
    for (std::size_t i = 0; i < errors.size(); ++i) {
        const double difference = errors[i] - trueLength[i];
        errors[i] = difference * difference;
    }
    return errors;
}

std::vector<double> connectivityErrors(const Planes& found, const Planes& truth) {
    const std::size_t pixels = truth.values.size();
    std::vector<double> level(pixels, -1);  // the highest at which the pixel is still in the largest shared region
    for (int step = 1; step <= kSteps; ++step) {
        const double threshold = double(step) / kSteps - kRounding;
        Mask shared(truth.size);
        for (std::size_t i = 0; i < pixels; ++i) {
            shared.set[i] = std::uint8_t(double(found.values[i]) >= threshold && double(truth.values[i]) >= threshold);
        }
        const Mask inside = largestRegion(std::move(shared));
        for (std::size_t i = 0; i < pixels; ++i) {
            if (level[i] < 0 && !inside.set[i]) level[i] = double(step - 1) / kSteps;
        }
    }
    std::vector<double> errors(pixels);
    for (std::size_t i = 0; i < pixels; ++i) {
        const double at = level[i] < 0 ? 1 : level[i];
        errors[i] = std::abs(connectedness(double(found.values[i]), at) - connectedness(double(truth.values[i]), at));
    }
    return errors;
}

double inThousands(const std::vector<double>& errors) {
    return std::accumulate(errors.begin(), errors.end(), 0.0) / 1000;
}

double inThousands(const std::vector<double>& errors, const Mask& within) {
    double sum = 0;
    for (std::size_t i = 0; i < errors.size(); ++i) sum += within.set[i] ? errors[i] : 0;
    return sum / 1000;
}

}  // namespace matte
