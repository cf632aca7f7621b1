// SPDX-License-Identifier: Apache-2.0
// BufferPool: recycles buffers that are slow to allocate, such as device memory, so that repeated work of one size
// allocates nothing. Any thread.
//
//     auto pool = std::make_shared<BufferPool<DeviceBuffer>>(3);
//     std::shared_ptr<const DeviceBuffer> memory = pool->take(bytes);
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace matte {

/// T has a constructor that takes its size in bytes, and bytes(), which returns it.
template <typename T>
class BufferPool : public std::enable_shared_from_this<BufferPool<T>> {
public:
    /// Keeps at most `most` unused buffers.
    explicit BufferPool(std::size_t most) : most_(most) { spare_.reserve(most); }

    /// A buffer of exactly `bytes`, contents undefined. It returns to the pool when its last owner releases it, and may
    /// outlive the pool.
    std::shared_ptr<const T> take(std::size_t bytes) {
        std::unique_ptr<const T> taken = unused(bytes);
        if (!taken) taken = std::make_unique<const T>(bytes);
        return {taken.release(), [pool = this->weak_from_this()](const T* thing) {
                    std::unique_ptr<const T> owned(thing);
                    if (const auto alive = pool.lock()) alive->giveBack(std::move(owned));
                }};
    }
    /// Frees the unused buffers.
    void clear() {
        const std::scoped_lock lock(mutex_);
        spare_.clear();
    }

private:
    std::unique_ptr<const T> unused(std::size_t bytes) {
        const std::scoped_lock lock(mutex_);
        const auto fits = std::ranges::find_if(spare_, [bytes](const auto& thing) { return thing->bytes() == bytes; });
        if (fits == spare_.end()) {
            spare_.clear();  // the size has changed, and device memory may not hold both
            return nullptr;
        }
        auto taken = std::move(*fits);
        spare_.erase(fits);
        return taken;
    }
    void giveBack(std::unique_ptr<const T> thing) {
        const std::scoped_lock lock(mutex_);
        if (spare_.size() < most_) spare_.push_back(std::move(thing));
    }

    std::size_t most_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<const T>> spare_;
};

}  // namespace matte
