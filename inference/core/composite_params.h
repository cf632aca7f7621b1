// SPDX-License-Identifier: Apache-2.0
// CompositeParams: the compositing parameters, everything the user can change about the picture. Only fineDetail
// changes the network's input, in live mode; the others apply after the network. A plain value; any thread.
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

/// How a background picture fits the frame: cropped to cover it, whole with bars in `color`, or stretched.
enum class Placement { fill = 1, fit, stretch };

/// The new background behind the person.
struct Background {
    enum class Kind { blur = 1, color, image, transparent };
    Kind kind = Kind::blur;
    float blurStrength = 50;             ///< 1 to 100; the Gaussian's sigma is strength/100 of 4% of the longest side
    Rgb color{0, 177, 64};               ///< for color, and for the bars of Placement::fit
    std::string imagePath;               ///< for image: the picture or video that `image` came from
    std::shared_ptr<const Image> image;  ///< for image: decoded, rgba8 or bgr8; compared by identity
    bool moving = false;                 ///< for image: `imagePath` is a video, of which `image` is one frame
    Placement placement = Placement::fill;  ///< for image
    float position = 0.5F;                  ///< for image: as in layOut(), 0 to 1
    bool operator==(const Background&) const = default;
};

/// The person's place in the frame. The blurred room of Kind::blur is not scaled or moved with the person.
struct SubjectTransform {
    bool mirrored = false;  ///< mirrors the person and the room of Kind::blur, never a background picture
    float scale = 1;        ///< 0.25 to 4, about the middle of the frame's lower edge
    float x = 0, y = 0;     ///< shift to the right and down, in frame widths and heights, -1 to 1
    bool operator==(const SubjectTransform&) const = default;
};

struct CompositeParams {
    Background background;
    float threshold = 0.5F;     ///< 0 to 1: alpha at the middle of the edge; lower keeps more of the person
    float softness = 1;         ///< 0 to 1: 1 keeps the matte's edge, 0 makes it hard
    bool decontaminate = true;  ///< removes the old background's colour from the edge
    float lightWrap = 0;        ///< 0 to 1: amount of the new background's light on the person's edge
    SubjectTransform transform;
    float temporalSmoothing = 0.7F;  ///< live, 0 to 1: weight of earlier frames where nothing moves
    bool removeSmallRegions = true;  ///< live: removes parts of the matte much smaller than the person
    bool nearestOnly = false;        ///< live: keeps only the most prominent of several people
    bool fineDetail = false;         ///< live: uses a photo's network input size, if EngineInfo::fineDetail
    bool operator==(const CompositeParams&) const = default;
};

/// Parses `blur`, `blur:N`, `color:#rrggbb`, `image:PATH`, `video:PATH`, `transparent`, or a bare path, which contains
/// a slash or a dot and means image:PATH. Does not open PATH: readBackground() does, and tells pictures from videos.
/// Throws Error(usage).
Background parseBackground(std::string_view text);
/// The inverse of parseBackground().
std::string toString(const Background& background);
/// Parses `#rrggbb`. Throws Error(usage).
Rgb parseColor(std::string_view text);

}  // namespace matte
