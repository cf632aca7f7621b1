// SPDX-License-Identifier: Apache-2.0
// LiveSource: where live frames come from and how to ask for them, as the user chose it. A plain value; any thread.
#pragma once

#include <QString>

#include "inference/media/frame_source.h"

namespace matte {

struct LiveSource {
    SourceSpec spec;
    Encoding encoding = Encoding::any;
    Size size;        ///< 0x0 for what suits the camera best
    double rate = 0;  ///< frames a second; 0 for the highest

    [[nodiscard]] bool isCamera() const { return spec.kind == SourceSpec::Kind::camera; }
    /// What openSource() is given: videos and folders begin again at their end.
    [[nodiscard]] CaptureSettings capture() const {
        return {.encoding = encoding, .size = size, .rate = rate, .repeat = true};
    }
    bool operator==(const LiveSource&) const = default;
};

/// For people: the camera's or the file's name, the address without its password.
[[nodiscard]] QString nameOf(const LiveSource& source);
/// "MJPG 1280 × 720 at 30", or "Automatic" for what was left open.
[[nodiscard]] QString formatOf(const LiveSource& source);

/// One line for the settings, and what it says; of a damaged one what can be understood, else the first camera.
[[nodiscard]] QString toText(const LiveSource& source);
[[nodiscard]] LiveSource liveSourceFrom(const QString& text, bool* damaged = nullptr);

}  // namespace matte
