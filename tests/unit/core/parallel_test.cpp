// SPDX-License-Identifier: Apache-2.0
// Loops over the pool's threads: all of the work, each number once, and nobody is waited for who has not begun.
#include <algorithm>
#include <array>
#include <atomic>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "inference/core/parallel.h"

namespace matte {
namespace {

/// Of this thread's loops, for one test.
struct Threads {
    explicit Threads(int count) { setThreads(count); }
    ~Threads() { setThreads(0); }
};

TEST(Parallel, CallsForEachNumberOnceWhateverTheRanges) {
    for (const int workers : {1, 2, 5}) {
        const Threads some(workers);
        for (const int count : {0, 1, 7, 100}) {
            for (const int grain : {1, 3, 200}) {
                std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));  // zeros
                parallelFor(count, grain, [&](int first, int last, int worker) {
                    EXPECT_LE(last - first, grain);
                    EXPECT_TRUE(worker >= 0 && worker < workers);
                    for (int i = first; i < last; ++i) ++calls[std::size_t(i)];
                });
                for (const auto& number : calls) EXPECT_EQ(number, 1);
            }
        }
    }
}

TEST(Parallel, OneWorkerHasOneRangeAtATime) {
    const Threads some(4);
    std::array<std::atomic<int>, 4> inside{};
    parallelFor(1000, 1, [&](int, int, int worker) {
        EXPECT_EQ(++inside[std::size_t(worker)], 1);
        --inside[std::size_t(worker)];
    });
}

// A team as OpenMP has it would hang here: its threads are all in the first loop.
TEST(Parallel, EndsWithoutHelpersWhereAllAreBusyElsewhere) {
    constexpr int kWorkers = 3;
    std::latch busy(kWorkers), ended(1);
    std::thread other([&] {
        const Threads some(kWorkers);
        parallelFor(kWorkers, 1, [&](int, int, int) {
            busy.count_down();
            ended.wait();
        });
    });
    busy.wait();
    const Threads some(kWorkers);
    std::atomic<int> sum = 0;
    parallelEach(100, [&](int i) { sum += i; });
    ended.count_down();
    other.join();
    EXPECT_EQ(sum, 4950);
}

TEST(Parallel, ALoopWithinALoopRunsOnItsThread) {
    const Threads some(4);
    std::atomic<int> sum = 0;
    parallelEach(8, [&](int) {
        const auto thread = std::this_thread::get_id();
        parallelFor(10, 1, [&](int first, int, int worker) {
            EXPECT_EQ(std::this_thread::get_id(), thread);
            EXPECT_EQ(worker, 0);
            sum += first;
        });
    });
    EXPECT_EQ(sum, 8 * 45);
}

TEST(Parallel, ThrowsWhatABodyThrewAndGoesOnWorking) {
    const Threads some(3);
    for (int round = 0; round < 20; ++round) {
        EXPECT_THROW(parallelFor(100, 1,
                                 [](int i, int, int) {
                                     if (i % 7 == 3) throw std::runtime_error("no");
                                 }),
                     std::runtime_error);
    }
    std::atomic<int> sum = 0;
    parallelEach(10, [&](int i) { sum += i; });
    EXPECT_EQ(sum, 45);
}

TEST(Parallel, ManyThreadsMayHaveLoopsAtTheSameTime) {
    std::vector<std::jthread> callers;
    callers.reserve(8);
    std::atomic<int> sum = 0;
    for (int i = 0; i < 8; ++i) {
        callers.emplace_back([&] {
            const Threads some(3);
            for (int round = 0; round < 200; ++round) parallelEach(16, [&](int) { ++sum; });
        });
    }
    callers.clear();
    EXPECT_EQ(sum, 8 * 200 * 16);
}

// Each number may only be reached when the one before is; with two threads someone has to wait all the time.
TEST(Parallel, MilestonesOrderRanges) {
    const Threads some(4);
    constexpr int kCount = 2000;
    for (std::uint32_t round = 1; round <= 3; ++round) {
        static std::vector<Milestone> done(kCount);
        std::vector<int> order;
        parallelFor(kCount, 1, [&](int i, int, int) {
            if (i > 0) done[std::size_t(i - 1)].await(round);
            order.push_back(i);
            done[std::size_t(i)].reach(round);
        });
        ASSERT_EQ(order.size(), std::size_t(kCount));
        EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    }
}

TEST(Parallel, TheNumberOfThreadsIsTheCallersOwn) {
    const int usual = threads();
    const Threads some(3);
    std::thread([&] { EXPECT_EQ(threads(), usual); }).join();
    EXPECT_EQ(threads(), 3);
}

}  // namespace
}  // namespace matte
