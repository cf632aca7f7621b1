// SPDX-License-Identifier: Apache-2.0
// What is known about cameras, whichever system lists them: names, modes, and which mode to ask for. Plain values; any
// thread.
#pragma once

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
/// Sizes that a camera announces as a range. A step of 0 counts as 1.
struct SizeRange {
    std::uint32_t leastWidth = 0, leastHeight = 0, mostWidth = 0, mostHeight = 0, stepX = 1, stepY = 1;
};
/// Adds the usual sizes within the range.
void addUsualSizes(std::vector<Size>& sizes, const SizeRange& range);
/// Adds the highest of a range of rates, and the usual ones within it.
void addRates(std::vector<double>& rates, double least, double most);
/// Removes rates that can't be and duplicates; the highest comes first.
void tidyRates(std::vector<double>& rates);
/// The largest pictures first; equally large ones stay in their order.
void sortBySize(std::vector<CameraMode>& modes);

/// The encoding that a table of pairs has for a code of the system's; Encoding::other for an unknown one.
template <typename Table>
Encoding encodingIn(const Table& table, std::uint32_t code) {
    for (const auto& [known, encoding] : table) {
        if (known == code) return encoding;
    }
    return Encoding::other;
}

/// Text from a driver or another program, without control characters.
std::string withoutControls(std::string text);

/// The camera's mode nearest to what is wanted: first the encoding, then the size, then the rate. What isn't said is
/// chosen for a live picture: 1080p, or 720p where 1080p is slower than 24 a second, at the highest rate, and of what
/// is equally fast the format that costs the least to read; H264 only where it is asked for or nothing else is there.
/// Null when no mode can be read.
std::optional<CaptureChoice> chooseMode(std::span<const CameraMode> modes, const CaptureSettings& wanted);
/// The same of `camera`. Throws Error(source) when no mode can be read.
CaptureChoice chosenMode(const CameraInfo& camera, const CaptureSettings& wanted);

/// Sorts by name and id and adds " (2)", " (3)" to the names of further cameras of one model.
void tellApart(std::vector<CameraInfo>& cameras);

/// The camera with that id or name, the first for an empty name; null when there is none.
const CameraInfo* findCamera(std::span<const CameraInfo> cameras, std::string_view name);

/// "There is no camera" or "The camera X is not there", with what to do, as Error(source).
[[noreturn]] void refuseMissingCamera(std::string_view name);

/// "MJPG 1920x1080 at 30, 15", one line a mode.
std::string toString(const CameraMode& mode);

}  // namespace matte
