// SPDX-License-Identifier: Apache-2.0
#include "inference/media/capture/media_foundation/media_foundation_format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

#include "inference/media/frame_convert.h"

namespace matte {
namespace {

constexpr std::uint32_t fourcc(const char (&name)[5]) {
    return std::uint32_t(name[0]) | std::uint32_t(name[1]) << 8 | std::uint32_t(name[2]) << 16 |
           std::uint32_t(name[3]) << 24;
}

constexpr std::array<std::pair<std::uint32_t, Encoding>, 11> kSubtypes{{{fourcc("MJPG"), Encoding::mjpg},
                                                                        {fourcc("YUY2"), Encoding::yuyv},
                                                                        {fourcc("YUYV"), Encoding::yuyv},
                                                                        {fourcc("UYVY"), Encoding::uyvy},
                                                                        {fourcc("NV12"), Encoding::nv12},
                                                                        {fourcc("I420"), Encoding::i420},
                                                                        {fourcc("IYUV"), Encoding::i420},
                                                                        {fourcc("H264"), Encoding::h264},
                                                                        // Windows names RGB by the number that it
                                                                        // makes, blue in the lowest byte.
                                                                        {20, Encoding::bgr},
                                                                        {21, Encoding::bgra},
                                                                        {22, Encoding::bgra}}};

std::pair<std::uint32_t, std::uint32_t> halves(std::uint64_t pair) {
    return {std::uint32_t(pair >> 32), std::uint32_t(pair)};
}

}  // namespace

Encoding encodingOfSubtype(std::uint32_t code) {
    return encodingIn(kSubtypes, code);
}

double rateOfPair(std::uint64_t frameRate) {
    const auto [numerator, denominator] = halves(frameRate);
    return denominator == 0 ? 0 : std::round(100.0 * numerator / denominator) / 100;
}

Size sizeOfPair(std::uint64_t frameSize) {
    const auto [width, height] = halves(frameSize);
    std::vector<Size> possible;
    addSize(possible, width, height);
    return possible.empty() ? Size{} : possible.front();
}

std::ptrdiff_t strideOf(Encoding encoding, int width, std::optional<std::int32_t> said) {
    const std::ptrdiff_t packed = packedRawStride(encoding, width);
    if (packed == 0) return 0;
    if (said && *said != 0) return *said;
    const bool isRgb = encoding == Encoding::bgr || encoding == Encoding::bgra;
    return isRgb ? -((packed + 3) / 4 * 4) : packed;
}

std::vector<CameraMode> modesOf(std::span<const AnnouncedFormat> formats) {
    std::vector<CameraMode> modes;
    for (const auto& format : formats) {
        const Size size = sizeOfPair(format.frameSize);
        if (size.width == 0) continue;
        auto mode = std::find_if(modes.begin(), modes.end(),
                                 [&](const auto& m) { return m.encoding == format.encoding && m.size == size; });
        if (mode == modes.end()) mode = modes.insert(mode, {format.encoding, size, {}});
        mode->rates.push_back(rateOfPair(format.frameRate));
    }
    for (auto& mode : modes) tidyRates(mode.rates);
    sortBySize(modes);
    return modes;
}

std::optional<std::size_t> formatFor(std::span<const AnnouncedFormat> formats, const CaptureChoice& choice) {
    std::optional<std::size_t> best;
    const auto off = [&](std::size_t i) { return std::abs(rateOfPair(formats[i].frameRate) - choice.rate); };
    for (std::size_t i = 0; i < formats.size(); ++i) {
        if (formats[i].encoding != choice.encoding || sizeOfPair(formats[i].frameSize) != choice.size) continue;
        if (!best || off(i) < off(*best)) best = i;
    }
    return best;
}

bool turnUpright(std::span<const std::uint8_t> bytes,
                 std::ptrdiff_t strideBytes,
                 std::size_t rowBytes,
                 int rows,
                 std::vector<std::uint8_t>& upright) {
    const auto stride = std::size_t(strideBytes), count = std::size_t(rows);
    if (strideBytes <= 0 || rows <= 0 || rowBytes > stride || bytes.size() < (count - 1) * stride + rowBytes) {
        return false;
    }
    upright.resize(count * rowBytes);
    for (std::size_t y = 0; y < count; ++y) {
        std::memcpy(upright.data() + y * rowBytes, bytes.data() + (count - 1 - y) * stride, rowBytes);
    }
    return true;
}

std::string mediaFoundationSentence(const std::string& camera, std::uint32_t fault) {
    const std::string theCamera = "The camera " + camera;
    switch (WindowsFault(fault)) {
        case WindowsFault::startStreaming:
        case WindowsFault::sharingViolation:
        case WindowsFault::busy:
        case WindowsFault::preempted: return theCamera + " is used by another program: close it there and try again.";
        case WindowsFault::accessDenied:
            return theCamera +
                   " may not be used: allow desktop apps to use the camera in Windows' settings, under Privacy, "
                   "Camera.";
        case WindowsFault::fileNotFound:
        case WindowsFault::noSuchDevice:
        case WindowsFault::deviceNotConnected:
        case WindowsFault::deviceRemoved:
        case WindowsFault::shutDown:
        case WindowsFault::invalidated: return theCamera + " was unplugged: plug it in again.";
        case WindowsFault::noSystemResources:
            return theCamera +
                   " finds no room on its bus: close other programs that use a camera, or choose a smaller size.";
        case WindowsFault::invalidMediaType:
        case WindowsFault::codecNotFound:
            return theCamera + " can't send the size and format asked for: choose others.";
    }
    char code[16];
    std::snprintf(code, sizeof code, "0x%08X", unsigned(fault));
    return theCamera + " can't be used (" + code + "): unplug it and plug it in again.";
}

}  // namespace matte
