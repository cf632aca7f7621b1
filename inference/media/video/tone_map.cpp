// SPDX-License-Identifier: Apache-2.0
#include "inference/media/video/tone_map.h"

#include <algorithm>
#include <cmath>

namespace matte {
namespace {

// Light is counted in reference whites.
constexpr double kWhite = 203;           ///< cd/m2
constexpr double kPeak = 1000 / kWhite;  ///< what pictures are made for; brighter light is cut
constexpr double kGamma = 1.2;           ///< of HLG's system at a peak of 1000 cd/m2

/// BT.2100, table 4: cd/m2 of a value, and back.
constexpr double kM1 = 2610.0 / 16384, kM2 = 2523.0 / 32, kC1 = 3424.0 / 4096, kC2 = 2413.0 / 128, kC3 = 2392.0 / 128;
double pqToLight(double value) {
    const double root = std::pow(value, 1 / kM2);
    return 10000 * std::pow(std::max(root - kC1, 0.0) / (kC2 - kC3 * root), 1 / kM1);
}
double lightToPq(double light) {
    const double power = std::pow(light / 10000, kM1);
    return std::pow((kC1 + kC2 * power) / (1 + kC3 * power), kM2);
}

/// BT.2100, table 5: the scene's light, 0 to 1, of a value.
double hlgToScene(double value) {
    constexpr double a = 0.17883277, b = 0.28466892, c = 0.55991073;
    return value <= 0.5 ? value * value / 3 : (std::exp((value - c) / a) + b) / 12;
}

/// BT.2390-11, 5.4: in PQ's values, light up to a knee as it is, then a spline to the target's white.
double compressed(double light) {
    const double peak = lightToPq(kPeak * kWhite), target = lightToPq(kWhite) / peak;
    const double value = lightToPq(std::min(light, kPeak) * kWhite) / peak, knee = 1.5 * target - 0.5;
    if (value < knee) return light;
    const double t = (value - knee) / (1 - knee), t2 = t * t, t3 = t2 * t;
    const double bent = (2 * t3 - 3 * t2 + 1) * knee + (t3 - 2 * t2 + t) * (1 - knee) + (-2 * t3 + 3 * t2) * target;
    return pqToLight(bent * peak) / kWhite;
}

double toSrgb(double light) {
    return light <= 0.0031308 ? light * 12.92 : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
}

double fromSrgb(double value) {
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

/// The light, in reference whites, of a value of 0 to 1; of HLG that of the scene.
double lightOf(ToneMap::Transfer transfer, double value) {
    switch (transfer) {
        case ToneMap::Transfer::hlg: return hlgToScene(value);
        case ToneMap::Transfer::pq: return pqToLight(value) / kWhite;
        default: return fromSrgb(value);
    }
}

/// Both have sRGB's white.
constexpr std::array<float, 9> kFromBt2020{1.6605F,  -0.5876F, -0.0728F, -0.1246F, 1.1329F,
                                           -0.0083F, -0.0182F, -0.1006F, 1.1187F};
constexpr std::array<float, 9> kFromP3{1.2249F, -0.2249F, 0, -0.0421F, 1.0421F, 0, -0.0196F, -0.0786F, 1.0983F};

/// A table of `steps` values of `f` over 0 to `most`.
template <typename T, typename F>
std::vector<T> table(int steps, double most, F f) {
    std::vector<T> values;
    values.reserve(std::size_t(steps));
    for (int i = 0; i < steps; ++i) values.push_back(T(f(most * i / (steps - 1))));
    return values;
}

}  // namespace

ToneMap::ToneMap(const Signal& signal)
    : signal_(signal), toBt709_(signal.primaries == Primaries::p3 ? kFromP3 : kFromBt2020) {
    const bool isHigh = signal.transfer != Transfer::usual;
    light_ = table<float>(kSteps, double(kSteps - 1) * 16 / kWhole,
                          [&](double value) { return lightOf(signal.transfer, std::min(value, 1.0)); });
    system_ = table<float>(kSteps, 1, [](double luminance) { return kPeak * std::pow(luminance, kGamma - 1); });
    gain_ =
        table<float>(kSteps, kPeak, [&](double light) { return isHigh && light > 0 ? compressed(light) / light : 1; });
    encoded_ = table<std::uint8_t>(2 * kSteps, 1, [](double light) { return std::lround(255 * toSrgb(light)); });
}

void ToneMap::apply(const std::uint16_t* from, std::uint8_t* to, int pixels) const {
    constexpr float kLast = kSteps - 1, kLastEncoded = 2 * kSteps - 1;
    const auto at = [](const auto& values, float position, float last) {
        return values[std::size_t(std::clamp(position, 0.0F, last) + 0.5F)];
    };
    for (int i = 0; i < pixels; ++i, from += 3, to += 3) {
        float b = light_[from[0] >> 4], g = light_[from[1] >> 4], r = light_[from[2] >> 4];
        if (signal_.transfer == Transfer::hlg) {
            const float luminance = 0.2627F * r + 0.6780F * g + 0.0593F * b;  // BT.2020
            const float system = at(system_, luminance * kLast, kLast);
            b *= system, g *= system, r *= system;
        }
        const float brightest = std::max({b, g, r});
        const float gain =
            brightest < float(kPeak) ? at(gain_, brightest * float(kLast / kPeak), kLast) : 1 / brightest;
        const auto& m = toBt709_;
        const float red = m[0] * r + m[1] * g + m[2] * b, green = m[3] * r + m[4] * g + m[5] * b,
                    blue = m[6] * r + m[7] * g + m[8] * b;
        to[0] = at(encoded_, blue * gain * kLastEncoded, kLastEncoded);
        to[1] = at(encoded_, green * gain * kLastEncoded, kLastEncoded);
        to[2] = at(encoded_, red * gain * kLastEncoded, kLastEncoded);
    }
}

}  // namespace matte
