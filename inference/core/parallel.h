// SPDX-License-Identifier: Apache-2.0
// Loops that share their work with the helper threads of one pool, which the whole process has. Whoever calls works
// himself and never waits for a helper to begin: a processor that another program keeps busy costs its share of the
// work and no more, where OpenMP's teams wait for their slowest thread at the end of each loop. Threads that wait
// sleep. Any thread.
//
//     parallelFor(height, [&](int first, int last, int worker) { fill(rows(first, last), scratch[worker]); });
#pragma once

#include <atomic>
#include <cstdint>

namespace matte {

/// How many threads the loops of the calling thread use at most, itself included; 0 means one for each processor that
/// the process may run on, which is what a thread begins with.
void setThreads(int threads);
/// The same number, never 0: also one more than the largest `worker`.
[[nodiscard]] int threads();

/// What loops are made of: calls body(context, first, last, worker) for ranges that cover [0, count), `grain` numbers
/// each, in ascending order; two ranges at the same time have different workers, and the caller's is 0. Inside a body
/// the whole loop runs on its thread. Throws what a body threw first; the ranges that were not begun are left out then.
using LoopBody = void (*)(const void* context, int first, int last, int worker);
void runLoop(int count, int grain, LoopBody body, const void* context);

/// What a body waits for until another range of the same loop, a lower one, has reached it, which that must do in any
/// case: a body that has milestones throws nothing. Any thread.
class Milestone {
public:
    /// `value` is another than before.
    void reach(std::uint32_t value);
    void await(std::uint32_t value) const;

private:
    std::atomic<std::uint32_t> reached_ = 0;
};

/// body(first, last, worker) for ranges of `grain` numbers.
template <typename Body>
void parallelFor(int count, int grain, const Body& body) {
    runLoop(
        count, grain,
        [](const void* context, int first, int last, int worker) {
            (*static_cast<const Body*>(context))(first, last, worker);
        },
        &body);
}

/// The same in a few ranges for each thread: for rows that take about as long as each other.
template <typename Body>
void parallelFor(int count, const Body& body) {
    const int ranges = 4 * threads();
    parallelFor(count, (count + ranges - 1) / ranges, body);
}

/// body(i) for each i.
template <typename Body>
void parallelEach(int count, const Body& body) {
    parallelFor(count, [&](int first, int last, int) {
        for (int i = first; i < last; ++i) body(i);
    });
}

}  // namespace matte
