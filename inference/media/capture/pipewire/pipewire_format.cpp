// SPDX-License-Identifier: Apache-2.0
#include "inference/media/capture/pipewire/pipewire_format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include <spa/buffer/buffer.h>
#include <spa/buffer/meta.h>
#include <spa/param/buffers.h>
#include <spa/param/format.h>
#include <spa/param/param.h>
#include <spa/param/video/format-utils.h>
#include <spa/param/video/format.h>
#include <spa/param/video/raw.h>
#include <spa/pod/iter.h>

#include "inference/media/frame_convert.h"

namespace matte {
namespace {

constexpr std::size_t kMostModes = 512;  // in one format; real cameras have a few

constexpr std::array<std::pair<std::uint32_t, Encoding>, 10> kRawFormats{{{SPA_VIDEO_FORMAT_NV12, Encoding::nv12},
                                                                          {SPA_VIDEO_FORMAT_YUY2, Encoding::yuyv},
                                                                          {SPA_VIDEO_FORMAT_UYVY, Encoding::uyvy},
                                                                          {SPA_VIDEO_FORMAT_I420, Encoding::i420},
                                                                          {SPA_VIDEO_FORMAT_BGR, Encoding::bgr},
                                                                          {SPA_VIDEO_FORMAT_RGB, Encoding::rgb},
                                                                          {SPA_VIDEO_FORMAT_BGRx, Encoding::bgra},
                                                                          {SPA_VIDEO_FORMAT_BGRA, Encoding::bgra},
                                                                          {SPA_VIDEO_FORMAT_RGBx, Encoding::rgba},
                                                                          {SPA_VIDEO_FORMAT_RGBA, Encoding::rgba}}};

/// Every format that is `encoding`, as a choice: which of them the camera has is for PipeWire to find.
void addFormats(spa_pod_builder& builder, Encoding encoding) {
    spa_pod_frame choice;
    spa_pod_builder_prop(&builder, SPA_FORMAT_VIDEO_format, 0);
    spa_pod_builder_push_choice(&builder, &choice, SPA_CHOICE_Enum, 0);
    bool isFirst = true;
    for (const auto& [spa, known] : kRawFormats) {
        if (encoding != Encoding::any && known != encoding) continue;
        if (std::exchange(isFirst, false)) spa_pod_builder_id(&builder, spa);  // the default comes before all
        spa_pod_builder_id(&builder, spa);
    }
    spa_pod_builder_pop(&builder, &choice);
}

/// A property's values: one, or a choice of them, of which the first is the default.
template <typename T>
struct Values {
    std::uint32_t choice = SPA_CHOICE_None;
    std::span<const T> all;
    /// Without the default, which an enumeration repeats and a range has before its ends.
    [[nodiscard]] std::span<const T> choices() const {
        return choice == SPA_CHOICE_None || all.size() < 2 ? all.first(std::min<std::size_t>(all.size(), 1))
                                                           : all.subspan(1);
    }
    [[nodiscard]] bool isRange() const {
        return (choice == SPA_CHOICE_Range || choice == SPA_CHOICE_Step) && all.size() >= 3;
    }
};

template <typename T>
Values<T> valuesOf(const spa_pod* format, std::uint32_t key, std::uint32_t type) {
    const spa_pod_prop* property = spa_pod_find_prop(format, nullptr, key);
    if (!property) return {};
    // PipeWire's own functions believe the sizes inside: they must end where the whole ends.
    const auto* end = reinterpret_cast<const std::uint8_t*>(format) + SPA_POD_SIZE(format);
    const auto* value = reinterpret_cast<const std::uint8_t*>(&property->value);
    if (end - value < std::ptrdiff_t(sizeof(spa_pod)) ||
        std::size_t(end - value) - sizeof(spa_pod) < property->value.size) {
        return {};
    }
    if (property->value.type == SPA_TYPE_Choice && property->value.size < sizeof(spa_pod_choice_body)) return {};
    std::uint32_t count = 0, choice = SPA_CHOICE_None;
    const spa_pod* values = spa_pod_get_values(&property->value, &count, &choice);
    if (values->type != type || values->size != sizeof(T) || count == 0) return {};
    return {choice, {static_cast<const T*>(SPA_POD_BODY_CONST(values)), count}};
}

std::vector<Size> sizesOf(const spa_pod* format) {
    const auto values = valuesOf<spa_rectangle>(format, SPA_FORMAT_VIDEO_size, SPA_TYPE_Rectangle);
    std::vector<Size> sizes;
    if (!values.isRange()) {
        for (const auto& size : values.choices()) addSize(sizes, size.width, size.height);
        return sizes;
    }
    const spa_rectangle least = values.all[1], most = values.all[2];
    addSize(sizes, values.all[0].width, values.all[0].height);
    addUsualSizes(sizes, {least.width, least.height, most.width, most.height});
    return sizes;
}

std::vector<double> ratesOf(const spa_pod* format) {
    const auto values = valuesOf<spa_fraction>(format, SPA_FORMAT_VIDEO_framerate, SPA_TYPE_Fraction);
    const auto rateOf = [](spa_fraction f) { return f.denom == 0 ? 0.0 : double(f.num) / f.denom; };
    std::vector<double> rates;
    if (values.isRange()) {
        addRates(rates, rateOf(values.all[1]), rateOf(values.all[2]));
    } else {
        for (const auto& rate : values.choices()) rates.push_back(rateOf(rate));
    }
    tidyRates(rates);
    return rates;
}

std::vector<Encoding> encodingsOf(const spa_pod* format) {
    std::uint32_t type = 0, subtype = 0;
    if (spa_format_parse(format, &type, &subtype) < 0 || type != SPA_MEDIA_TYPE_video) return {};
    if (subtype == SPA_MEDIA_SUBTYPE_mjpg) return {Encoding::mjpg};
    if (subtype == SPA_MEDIA_SUBTYPE_h264) return {Encoding::h264};
    if (subtype != SPA_MEDIA_SUBTYPE_raw) return {Encoding::other};
    std::vector<Encoding> encodings;
    for (const auto& id : valuesOf<std::uint32_t>(format, SPA_FORMAT_VIDEO_format, SPA_TYPE_Id).choices()) {
        const Encoding encoding = encodingIn(kRawFormats, id);
        if (std::find(encodings.begin(), encodings.end(), encoding) == encodings.end()) encodings.push_back(encoding);
    }
    return encodings;
}

/// Cameras count in 30000/1001 as well as in whole frames.
spa_fraction fractionOf(double rate) {
    const double whole = std::round(rate);
    if (std::fabs(rate - whole) < 1e-3) return {std::uint32_t(whole), 1};
    const double ntsc = std::round(rate * 1.001);
    if (std::fabs(ntsc / 1.001 - rate) < 1e-2) return {std::uint32_t(ntsc) * 1000, 1001};
    return {std::uint32_t(std::lround(rate * 1000)), 1000};
}

spa_rectangle kLeast{1, 1}, kMost{kMostCameraSide, kMostCameraSide}, kUsual{1280, 720};
spa_fraction kLeastRate{0, 1}, kMostRate{1000, 1}, kUsualRate{30, 1};

}  // namespace

std::vector<CameraMode> readModes(const spa_pod* format) {
    if (!format || !spa_pod_is_object_type(format, SPA_TYPE_OBJECT_Format)) return {};
    std::vector<CameraMode> modes;
    const auto sizes = sizesOf(format);
    const auto rates = ratesOf(format);
    for (const Encoding encoding : encodingsOf(format)) {
        for (const Size size : sizes) {
            if (modes.size() < kMostModes) modes.push_back({encoding, size, rates});
        }
    }
    return modes;
}

std::optional<CaptureChoice> readChoice(const spa_pod* format) {
    const auto modes = readModes(format);
    if (modes.size() != 1 || !isReadable(modes[0].encoding)) return std::nullopt;
    return CaptureChoice{modes[0].encoding, modes[0].size, modes[0].rates.empty() ? 0 : modes[0].rates[0]};
}

const spa_pod* offerMode(spa_pod_builder& builder, const CaptureChoice& choice) {
    const spa_rectangle size{std::uint32_t(choice.size.width), std::uint32_t(choice.size.height)};
    const spa_fraction rate = fractionOf(choice.rate);
    const std::uint32_t subtype = choice.encoding == Encoding::mjpg   ? SPA_MEDIA_SUBTYPE_mjpg
                                  : choice.encoding == Encoding::h264 ? SPA_MEDIA_SUBTYPE_h264
                                                                      : SPA_MEDIA_SUBTYPE_raw;
    spa_pod_frame frame;
    spa_pod_builder_push_object(&builder, &frame, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
    spa_pod_builder_add(&builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype,
                        SPA_POD_Id(subtype), 0);
    if (subtype == SPA_MEDIA_SUBTYPE_raw) addFormats(builder, choice.encoding);
    spa_pod_builder_add(&builder, SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&size), SPA_FORMAT_VIDEO_framerate,
                        SPA_POD_Fraction(&rate), 0);
    return static_cast<const spa_pod*>(spa_pod_builder_pop(&builder, &frame));
}

const spa_pod* offerAnyRaw(spa_pod_builder& builder) {
    spa_pod_frame frame;
    spa_pod_builder_push_object(&builder, &frame, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
    spa_pod_builder_add(&builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype,
                        SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), 0);
    addFormats(builder, Encoding::any);
    spa_pod_builder_add(&builder, SPA_FORMAT_VIDEO_size, SPA_POD_CHOICE_RANGE_Rectangle(&kUsual, &kLeast, &kMost),
                        SPA_FORMAT_VIDEO_framerate, SPA_POD_CHOICE_RANGE_Fraction(&kUsualRate, &kLeastRate, &kMostRate),
                        0);
    return static_cast<const spa_pod*>(spa_pod_builder_pop(&builder, &frame));
}

const spa_pod* offerAnyJpeg(spa_pod_builder& builder) {
    return static_cast<const spa_pod*>(spa_pod_builder_add_object(
        &builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
        SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_mjpg), SPA_FORMAT_VIDEO_size,
        SPA_POD_CHOICE_RANGE_Rectangle(&kUsual, &kLeast, &kMost), SPA_FORMAT_VIDEO_framerate,
        SPA_POD_CHOICE_RANGE_Fraction(&kUsualRate, &kLeastRate, &kMostRate)));
}

const spa_pod* askForBuffers(spa_pod_builder& builder) {
    return static_cast<const spa_pod*>(
        spa_pod_builder_add_object(&builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
                                   SPA_POD_CHOICE_RANGE_Int(8, 2, 16), SPA_PARAM_BUFFERS_dataType,
                                   SPA_POD_CHOICE_FLAGS_Int((1 << SPA_DATA_MemPtr) | (1 << SPA_DATA_MemFd))));
}

const spa_pod* askForHeader(spa_pod_builder& builder) {
    return static_cast<const spa_pod*>(spa_pod_builder_add_object(
        &builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type, SPA_POD_Id(SPA_META_Header),
        SPA_PARAM_META_size, SPA_POD_Int(int(sizeof(spa_meta_header)))));
}

}  // namespace matte
