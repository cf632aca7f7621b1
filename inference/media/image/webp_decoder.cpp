// SPDX-License-Identifier: Apache-2.0
#include "inference/media/image/webp_decoder.h"

#include <algorithm>
#include <memory>

#include <webp/decode.h>

namespace matte {
namespace {

struct Delete {
    void operator()(WebPIDecoder* decoder) const { WebPIDelete(decoder); }
};

}  // namespace

Image decodeWebp(std::span<const std::uint8_t> bytes, const PictureHeader& header, DecodeBudget& budget) {
    constexpr std::size_t kPiece = 1 << 16;
    budget.begin(header.size);
    Image image(header.size, PixelFormat::rgba8);
    const std::unique_ptr<WebPIDecoder, Delete> decoder(
        WebPINewRGB(MODE_RGBA, image.row(0), image.bytes(), int(image.strideBytes())));
    if (!decoder) refuseForMemory(budget.name());
    VP8StatusCode status = VP8_STATUS_SUSPENDED;
    // Each time the file from its beginning to a little further than before.
    for (std::size_t end = 0; status == VP8_STATUS_SUSPENDED && end < bytes.size();) {
        budget.check();
        end = std::min(end + kPiece, bytes.size());
        status = WebPIUpdate(decoder.get(), bytes.data(), end);
    }
    if (status == VP8_STATUS_SUSPENDED) refuseCutOff(budget.name());
    if (status == VP8_STATUS_OUT_OF_MEMORY) refuseForMemory(budget.name());
    if (status != VP8_STATUS_OK) refuseDamaged(budget.name());
    return image;
}

}  // namespace matte
