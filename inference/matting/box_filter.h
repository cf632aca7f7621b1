// SPDX-License-Identifier: Apache-2.0
// Means over square windows, in a time that does not depend on their size. CPU; any thread.
#pragma once

#include "inference/core/image.h"

namespace matte {

/// Mean over a (2 `radius` + 1)^2 window cut at the borders, in place, any number of channels (8 at a time are
/// quickest); `passes` times over. `across` is memory that is kept from frame to frame. All threads work.
void boxMeans(Planes& planes, int radius, int passes, Planes& across);

/// The same with running sums in double: what a float sum loses along a row is as large as the covariances of a flat
/// window.
void boxMeansInDouble(Planes& planes, int radius, int passes, Planes& across);

}  // namespace matte
