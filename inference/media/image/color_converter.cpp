// SPDX-License-Identifier: Apache-2.0
#include "inference/media/image/color_converter.h"

#include <array>
#include <cstdlib>
#include <cstring>

#include <lcms2.h>

namespace matte {
namespace {

struct CloseProfile {
    void operator()(void* profile) const { cmsCloseProfile(profile); }
};
using Profile = std::unique_ptr<void, CloseProfile>;

/// Of presses, the largest, have two or three megabytes. PNG packs them, so that a small file could hold a huge one.
constexpr std::size_t kMaxProfileBytes = std::size_t(4) << 20;

cmsUInt32Number formatOf(const SampleLayout& layout) {
    const cmsUInt32Number space = layout.colors == 1 ? PT_GRAY : layout.colors == 3 ? PT_RGB : PT_CMYK;
    return COLORSPACE_SH(space) | CHANNELS_SH(cmsUInt32Number(layout.colors)) | EXTRA_SH(layout.hasAlpha ? 1U : 0U) |
           BYTES_SH(layout.isDeep ? 2U : 1U);
}

cmsHTRANSFORM transformToSrgb(const Profile& from, const SampleLayout& layout) {
    const Profile srgb(cmsCreate_sRGBProfile());
    // Without its cache of the last pixel a transform may be used by several threads.
    cmsUInt32Number flags = cmsFLAGS_NOCACHE | cmsFLAGS_BLACKPOINTCOMPENSATION | cmsFLAGS_COPY_ALPHA;
    // A table in place of the curves is too coarse for the shadows.
    if (layout.colors == 1 || (layout.colors == 3 && layout.isDeep)) flags |= cmsFLAGS_NOOPTIMIZE;
    return cmsCreateTransform(from.get(), formatOf(layout), srgb.get(), TYPE_RGBA_8, INTENT_RELATIVE_COLORIMETRIC,
                              flags);
}

/// Most profiles are sRGB's own, which would cost time and change a rounding here and there.
bool changesColors(const Profile& profile) {
    constexpr int kSteps = 6;
    std::array<std::array<std::uint8_t, 4>, std::size_t(kSteps * kSteps * kSteps)> before{};
    for (int i = 0; i < int(before.size()); ++i) {
        const std::array<int, 3> steps{i % kSteps, i / kSteps % kSteps, i / kSteps / kSteps};
        for (std::size_t c = 0; c < 3; ++c) before[std::size_t(i)][c] = std::uint8_t(steps[c] * 255 / (kSteps - 1));
    }
    auto after = before;
    const cmsHTRANSFORM transform = transformToSrgb(profile, {3, true, false});
    if (!transform) return false;
    cmsDoTransform(transform, before.data(), after.data(), cmsUInt32Number(before.size()));
    cmsDeleteTransform(transform);
    for (std::size_t i = 0; i < before.size(); ++i) {
        for (std::size_t c = 0; c < 3; ++c) {
            if (std::abs(before[i][c] - after[i][c]) > 1) return true;
        }
    }
    return false;
}

std::uint8_t eightBits(std::uint8_t sample) {
    return sample;
}
std::uint8_t eightBits(std::uint16_t sample) {
    return std::uint8_t((sample + 128) / 257);
}

/// Without a profile.
template <int colors, typename Sample>
void convertRow(const Sample* in, std::uint8_t* rgba, int width, bool hasAlpha) {
    const int channels = colors + (hasAlpha ? 1 : 0);
    for (int x = 0; x < width; ++x, in += channels, rgba += 4) {
        for (int c = 0; c < 3; ++c) {
            rgba[c] = eightBits(in[colors == 1 ? 0 : c]);
            // The light that gets past both inks.
            if (colors == 4) rgba[c] = std::uint8_t(((255 - rgba[c]) * (255 - eightBits(in[3])) + 127) / 255);
        }
        rgba[3] = hasAlpha ? eightBits(in[colors]) : std::uint8_t(255);
    }
}

template <typename Sample>
void convertRow(const std::uint8_t* from, std::uint8_t* rgba, int width, const SampleLayout& layout) {
    const auto* in = reinterpret_cast<const Sample*>(from);
    switch (layout.colors) {
        case 1: return convertRow<1>(in, rgba, width, layout.hasAlpha);
        case 3: return convertRow<3>(in, rgba, width, layout.hasAlpha);
        default: return convertRow<4>(in, rgba, width, layout.hasAlpha);
    }
}

}  // namespace

void ColorConverter::Delete::operator()(void* transform) const {
    cmsDeleteTransform(transform);
}

ColorConverter::ColorConverter(const SampleLayout& layout, std::span<const std::uint8_t> profile) : layout_(layout) {
    if (profile.empty() || profile.size() > kMaxProfileBytes) return;
    const Profile embedded(cmsOpenProfileFromMem(profile.data(), cmsUInt32Number(profile.size())));
    if (!embedded || cmsChannelsOf(cmsGetColorSpace(embedded.get())) != cmsUInt32Number(layout.colors)) return;
    if (T_COLORSPACE(formatOf(layout)) != cmsUInt32Number(_cmsLCMScolorSpace(cmsGetColorSpace(embedded.get())))) return;
    if (layout.colors != 3 || changesColors(embedded)) transform_.reset(transformToSrgb(embedded, layout));
}

void ColorConverter::convert(const std::uint8_t* from, std::uint8_t* rgba, int width) const {
    if (!transform_) {
        if (layout_.isDeep) return convertRow<std::uint16_t>(from, rgba, width, layout_);
        return convertRow<std::uint8_t>(from, rgba, width, layout_);
    }
    if (!layout_.hasAlpha) std::memset(rgba, 255, std::size_t(width) * 4);
    cmsDoTransform(transform_.get(), from, rgba, cmsUInt32Number(width));
}

}  // namespace matte
