// SPDX-License-Identifier: Apache-2.0
// What a test's camera, or an impatient user, does again and again at a pace of its own.
//
//     const std::jthread camera = every(10ms, [&] { reader.deliver(bytes); });
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace matte::test {

/// A thread that does `step` every `period`, at once for the first time, until it is told to stop.
template <typename Step>
[[nodiscard]] std::jthread every(std::chrono::milliseconds period, Step step) {
    return std::jthread([period, step = std::move(step)](const std::stop_token& stop) mutable {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any never;
        while (!stop.stop_requested()) {
            step();
            never.wait_for(lock, stop, period, [] { return false; });
        }
    });
}

}  // namespace matte::test
