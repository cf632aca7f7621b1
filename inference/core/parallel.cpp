// SPDX-License-Identifier: Apache-2.0
#include "inference/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace matte {
namespace {

/// How often a thread polls before it sleeps: one or two microseconds.
constexpr int kGlances = 32;

void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

int processors() {
#ifdef __linux__
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
    return std::max(1, int(std::thread::hardware_concurrency()));
}

/// Requests short scheduler time slices for the calling thread (Linux 6.12 and newer): on a busy processor, threads
/// that wait for each other then progress sooner.
void takeShortTurns() {
#if defined(__linux__) && defined(SYS_sched_setattr)
    struct {
        std::uint32_t size = sizeof *this, policy = 0;
        std::uint64_t flags = 0x08;  // keep the policy
        std::int32_t nice = 0;
        std::uint32_t priority = 0;
        std::uint64_t turn = 100'000, deadline = 0, period = 0;  // nanoseconds
    } attributes;
    attributes.nice = ::getpriority(PRIO_PROCESS, 0);
    ::syscall(SYS_sched_setattr, 0, &attributes, 0U);
#endif
}

struct Loop {
    Loop(int numbers, int range, LoopBody call, const void* with, int others)
        : count(numbers), grain(range), body(call), context(with), helpers(others) {}
    const int count, grain;
    const LoopBody body;
    const void* const context;
    const int helpers;  ///< at most
    std::atomic<int> next = 0;
    std::atomic<bool> failed = false;
    // The pool's mutex guards these.
    int entered = 0, inside = 0;
    std::exception_ptr error;
    std::condition_variable left;

    [[nodiscard]] bool hasWork() const { return next.load(std::memory_order_relaxed) < count; }
};

/// Of one calling thread.
struct Caller {
    int threads = processors();
    bool inLoop = false, hasShortTurns = false;
};
thread_local Caller caller;

class Pool {
public:
    static Pool& instance() {
        static Pool pool;
        return pool;
    }

    void run(Loop& loop) {
        if (!std::exchange(caller.hasShortTurns, true)) takeShortTurns();
        const int wanted = std::min(loop.helpers, (loop.count - 1) / loop.grain);
        int asleep = 0;
        {
            const std::scoped_lock lock(mutex_);
            addHelpers(loop.helpers);
            open_.push_back(&loop);
            asleep = std::min(wanted, asleep_);
        }
        for (int i = 0; i < asleep; ++i) work_.notify_one();
        caller.inLoop = true;
        takePart(loop, 0);
        caller.inLoop = false;
        std::unique_lock lock(mutex_);
        std::erase(open_, &loop);
        loop.left.wait(lock, [&] { return loop.inside == 0; });
    }

    template <typename IsReached>
    void sleepUntil(const IsReached& isReached) {
        sleepers_.fetch_add(1, std::memory_order_seq_cst);
        {
            std::unique_lock lock(milestones_);
            reached_.wait(lock, isReached);
        }
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
    }

    void wakeSleepers() {
        if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
        { const std::scoped_lock lock(milestones_); }  // between a sleeper's last look and its sleep
        reached_.notify_all();
    }

private:
    Pool() { open_.reserve(16); }
    ~Pool() {
        for (std::jthread& thread : threads_) thread.request_stop();
    }

    /// If no thread can be created, continues with the existing ones and does not try again for a thousand loops.
    void addHelpers(int wanted) {
        if (loopsUntilAsked_ > 0 && --loopsUntilAsked_ > 0) return;
        try {
            while (int(threads_.size()) < wanted)
                threads_.emplace_back([this](const std::stop_token& stop) { help(stop); });
        } catch (const std::exception&) {  // std::system_error or std::bad_alloc
            loopsUntilAsked_ = 1000;
        }
    }

    void help(const std::stop_token& stop) {
        caller.inLoop = true;
        takeShortTurns();
        std::unique_lock lock(mutex_);
        for (;;) {
            Loop* loop = nullptr;
            ++asleep_;
            const bool found = work_.wait(lock, stop, [&] { return (loop = openLoop()) != nullptr; });
            --asleep_;
            if (!found) return;
            const int worker = ++loop->entered;
            ++loop->inside;
            lock.unlock();
            takePart(*loop, worker);
            lock.lock();
            if (--loop->inside == 0) loop->left.notify_one();
        }
    }

    Loop* openLoop() {
        for (Loop* loop : open_) {
            if (loop->entered < loop->helpers && loop->hasWork()) return loop;
        }
        return nullptr;
    }

    void takePart(Loop& loop, int worker) {
        for (;;) {
            const int first = loop.next.fetch_add(loop.grain, std::memory_order_relaxed);
            if (first >= loop.count) return;
            if (loop.failed.load(std::memory_order_relaxed)) continue;
            try {
                loop.body(loop.context, first, std::min(first + loop.grain, loop.count), worker);
            } catch (...) {
                const std::scoped_lock lock(mutex_);
                if (!loop.error) loop.error = std::current_exception();
                loop.failed = true;
            }
        }
    }

    std::mutex milestones_;  ///< held by a thread that goes to sleep
    std::condition_variable reached_;
    std::atomic<int> sleepers_ = 0;
    std::mutex mutex_;
    std::condition_variable_any work_;
    std::vector<Loop*> open_;
    int asleep_ = 0, loopsUntilAsked_ = 0;
    std::vector<std::jthread> threads_;  ///< last: they use the others
};

}  // namespace

void setThreads(int threads) {
    caller.threads = threads > 0 ? threads : processors();
}
int threads() {
    return caller.threads;
}

// Neither spins for long nor yields: a thread that yields on a busy machine loses its turn to the other programs.
void Milestone::await(std::uint32_t value) const {
    const auto isReached = [&] { return reached_.load(std::memory_order_seq_cst) == value; };
    for (int i = 0; i < kGlances; ++i) {
        if (isReached()) return;
        pause();
    }
    Pool::instance().sleepUntil(isReached);
}

void Milestone::reach(std::uint32_t value) {
    reached_.store(value, std::memory_order_seq_cst);
    Pool::instance().wakeSleepers();
}

void runLoop(int count, int grain, LoopBody body, const void* context) {
    if (count <= 0) return;
    grain = std::max(grain, 1);
    const bool alone = caller.inLoop || caller.threads == 1 || count <= grain;
    if (alone) {
        for (int first = 0; first < count; first += grain) body(context, first, std::min(first + grain, count), 0);
        return;
    }
    Loop loop(count, grain, body, context, caller.threads - 1);
    Pool::instance().run(loop);
    if (loop.error) std::rethrow_exception(loop.error);
}

}  // namespace matte
