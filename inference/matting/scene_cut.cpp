// SPDX-License-Identifier: Apache-2.0
#include "inference/matting/scene_cut.h"

namespace matte {

SceneCut::Grid lumaGrid(const Planes& picture) {
    SceneCut::Grid grid{};
    const auto [width, height] = picture.size;
    for (int cell = 0; cell < SceneCut::kCells; ++cell) {
        const int row = cell / SceneCut::kSide, column = cell % SceneCut::kSide;
        const int left = SceneCut::begin(column, width), right = SceneCut::begin(column + 1, width);
        const int top = SceneCut::begin(row, height), bottom = SceneCut::begin(row + 1, height);
        std::uint64_t sum = 0;
        for (int y = top; y < bottom; ++y) {
            const float* pixel = picture.row(y) + std::ptrdiff_t(3) * left;
            for (int x = left; x < right; ++x, pixel += 3) sum += SceneCut::steps(pixel[0], pixel[1], pixel[2]);
        }
        const int pixels = (right - left) * (bottom - top);
        if (pixels > 0) grid.cells[cell] = std::uint32_t(sum / std::uint64_t(pixels));
    }
    return grid;
}

}  // namespace matte
