// SPDX-License-Identifier: Apache-2.0
// Stopwatch: wall-clock time since its construction. A plain value.
#pragma once

#include <chrono>

namespace matte {

class Stopwatch {
public:
    [[nodiscard]] double ms() const {
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_).count();
    }

private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace matte
