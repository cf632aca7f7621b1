// SPDX-License-Identifier: Apache-2.0
// CudaEngine as a whole on a real device: its results, and what becomes of a picture when the device fails. One thread.
#pragma once

#include <memory>

#include "inference/model/unet.h"
#include "tests/gpu/tally.h"

namespace matte::test {

/// Results against the CPU's loops, for pictures of changing sizes; `quick`: a few small ones.
void checkResults(Tally& tally, const std::shared_ptr<const UNet>& unet, bool quick);
/// One picture again and again: the same bytes each time, and no more memory.
void checkRepetition(Tally& tally, const std::shared_ptr<const UNet>& unet);
/// Each fatal error at each step, made up: the other engine finishes the picture.
void checkFaults(Tally& tally, const std::shared_ptr<const UNet>& unet);
/// A full device, made up and real.
void checkFullMemory(Tally& tally, const std::shared_ptr<const UNet>& unet);
/// A kernel that reads where nothing is. The process has no device afterwards.
void checkLostDevice(Tally& tally, const std::shared_ptr<const UNet>& unet);

}  // namespace matte::test
