// SPDX-License-Identifier: Apache-2.0
// Box filters by running sums: the time does not depend on the radius. CPU; any thread.
#pragma once

#include "inference/core/image.h"

namespace matte {

/// Applies the mean over a (2 `radius` + 1)^2 window, clipped at the borders, `passes` times in place. Any number of
/// channels; 8 are fastest. `across` is scratch memory that callers keep between frames. Uses parallel.h's threads.
void boxMeans(Planes& planes, int radius, int passes, Planes& across);

/// The same with running sums in double, for the guided filter: the rounding error of a float sum along a row is as
/// large as the covariances of a flat window.
void boxMeansInDouble(Planes& planes, int radius, int passes, Planes& across);

}  // namespace matte
