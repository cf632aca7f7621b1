// SPDX-License-Identifier: Apache-2.0
// ViewTransform: where the picture lies in the viewport, by zoom and pan. Lengths are device pixels. A plain value; any
// thread.
//
//     view.setSizes(photo, viewport);   // fitted until the user zooms
//     view.zoomAt(1.25, x, y);          // what is under (x, y) stays there
#pragma once

#include <cmath>

#include "inference/core/image.h"

namespace matte {

class ViewTransform {
public:
    static constexpr double kMaxZoom = 32, kMaxFit = 2;

    /// Keeps what is in the middle of the viewport there; fits again when it was fitted. `pixelRatio` is device pixels
    /// in a logical one.
    void setSizes(Size picture, Size viewport, double pixelRatio = 1);
    /// The whole picture with a margin; a small one is enlarged to at most kMaxFit logical pixels each.
    void fit();
    [[nodiscard]] bool fitted() const { return fitted_; }

    [[nodiscard]] double zoom() const { return zoom_; }  ///< viewport pixels per picture pixel
    /// Multiplies the zoom, within limits; the picture point under (x, y) stays there.
    void zoomAt(double factor, double x, double y);
    void zoomTo(double zoom, double x, double y) { zoomAt(zoom / zoom_, x, y); }
    void pan(double dx, double dy);

    // The picture's rectangle, on whole viewport pixels, so that 1:1 is sharp.
    [[nodiscard]] double left() const { return std::round(viewport_.width / 2.0 - centreX_ * zoom_); }
    [[nodiscard]] double top() const { return std::round(viewport_.height / 2.0 - centreY_ * zoom_); }
    [[nodiscard]] double width() const { return zoom_ * picture_.width; }
    [[nodiscard]] double height() const { return zoom_ * picture_.height; }

private:
    [[nodiscard]] double fitZoom() const;
    void clamp();

    Size picture_, viewport_;
    double zoom_ = 1, pixelRatio_ = 1;
    double centreX_ = 0, centreY_ = 0;  ///< picture point in the viewport's middle, picture pixels
    bool fitted_ = true;
};

}  // namespace matte
