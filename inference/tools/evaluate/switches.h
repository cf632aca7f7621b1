// SPDX-License-Identifier: Apache-2.0
// How much of a sequence's frames switches: parts of the matte that are lost or come up for a moment. One thread at a
// time.
#pragma once

#include <optional>
#include <vector>

#include "inference/core/image.h"

namespace matte {

/// A pixel whose alpha is above 1/2 is of the person. It switches when it turns from person to background and back, or
/// the reverse, within a second. Such a switch is wrong when the true alpha is on the other side of 1/2 in every frame
/// from the first turn to the second; without a truth, a hand that passes by is a switch too.
class SwitchMeter {
public:
    /// The next frame: its matte [h, w, 1] of 0 to 1, the true one where it is known, and its time in seconds. A frame
    /// of another size begins a new sequence.
    void add(const Planes& alpha, const Planes* truth, double seconds);
    /// The area of all switches in shares of the frame, by seconds of the sequence. A pixel counts each time it
    /// switches. Null before two frames.
    [[nodiscard]] std::optional<double> all() const { return bySecond(all_); }
    /// The same of those that are wrong. Null too when a frame came without a truth.
    [[nodiscard]] std::optional<double> wrong() const { return hasTruth_ ? bySecond(wrong_) : std::nullopt; }

private:
    /// Since when a pixel is what it is.
    struct Run {
        bool person, first, wrong;  ///< first: nothing is known from before it; wrong: in each of its frames
        double begin;
    };
    [[nodiscard]] std::optional<double> bySecond(double area) const {
        return seconds_ > 0 ? std::optional(area / seconds_) : std::nullopt;
    }

    Size size_;
    std::vector<Run> runs_;
    bool hasTruth_ = true;
    double now_ = 0, seconds_ = 0, all_ = 0, wrong_ = 0;
};

}  // namespace matte
