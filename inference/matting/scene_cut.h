// SPDX-License-Identifier: Apache-2.0
// SceneCut: whether a frame shows another scene than the frame before, of which nothing may be kept then: the recurrent
// state. The correlation of what both have of edges: the differences of neighbouring cells in a coarse grid of mean
// luma. A lamp that is switched on makes edges stronger or weaker and leaves them where they are; a person who moves
// changes some of them. A plain value, identical on host and device. For the frames of one source, in order.
//
//     if (cut.judge(lumaGrid(input))) forget();
#pragma once

#include <cstdint>

#include "inference/core/image.h"
#include "inference/core/pixel_math.h"

namespace matte {

struct SceneCut {
    static constexpr int kSide = 16, kCells = kSide * kSide;
    static constexpr float kSteps = 4096;  ///< integer steps of a luma from 0 to 1
    /// The correlation below which it is a cut. Measured: a person who moves .95 and more, who appears .7, a lamp that
    /// triples the light .6 and more; of two rooms .4 and less.
    static constexpr double kCorrelation = 0.4;
    /// The root mean square of the differences, in steps, below which a picture has no edges to compare.
    static constexpr int kLeastEdge = 32;

    /// Mean luma of each cell, in rows, 0 to kSteps.
    struct Grid {
        std::uint32_t cells[kCells];
    };

    Grid before{};
    std::uint32_t known = 0;  ///< whether there is a frame before

    /// Rec. 601 luma of an sRGB-encoded pixel, in steps.
    MATTE_HOST_DEVICE static std::uint32_t steps(float red, float green, float blue) {
        return std::uint32_t((0.299F * clampUnit(red) + 0.587F * clampUnit(green) + 0.114F * clampUnit(blue)) * kSteps);
    }
    /// The first pixel of cell `cell` of an axis of `length` pixels.
    MATTE_HOST_DEVICE static int begin(int cell, int length) { return cell * length / kSide; }

    MATTE_HOST_DEVICE static bool differ(const Grid& now, const Grid& then) {
        constexpr int pairs = 2 * kSide * (kSide - 1);
        std::int64_t both = 0, nowAlone = 0, thenAlone = 0;
        for (int row = 0; row < kSide; ++row) {
            for (int column = 0; column < kSide; ++column) {
                const int cell = row * kSide + column;
                for (const bool across : {true, false}) {
                    if ((across ? column : row) == kSide - 1) continue;
                    const int next = cell + (across ? 1 : kSide);
                    const std::int64_t a = std::int64_t(now.cells[next]) - now.cells[cell];
                    const std::int64_t b = std::int64_t(then.cells[next]) - then.cells[cell];
                    both += a * b;
                    nowAlone += a * a;
                    thenAlone += b * b;
                }
            }
        }
        constexpr std::int64_t least = std::int64_t(pairs) * kLeastEdge * kLeastEdge;
        if (nowAlone < least || thenAlone < least) return false;
        return both <= 0 ||
               double(both) * double(both) < kCorrelation * kCorrelation * double(nowAlone) * double(thenAlone);
    }

    /// Whether there is a cut before the frame of `now`, which becomes the frame before. Not before the first.
    MATTE_HOST_DEVICE bool judge(const Grid& now) {
        const bool cut = known != 0 && differ(now, before);
        before = now;
        known = 1;
        return cut;
    }
};

/// The grid of `picture` [h, w, 3], the network's input, sRGB-encoded, 0 to 1.
SceneCut::Grid lumaGrid(const Planes& picture);

}  // namespace matte
