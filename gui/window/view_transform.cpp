// SPDX-License-Identifier: Apache-2.0
#include "gui/window/view_transform.h"

#include <algorithm>

namespace matte {
namespace {

constexpr double kMargin = 0.96;  // of the viewport that a fitted picture takes

// Half the viewport in picture pixels may not pass the picture's edge; a picture that is smaller is centred.
double clampedCentre(double centre, double half, double length) {
    return 2 * half >= length ? length / 2 : std::clamp(centre, half, length - half);
}

}  // namespace

double ViewTransform::fitZoom() const {
    if (picture_.pixels() == 0 || viewport_.pixels() == 0) return 1;
    const double across = kMargin * viewport_.width / picture_.width;
    const double down = kMargin * viewport_.height / picture_.height;
    return std::min({across, down, kMaxFit * pixelRatio_});
}

void ViewTransform::setSizes(Size picture, Size viewport, double pixelRatio) {
    if (picture != picture_) fitted_ = true;
    picture_ = picture;
    viewport_ = viewport;
    pixelRatio_ = pixelRatio;
    if (fitted_) {
        fit();
    } else {
        clamp();
    }
}

void ViewTransform::fit() {
    zoom_ = fitZoom();
    centreX_ = picture_.width / 2.0;
    centreY_ = picture_.height / 2.0;
    fitted_ = true;
}

void ViewTransform::zoomAt(double factor, double x, double y) {
    const double smallest = std::min(fitZoom(), 1.0);
    const double next = std::clamp(zoom_ * factor, smallest, kMaxZoom);
    const double dx = x - viewport_.width / 2.0, dy = y - viewport_.height / 2.0;
    centreX_ += dx / zoom_ - dx / next;
    centreY_ += dy / zoom_ - dy / next;
    zoom_ = next;
    fitted_ = next == fitZoom();
    clamp();
}

void ViewTransform::pan(double dx, double dy) {
    centreX_ -= dx / zoom_;
    centreY_ -= dy / zoom_;
    clamp();
}

void ViewTransform::clamp() {
    centreX_ = clampedCentre(centreX_, viewport_.width / (2 * zoom_), picture_.width);
    centreY_ = clampedCentre(centreY_, viewport_.height / (2 * zoom_), picture_.height);
}

}  // namespace matte
