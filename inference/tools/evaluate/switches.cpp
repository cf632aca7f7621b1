// SPDX-License-Identifier: Apache-2.0
#include "inference/tools/evaluate/switches.h"

#include "inference/core/pixel_math.h"

namespace matte {
namespace {

constexpr double kLongest = 1 + 1e-3;  ///< seconds: times are rounded

}  // namespace

void SwitchMeter::add(const Planes& alpha, const Planes* truth, double seconds) {
    const bool follows = size_ == alpha.size;
    if (follows) seconds_ += seconds - now_;
    size_ = alpha.size;
    now_ = seconds;
    hasTruth_ = hasTruth_ && truth;
    runs_.resize(alpha.values.size());
    std::size_t switched = 0, wronglySwitched = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        Run& run = runs_[i];
        const bool person = alpha.values[i] > kSomebody, wrong = truth && person != (truth->values[i] > kSomebody);
        if (!follows || person != run.person) {
            if (follows && !run.first && seconds - run.begin <= kLongest) {
                ++switched;
                wronglySwitched += run.wrong;
            }
            run = {person, !follows, wrong, seconds};
        } else {
            run.wrong = run.wrong && wrong;
        }
    }
    all_ += double(switched) / double(runs_.size());
    wrong_ += double(wronglySwitched) / double(runs_.size());
}

}  // namespace matte
