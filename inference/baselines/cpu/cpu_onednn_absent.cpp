// SPDX-License-Identifier: Apache-2.0
// For programs built without oneDNN, such as the check on a bare GPU machine.
#include "inference/baselines/rungs.h"
#include "inference/core/error.h"

namespace matte::ladder {

std::unique_ptr<NetworkMethod> makeOneDnn(const ModelPointer&) {
    throw Error(Area::engine, whyNoOneDnn());
}

std::string whyNoOneDnn() {
    return "This program was built without oneDNN: build Matte with it.";
}

}  // namespace matte::ladder
