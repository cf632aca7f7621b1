// SPDX-License-Identifier: Apache-2.0
// SourceSpec: the name of a source of frames, as users write it and the settings store it. A plain value; any thread.
//   parseSource("camera:Integrated Camera")   parseSource("clips/me.mp4")   parseSource("test:person:1920x1080@60")
#pragma once

#include <string>
#include <string_view>

#include "inference/core/image.h"

namespace matte {

struct SourceSpec {
    enum class Kind { camera, file, url, test };
    Kind kind = Kind::camera;
    std::string name;  ///< camera: its name or id, empty for the first one; file: path of a video or a folder; url: all
    Size size;         ///< test: of its pictures
    double rate = 0;   ///< test: frames a second; kUnthrottled: as fast as they are read

    bool operator==(const SourceSpec&) const = default;
};

/// A rate that is no limit, "max" in text.
inline constexpr double kUnthrottled = 1e9;

/// "camera", "camera:NAME", "test:person[:WxH[@FPS|@max]]" (1280x720 at 30 when not said), an address ("rtsp://…"), or
/// the path of a video or of a folder of pictures. Looks at the text alone, not at the disk. Throws Error(usage) with
/// what is wrong.
SourceSpec parseSource(std::string_view text);

/// An address without its secrets, for screens and reports: its scheme, its host and the plain parts of its path. "…"
/// replaces the other parts, and the key at the end of an RTMP path; user, password, query and fragment are left out.
std::string shownAddress(std::string_view address);

/// The text that parseSource reads back as the same value.
std::string toString(const SourceSpec& spec);

}  // namespace matte
