// SPDX-License-Identifier: Apache-2.0
// What every live engine does as inference/engine/engine.h says, whatever it runs on: one body of tests over all of
// them, which each program of tests instantiates with its engines.
//
//     INSTANTIATE_TEST_SUITE_P(Cpu, LiveContract, testing::Values(LiveSubject{"tiny", makeEngine}), nameOfSubject);
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "inference/engine/engine.h"

namespace matte::test {

struct LiveSubject {
    std::string name;  ///< letters and digits
    std::function<std::unique_ptr<LiveEngine>()> make;
    std::vector<PixelFormat> formats{PixelFormat::rgba8, PixelFormat::bgr8, PixelFormat::nv12, PixelFormat::yuyv};
    bool hasNetwork = true;     ///< whose layers it tells
    bool keepsPictures = true;  ///< memory of pictures, to use it again
    bool draws = true;          ///< its pictures show the frames
    bool recurrent = false;     ///< its network has a state
};

inline void PrintTo(const LiveSubject& subject, std::ostream* out) {
    *out << subject.name;
}

class LiveContract : public testing::TestWithParam<LiveSubject> {
protected:
    ~LiveContract() override;
    /// One frame through the engine, nothing else being under way.
    Output show(const Frame& frame);
    /// As many frames as it takes, numbered from `first`; how many.
    int fill(std::uint64_t first);

    std::unique_ptr<LiveEngine> engine_ = GetParam().make();
    CompositeParams params_ = plain();

private:
    /// Nothing is kept of earlier frames but a recurrent network's state.
    static CompositeParams plain();
};

}  // namespace matte::test
