// SPDX-License-Identifier: Apache-2.0
// What is known about cameras, wherever it came from: their names, what they can send, and which of it to ask for.
// Plain values; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inference/media/frame_source.h"

namespace matte {

/// One kind of pictures that a camera can send.
struct CameraMode {
    Encoding encoding = Encoding::any;
    Size size;
    std::vector<double> rates;  ///< frames a second, highest first; empty when the camera doesn't say
    bool operator==(const CameraMode&) const = default;
};

struct CameraInfo {
    std::string id;                 ///< the same when it is plugged into the same place again; no two have the same
    std::string name;               ///< for people; no two in a list have the same
    std::vector<CameraMode> modes;  ///< largest first; formats that can't be read are listed too
    bool operator==(const CameraInfo&) const = default;
};

/// What to ask a camera for.
struct CaptureChoice {
    Encoding encoding = Encoding::any;
    Size size;
    double rate = 0;
    bool operator==(const CaptureChoice&) const = default;
};

/// The longest side of a picture that a camera is believed to have.
inline constexpr std::uint32_t kMostCameraSide = 16384;
/// Adds a size that a camera announces, once, unless there can be no such picture.
void addSize(std::vector<Size>& sizes, std::uint32_t width, std::uint32_t height);
/// What is picked out of a range of sizes.
inline constexpr std::array<Size, 5> kUsualSizes{{{1920, 1080}, {1280, 720}, {960, 540}, {640, 480}, {320, 240}}};
/// Adds what is picked out of a range of rates: the highest, and the usual ones.
void addRates(std::vector<double>& rates, double least, double most);
/// Leaves those that can be, each once, the highest first.
void tidyRates(std::vector<double>& rates);

/// Whether frames of that encoding can be read.
bool isReadable(Encoding encoding);

/// The camera's mode nearest to what is wanted: first the encoding, then the size, then the rate. What isn't said is
/// chosen for a live picture: 1080p, or 720p where 1080p is slower than 24 a second, at the highest rate, and of what
/// is equally fast the format that costs the least to read; H264 only where it is asked for or nothing else is there.
/// Null when no mode can be read.
std::optional<CaptureChoice> chooseMode(std::span<const CameraMode> modes, const CaptureSettings& wanted);

/// Sorts by name and id and adds " (2)", " (3)" to the names of further cameras of one model.
void tellApart(std::vector<CameraInfo>& cameras);

/// The camera with that id or name, the first for an empty name; null when there is none.
const CameraInfo* findCamera(std::span<const CameraInfo> cameras, std::string_view name);

/// "There is no camera" or "The camera X is not there", with what to do, as Error(source).
[[noreturn]] void refuseMissingCamera(std::string_view name);

/// "MJPG 1920x1080 at 30, 15", one line a mode.
std::string toString(const CameraMode& mode);

}  // namespace matte
