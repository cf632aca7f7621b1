// SPDX-License-Identifier: Apache-2.0
// Pictures that have to be the same to the last bit.
#pragma once

#include <algorithm>
#include <cstddef>

#include <gtest/gtest.h>

#include "inference/core/image.h"

namespace matte::test {

/// Says where two pictures of one format differ first.
inline testing::AssertionResult sameBytes(const Image& a, const Image& b) {
    if (a.bytes() != b.bytes()) return testing::AssertionFailure() << a.bytes() << " and " << b.bytes() << " bytes";
    const auto differing = std::mismatch(a.row(0), a.row(0) + a.bytes(), b.row(0)).first - a.row(0);
    if (differing == std::ptrdiff_t(a.bytes())) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "byte " << differing << " of " << a.bytes() << " is "
                                       << int(a.row(0)[differing]) << " and " << int(b.row(0)[differing]);
}

}  // namespace matte::test
