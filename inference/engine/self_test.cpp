// SPDX-License-Identifier: Apache-2.0
#include "inference/engine/self_test.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "inference/core/synthetic_person.h"

namespace matte {
namespace {

/// Small, so that the test adds less than 0.1 s to an engine's start. Of 60 flipped exponent bits of portrait-lite, 50
/// damage a photo's matte: this size detects 48 of them, 192x128 only 46; both detect all that show the room.
constexpr Size kPicture{256, 192};
/// Of a cell, in levels of 255: bf16 changes none by more than 1, and f16 is more exact; a harmful flipped bit changes
/// some by far more.
constexpr int kTolerance = 12;
/// Mean alpha above which an empty room counts as shown. An untrained network is uncertain everywhere.
constexpr double kNearlyAll = 0.9;

Image personIn(Size size) {
    Image picture(size, PixelFormat::bgr8);
    SyntheticPerson(size, 1, 0).drawFrame(0, picture);
    return picture;
}

KnownAnswer::Cells cellsOf(const Planes& matte) {
    constexpr int kSide = KnownAnswer::kSide;
    KnownAnswer::Cells cells{};
    const auto [width, height] = matte.size;
    for (int row = 0; row < kSide; ++row) {
        for (int column = 0; column < kSide; ++column) {
            const int left = column * width / kSide, right = (column + 1) * width / kSide;
            const int top = row * height / kSide, bottom = (row + 1) * height / kSide;
            double sum = 0;
            for (int y = top; y < bottom; ++y) {
                sum += std::accumulate(matte.row(y) + left, matte.row(y) + right, 0.0);
            }
            const double mean = sum / ((right - left) * (bottom - top));
            cells[std::size_t(row) * kSide + std::size_t(column)] = std::uint8_t(std::lround(mean * 255));
        }
    }
    return cells;
}

int largestDifference(const KnownAnswer::Cells& one, const KnownAnswer::Cells& other) {
    int largest = 0;
    for (std::size_t i = 0; i < one.size(); ++i) largest = std::max(largest, std::abs(one[i] - other[i]));
    return largest;
}

}  // namespace

std::string selfTest(const UNet& unet, const MatteOf& matteOf) {
    const auto& answer = unet.knownAnswer();
    const Planes matte = answer ? matteOf(personIn(answer->input))
                                : matteOf(SyntheticPerson(unet.inputSize(kPicture, kPicture.width), 1, 0).room());
    if (!allFinite(matte.values)) return "its matte of the test picture is not finite";
    if (answer) {
        if (largestDifference(cellsOf(matte), answer->cells) <= answer->tolerance) return {};
        return "its matte of the test picture is not the one that its file says";
    }
    const double sum = std::accumulate(matte.values.begin(), matte.values.end(), 0.0);
    return sum < kNearlyAll * double(matte.values.size()) ? "" : "it takes an empty room for a person";
}

KnownAnswer answerOf(const UNet& unet, const MatteOf& matteOf) {
    const Size input = unet.inputSize(kPicture, kPicture.width);
    return {input, kTolerance, cellsOf(matteOf(personIn(input)))};
}

}  // namespace matte
