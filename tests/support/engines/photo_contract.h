// SPDX-License-Identifier: Apache-2.0
// What every photo engine does as inference/engine/engine.h says, whatever it runs on: one body of tests over all of
// them, which each program of tests instantiates with its engines.
//
//     INSTANTIATE_TEST_SUITE_P(Cpu, PhotoContract, testing::Values(PhotoSubject{"tiny", makeEngine}), nameOfSubject);
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "inference/engine/engine.h"

namespace matte::test {

struct PhotoSubject {
    std::string name;  ///< letters and digits
    std::function<std::unique_ptr<PhotoEngine>()> make;
    bool draws = true;  ///< its pictures show what the parameters say
};

/// "tiny": the last part of a test's name.
template <typename Subject>
std::string nameOfSubject(const testing::TestParamInfo<Subject>& info) {
    return info.param.name;
}
inline void PrintTo(const PhotoSubject& subject, std::ostream* out) {
    *out << subject.name;
}

class PhotoContract : public testing::TestWithParam<PhotoSubject> {
protected:
    ~PhotoContract() override;
    /// In rgba8, copied from wherever the engine has it.
    [[nodiscard]] std::shared_ptr<const Image> composite(Cutout& cutout, const CompositeParams& params, Size size);

    std::unique_ptr<PhotoEngine> engine_ = GetParam().make();
};

}  // namespace matte::test
