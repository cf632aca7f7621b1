// SPDX-License-Identifier: Apache-2.0
// Gate: where a test holds up another thread, for as long as it needs. Any thread.
//
//     script.take.close();                   // the test: the engine is busy from now on
//     feed.push();
//     ASSERT_TRUE(eventually([&] { return script.submitted == 2; }));
//     script.take.open();
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace matte::test {

/// Open at first.
class Gate {
public:
    void close() { set(true); }
    void open() { set(false); }
    /// So many get through, now or later, although it is closed.
    void letPass(int many) {
        {
            const std::scoped_lock lock(mutex_);
            mayPass_ += many;
        }
        changed_.notify_all();
    }
    /// Waits while it is closed; false when `stop` was asked for meanwhile.
    bool pass(const std::stop_token& stop = {}) {
        std::unique_lock lock(mutex_);
        if (!changed_.wait(lock, stop, [this] { return !isClosed_ || mayPass_ > 0; })) return false;
        if (isClosed_) --mayPass_;
        return true;
    }

private:
    void set(bool closed) {
        {
            const std::scoped_lock lock(mutex_);
            isClosed_ = closed;
            mayPass_ = 0;
        }
        changed_.notify_all();
    }

    std::mutex mutex_;  ///< guards what follows
    std::condition_variable_any changed_;
    bool isClosed_ = false;
    int mayPass_ = 0;
};

}  // namespace matte::test
