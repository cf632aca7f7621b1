// SPDX-License-Identifier: Apache-2.0
// What the numbers of Windows' Media Foundation mean: the formats that a camera announces, and its faults. Plain
// values, so that they are tested on every system. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inference/media/capture/camera.h"

namespace matte {

/// One kind of pictures as Media Foundation lists them: each rate by itself.
struct AnnouncedFormat {
    Encoding encoding = Encoding::other;
    std::uint64_t frameSize = 0;  ///< MF_MT_FRAME_SIZE: width and height, 32 bits each
    std::uint64_t frameRate = 0;  ///< MF_MT_FRAME_RATE: numerator and denominator, 32 bits each; 0: not said
};

/// Of a subtype that stands for a FOURCC or for one of Direct3D's numbers, which is its Data1.
Encoding encodingOfSubtype(std::uint32_t code);
/// Of a packed pair; 0 for what is no rate. Rounded to hundredths: 30 is also announced as 10000000/333333.
double rateOfPair(std::uint64_t frameRate);
/// Of a packed pair; 0x0 for what can be no picture's.
Size sizeOfPair(std::uint64_t frameSize);
/// How far apart rows are, negative when the lowest comes first; 0 for encodings without rows. `said` is
/// MF_MT_DEFAULT_STRIDE, null where there is none: then RGB is upside down, as in Windows' bitmaps.
std::ptrdiff_t strideOf(Encoding encoding, int width, std::optional<std::int32_t> said);

/// What the formats come to: each encoding and size once with its rates, largest first.
std::vector<CameraMode> modesOf(std::span<const AnnouncedFormat> formats);
/// The index of the format that is meant by a choice out of modesOf; null when there is none.
std::optional<std::size_t> formatFor(std::span<const AnnouncedFormat> formats, const CaptureChoice& choice);

/// Puts rows the right way up that lie `strideBytes` apart with the lowest first; those of `upright` are packed. False
/// when there are too few bytes. `upright` keeps its room for the next picture.
bool turnUpright(std::span<const std::uint8_t> bytes,
                 std::ptrdiff_t strideBytes,
                 std::size_t rowBytes,
                 int rows,
                 std::vector<std::uint8_t>& upright);

/// The HRESULTs that cameras answer with, by the names that Windows has for them.
enum class WindowsFault : std::uint32_t {
    fileNotFound = 0x80070002,        // of a device: it was there a moment ago
    accessDenied = 0x80070005,        // the privacy settings
    sharingViolation = 0x80070020,    // held by another program
    busy = 0x800700AA,                // the same
    noSuchDevice = 0x800701B1,        // unplugged
    deviceNotConnected = 0x8007048F,  // the same
    noSystemResources = 0x800705AA,   // no room on the USB bus, or held by another program
    deviceRemoved = 0x80070651,       // unplugged
    invalidMediaType = 0xC00D36B4,    // not the format that was announced
    startStreaming = 0xC00D3704,      // MF_E_HW_MFT_FAILED_START_STREAMING: held by another program
    shutDown = 0xC00D3E85,            // by somebody else: Windows took it away
    invalidated = 0xC00D3EA2,         // MF_E_VIDEO_RECORDING_DEVICE_INVALIDATED: unplugged
    preempted = 0xC00D3EA3,           // MF_E_VIDEO_RECORDING_DEVICE_PREEMPTED: taken by another program
    codecNotFound = 0xC00D5212        // MF_E_TOPO_CODEC_NOT_FOUND: no decoder for H264
};
/// What to tell people about a camera that answers with an HRESULT.
std::string mediaFoundationSentence(const std::string& camera, std::uint32_t fault);

}  // namespace matte
