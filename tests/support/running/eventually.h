// SPDX-License-Identifier: Apache-2.0
// Waiting for what other threads or programs do.
#pragma once

#include <chrono>
#include <thread>

namespace matte::test {

/// Asks every millisecond or so whether it `isSo`; false when it still isn't after `most`, which even a busy machine
/// should keep.
template <typename Condition>
bool eventually(Condition isSo, std::chrono::milliseconds most = std::chrono::seconds(20)) {
    for (const auto end = std::chrono::steady_clock::now() + most; !isSo();) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // paces
    }
    return true;
}

}  // namespace matte::test
