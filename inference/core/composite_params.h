// SPDX-License-Identifier: Apache-2.0
// CompositeParams: the compositing parameters, which are all that the user can change about the picture. fineDetail
// alone changes the network's input, in live mode; the others apply to the network's matte. A plain value; any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "inference/core/image.h"

namespace matte {

struct Rgb {
    std::uint8_t r = 0, g = 0, b = 0;
    bool operator==(const Rgb&) const = default;
};

/// How a background picture is laid into the frame: cropped to cover it, whole with bars in `color`, or stretched.
enum class Placement { fill = 1, fit, stretch };

/// What replaces the room behind the person.
struct Background {
    enum class Kind { blur = 1, color, image, transparent };
    Kind kind = Kind::blur;
    float blurStrength = 50;             ///< 1 to 100; the Gaussian's sigma is strength/100 of 4% of the longest side
    Rgb color{0, 177, 64};               ///< for color, and for the bars of Placement::fit
    std::string imagePath;               ///< for image: the picture or video that `image` came from
    std::shared_ptr<const Image> image;  ///< for image: decoded, rgba8 or bgr8; compared by identity
    bool moving = false;                 ///< for image: `imagePath` is a video, of which `image` is one frame
    Placement placement = Placement::fill;  ///< for image
    float position = 0.5F;                  ///< for image: Layout's, 0 to 1
    bool operator==(const Background&) const = default;
};

/// The person's place in the frame. The blurred room of Kind::blur fills the frame as the camera sees it, whoever
/// is moved or made smaller before it.
struct SubjectTransform {
    bool mirrored = false;  ///< the person, and with it the room of Kind::blur, never a background picture
    float scale = 1;        ///< 0.25 to 4, about the middle of the frame's lower edge
    float x = 0, y = 0;     ///< moved to the right and down, in widths and heights of the frame, -1 to 1
    bool operator==(const SubjectTransform&) const = default;
};

struct CompositeParams {
    Background background;
    float threshold = 0.5F;     ///< 0 to 1: alpha of the edge's middle; lower keeps more of the person
    float softness = 1;         ///< 0 to 1: 1 leaves the edge as it was found, 0 makes it hard
    bool decontaminate = true;  ///< remove the old background's colour from the edge
    float lightWrap = 0;        ///< 0 to 1: how much of the new background's light falls on the person's edge
    SubjectTransform transform;
    float temporalSmoothing = 0.7F;  ///< 0 to 1, live: the weight of the frames before where nothing moves
    bool removeSmallRegions = true;  ///< live: parts of the matte much smaller than the person are taken out
    bool nearestOnly = false;        ///< live: of several people only the one who takes the most room stays
    bool fineDetail = false;         ///< live: the input is as large as a photo's, where EngineInfo offers it
    bool operator==(const CompositeParams&) const = default;
};

/// Reads `blur`, `blur:N`, `color:#rrggbb`, `image:PATH`, `video:PATH`, `transparent`, or a path alone, which has a
/// slash or a dot in it and counts as image:PATH. What is at PATH is not looked at here: readBackground() does, and
/// finds out whether it moves. Throws Error(usage).
Background parseBackground(std::string_view text);
/// The text that parseBackground() reads back.
std::string toString(const Background& background);
/// Reads `#rrggbb`. Throws Error(usage).
Rgb parseColor(std::string_view text);

}  // namespace matte
