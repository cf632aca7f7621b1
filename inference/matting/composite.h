// SPDX-License-Identifier: Apache-2.0
// The last step on the CPU: every pixel's alpha and colour from the coefficients, mixed in linear light. Any thread.
#pragma once

#include <stop_token>
#include <vector>

#include "inference/core/image.h"
#include "inference/matting/resolve.h"
#include "inference/matting/source_rows.h"
#include "inference/matting/trimap.h"

namespace matte {

/// Composites frame after frame: what it needs is kept while the sizes and the person's place stay. One thread at a
/// time.
class Compositor {
public:
    /// `source` (any format but gray8) over its new background -> `out`, rgba8 of the same size. `guided` is
    /// [h, w, guided::kChannels] as in guided_filter.h; `plate` is the background picture at the source's size for
    /// Kind::image, else null. Throws Cancelled.
    void over(const ImageView& source,
              const Planes& guided,
              const ResolvedParams& params,
              const Image* plate,
              const std::stop_token& stop,
              Image& out);
    /// The matte alone at `source`'s size, gray8, where the camera saw it. Throws Cancelled.
    void matte(
        const ImageView& source, const Planes& guided, const Edge& edge, const std::stop_token& stop, Image& out);

    /// Where a pixel lies between the coefficients' points along one axis.
    struct Tap {
        int first = 0, second = 0;
        float amount = 0;
    };

private:
    /// What one thread works with.
    struct Worker {
        std::vector<float> guided;       ///< a row of the coefficients, where the person stands
        std::vector<float> room;         ///< and one as the camera saw it
        std::vector<std::uint8_t> rgba;  ///< a row of the picture
        PlacedRows placed;
    };
    void prepare(Size points, Size picture, const InverseMapping& mapping);
    template <typename RowWork>
    void forEachRow(const ImageView& source,
                    const Planes& guided,
                    const Image* plate,
                    const std::stop_token& stop,
                    const RowWork& work);

    Size points_, picture_;
    InverseMapping mapping_;
    bool asSeen_ = true, isMoved_ = false;  ///< isMoved_: more than mirrored
    std::vector<Tap> across_, down_, roomAcross_, roomDown_;
    std::vector<Worker> workers_;
    Trimap trimap_;
};

}  // namespace matte
