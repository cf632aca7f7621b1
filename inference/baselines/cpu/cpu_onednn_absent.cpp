// SPDX-License-Identifier: Apache-2.0
// For programs built without oneDNN, such as the check on a bare GPU machine.
#include "inference/baselines/baselines.h"
#include "inference/core/error.h"

namespace matte::baselines {

std::unique_ptr<NetworkImplementation> makeOneDnn(const ModelPointer&) {
    throw Error(ErrorCategory::engine, whyNoOneDnn());
}

std::string whyNoOneDnn() {
    return "This program was built without oneDNN: build Matte with it.";
}

}  // namespace matte::baselines
