// SPDX-License-Identifier: Apache-2.0
#include "inference/media/image/color_profile.h"

#include <array>
#include <cstdlib>
#include <memory>

#include <lcms2.h>

#include "inference/core/parallel.h"

namespace matte {
namespace {

struct CloseProfile {
    void operator()(void* profile) const { cmsCloseProfile(profile); }
};
struct DeleteTransform {
    void operator()(void* transform) const { cmsDeleteTransform(transform); }
};
using Profile = std::unique_ptr<void, CloseProfile>;
using Transform = std::unique_ptr<void, DeleteTransform>;

/// To rgba8 in sRGB, from pixels of four bytes in this layout; nothing when the profile isn't one of such pixels.
Transform transformToSrgb(std::span<const std::uint8_t> bytes, cmsColorSpaceSignature space, cmsUInt32Number layout) {
    if (bytes.empty()) return nullptr;
    const Profile embedded(cmsOpenProfileFromMem(bytes.data(), cmsUInt32Number(bytes.size())));
    if (!embedded || cmsGetColorSpace(embedded.get()) != space) return nullptr;
    const Profile srgb(cmsCreate_sRGBProfile());
    if (!srgb) return nullptr;
    // Without its cache of the last pixel a transform may be used by several threads.
    constexpr cmsUInt32Number kFlags = cmsFLAGS_NOCACHE | cmsFLAGS_BLACKPOINTCOMPENSATION;
    return Transform(
        cmsCreateTransform(embedded.get(), layout, srgb.get(), TYPE_RGBA_8, INTENT_RELATIVE_COLORIMETRIC, kFlags));
}

/// Most profiles are sRGB's own, which would cost time and change a rounding here and there.
bool changesColors(cmsHTRANSFORM transform) {
    constexpr int kSteps = 6;
    std::array<std::array<std::uint8_t, 4>, std::size_t(kSteps * kSteps * kSteps)> before{};
    for (int i = 0; i < int(before.size()); ++i) {
        const std::array<int, 3> steps{i % kSteps, i / kSteps % kSteps, i / kSteps / kSteps};
        for (std::size_t c = 0; c < 3; ++c) before[std::size_t(i)][c] = std::uint8_t(steps[c] * 255 / (kSteps - 1));
    }
    auto after = before;
    cmsDoTransform(transform, before.data(), after.data(), cmsUInt32Number(before.size()));
    for (std::size_t i = 0; i < before.size(); ++i) {
        for (std::size_t c = 0; c < 3; ++c) {
            if (std::abs(before[i][c] - after[i][c]) > 1) return true;
        }
    }
    return false;
}

void convert(Image& image, cmsHTRANSFORM transform) {
    const Size size = image.size();
    parallelEach(size.height,
                 [&](int y) { cmsDoTransform(transform, image.row(y), image.row(y), cmsUInt32Number(size.width)); });
}

}  // namespace

void convertToSrgb(Image& image, std::span<const std::uint8_t> profile) {
    const Transform transform = transformToSrgb(profile, cmsSigRgbData, TYPE_RGBA_8);
    if (transform && changesColors(transform.get())) convert(image, transform.get());
}

bool convertCmykToSrgb(Image& image, bool inverted, std::span<const std::uint8_t> profile) {
    const Transform transform = transformToSrgb(profile, cmsSigCmykData, inverted ? TYPE_CMYK_8_REV : TYPE_CMYK_8);
    if (!transform) return false;
    convert(image, transform.get());
    for (int y = 0; y < image.size().height; ++y) {
        std::uint8_t* row = image.row(y);
        for (int x = 0; x < image.size().width; ++x) row[x * 4 + 3] = 255;
    }
    return true;
}

}  // namespace matte
