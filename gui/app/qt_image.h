// SPDX-License-Identifier: Apache-2.0
// Between Image and Qt's QImage. Any thread.
#pragma once

#include <QImage>

#include <memory>

#include "inference/core/image.h"

namespace matte {

/// Any QImage as rgba8, in sRGB. Throws Error(input) when it is empty or too large.
std::shared_ptr<const Image> fromQImage(const QImage& picture);
/// The same pixels without a copy: the QImage keeps `picture` alive.
QImage toQImage(std::shared_ptr<const Image> picture);

}  // namespace matte
