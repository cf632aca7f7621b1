// SPDX-License-Identifier: Apache-2.0
// Parallel loops on one thread pool for the whole process. The calling thread works too and never waits for a helper
// to start, so a processor that another program keeps busy costs only its share of the work; an OpenMP team waits for
// its slowest thread at the end of each loop. Waiting threads sleep. Any thread.
//
//     parallelFor(height, [&](int first, int last, int worker) { fill(rows(first, last), scratch[worker]); });
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace matte {

/// Sets the maximum number of threads for the calling thread's loops, itself included. 0, the default of each thread,
/// means one for each processor that the process may run on.
void setThreads(int threads);
/// That number, never 0; every `worker` index is below it.
[[nodiscard]] int threads();

/// RAII: limits the number of threads of this thread's loops.
class AtMostThreads {
public:
    explicit AtMostThreads(int most) : before_(threads()) { setThreads(std::min(before_, most)); }
    ~AtMostThreads() { setThreads(before_); }
    AtMostThreads(const AtMostThreads&) = delete;
    AtMostThreads& operator=(const AtMostThreads&) = delete;

private:
    int before_;
};

/// Calls body(context, first, last, worker) for ranges of `grain` numbers that cover [0, count), started in ascending
/// order. Concurrent ranges have different workers; the caller is worker 0. A loop inside a body runs on that thread.
/// Rethrows the first exception of a body; ranges not yet started are then skipped.
using LoopBody = void (*)(const void* context, int first, int last, int worker);
void runLoop(int count, int grain, LoopBody body, const void* context);

/// Lets a body wait for a lower range of the same loop. The lower range must always reach the milestone, so bodies that
/// use milestones must not throw. Any thread.
class Milestone {
public:
    /// `value` differs from the previous one.
    void reach(std::uint32_t value);
    void await(std::uint32_t value) const;

private:
    std::atomic<std::uint32_t> reached_ = 0;
};

/// Calls body(first, last, worker) for ranges of `grain` numbers.
template <typename Body>
void parallelFor(int count, int grain, const Body& body) {
    runLoop(
        count, grain,
        [](const void* context, int first, int last, int worker) {
            (*static_cast<const Body*>(context))(first, last, worker);
        },
        &body);
}

/// The same with a few ranges per thread, for iterations of similar cost such as rows.
template <typename Body>
void parallelFor(int count, const Body& body) {
    const int ranges = 4 * threads();
    parallelFor(count, (count + ranges - 1) / ranges, body);
}

/// Calls body(i) for each i.
template <typename Body>
void parallelEach(int count, const Body& body) {
    parallelFor(count, [&](int first, int last, int) {
        for (int i = first; i < last; ++i) body(i);
    });
}

}  // namespace matte
