// SPDX-License-Identifier: Apache-2.0
// The picture's kernels held against the CPU's loops, step by step: each step gets the CPU's own input.
#pragma once

#include "tests/gpu/tally.h"

namespace matte::test {

/// Needs a CUDA device. Prints each check. `quick`: small pictures only.
void checkResampling(Tally& tally, bool quick);
void checkRefinement(Tally& tally, bool quick);
void checkComposite(Tally& tally);

}  // namespace matte::test
