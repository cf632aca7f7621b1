// SPDX-License-Identifier: Apache-2.0
// Threads that wait for each other give the processor away.
#include <chrono>
#include <ctime>
#include <thread>

#include <gtest/gtest.h>
#include <omp.h>

#include "inference/cpu/yielding_threads.h"

namespace matte {
namespace {

double processSeconds() {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

TEST(YieldingThreads, ThoseThatWaitUseNoTime) {
    const YieldingThreads yielding;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // it does its work soon, and tells nobody
    constexpr int kRounds = 50;
    static constexpr double kSeconds = 0.004;  // as long as a spin takes
    // A thread of its own: another test's team may be larger, and asleep.
    double used = 0;
    std::thread([&used] {
        const double before = processSeconds();
        for (int round = 0; round < kRounds; ++round) {
#pragma omp parallel num_threads(omp_get_num_procs())
            if (omp_get_thread_num() == 0) std::this_thread::sleep_for(std::chrono::duration<double>(kSeconds));
        }
        used = processSeconds() - before;
    }).join();
    EXPECT_LT(used, 0.5 * kSeconds * kRounds) << "of the time in which all but one thread waited";
}

}  // namespace
}  // namespace matte
