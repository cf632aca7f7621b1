// SPDX-License-Identifier: Apache-2.0
#include "inference/cpu/yielding_threads.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "inference/guard.h"

namespace matte {
namespace {

/// OpenMP keeps the team of a thread for as long as that thread lives.
void keepTeam(const std::stop_token& stop) {
    std::atomic<int> members = 0;
#pragma omp parallel num_threads(2)
    ++members;  // the compiler leaves out a team that does nothing
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait(lock, stop, [] { return false; });
}

}  // namespace

YieldingThreads::YieldingThreads() {
    // No thread is left: frames are slower, and that is all.
    guarded([&] { keeper_ = startThread("the processor", Area::engine, keepTeam, untold); }, untold);
}

}  // namespace matte
