// SPDX-License-Identifier: Apache-2.0
// Page-locked memory for a source's frames, for DMA transfers by the GPU. Any thread.
#pragma once

#include "inference/core/image.h"

namespace matte {

/// Falls back to plain memory, so that a source continues when the device is lost.
PixelMemory pageLockedMemory();

}  // namespace matte
