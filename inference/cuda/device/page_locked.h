// SPDX-License-Identifier: Apache-2.0
// Memory for the frames of a source that a GPU reads by itself. Any thread.
#pragma once

#include "inference/core/image.h"

namespace matte {

/// Page-locked where the device agrees, plain memory otherwise: a source goes on when the device is lost.
PixelMemory pageLockedMemory();

}  // namespace matte
