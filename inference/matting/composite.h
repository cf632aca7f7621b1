// SPDX-License-Identifier: Apache-2.0
// The composite on the CPU: each pixel's alpha and colour from the guided-filter coefficients, mixed in linear light.
// Any thread.
#pragma once

#include <stop_token>
#include <vector>

#include "inference/core/image.h"
#include "inference/matting/resolve.h"
#include "inference/matting/source_rows.h"
#include "inference/matting/trimap.h"

namespace matte {

/// Keeps its tables and buffers while sizes and subject transform stay the same. One thread at a time.
class Compositor {
public:
    /// Composites `source` (any format but gray8) over its new background into `out`, rgba8 of the same size. `guided`:
    /// [h, w, guided::kChannels] as in guided_filter.h. `plate`: for Kind::image the background picture at the source's
    /// size, else null. Throws Cancelled.
    void over(const ImageView& source,
              const Planes& guided,
              const ResolvedParams& params,
              const Image* plate,
              const std::stop_token& stop,
              Image& out);
    /// The matte at `source`'s size, gray8, without the subject transform. Throws Cancelled.
    void matte(
        const ImageView& source, const Planes& guided, const Edge& edge, const std::stop_token& stop, Image& out);

    /// Linear interpolation of a pixel between two points of the coefficients' grid along one axis.
    struct Tap {
        int first = 0, second = 0;
        float amount = 0;
    };

private:
    /// One thread's row buffers.
    struct Worker {
        std::vector<float> guided;       ///< coefficients with the subject transform
        std::vector<float> room;         ///< coefficients without it, for the blurred room
        std::vector<std::uint8_t> rgba;  ///< the source picture
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
    bool asSeen_ = true, isMoved_ = false;  ///< asSeen_: no transform; isMoved_: more than mirrored
    std::vector<Tap> across_, down_, roomAcross_, roomDown_;
    std::vector<Worker> workers_;
    Trimap trimap_;
};

}  // namespace matte
