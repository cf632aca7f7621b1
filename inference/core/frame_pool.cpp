// SPDX-License-Identifier: Apache-2.0
#include "inference/core/frame_pool.h"

#include <array>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace matte {
namespace {

struct Slot {
    Image image;
    /// Room for what shared_ptr needs to count its holders.
    alignas(std::max_align_t) std::array<std::byte, 128> counter;
};

}  // namespace

struct FramePool::State {
    State(std::size_t most, PixelMemory pixelMemory) : memory(pixelMemory), slots(most) {
        free.reserve(most);
        for (auto& slot : slots) free.push_back(&slot);
    }

    const PixelMemory memory;
    std::vector<Slot> slots;
    std::mutex mutex;  // guards `free`: take() against whoever lets a picture go
    std::vector<Slot*> free;
};

namespace {

/// Gives shared_ptr the slot's own room for its counter. The slot is free again when that room is given back: only then
/// is nothing of the shared_ptr left.
template <typename T>
struct CounterRoom {
    using value_type = T;
    CounterRoom(std::shared_ptr<FramePool::State> owner, Slot* of) : state(std::move(owner)), slot(of) {}
    template <typename Other>
    CounterRoom(const CounterRoom<Other>& other) : state(other.state), slot(other.slot) {}

    T* allocate(std::size_t count) {
        static_assert(sizeof(T) <= sizeof(Slot::counter) && alignof(T) <= alignof(std::max_align_t));
        if (count != 1) throw std::bad_alloc();
        return reinterpret_cast<T*>(slot->counter.data());
    }
    void deallocate(T* /*room*/, std::size_t /*count*/) noexcept {
        const std::lock_guard lock(state->mutex);
        state->free.push_back(slot);  // reserved: never grows
    }
    template <typename Other>
    bool operator==(const CounterRoom<Other>& other) const {
        return slot == other.slot;
    }

    std::shared_ptr<FramePool::State> state;
    Slot* slot;
};

}  // namespace

FramePool::FramePool(std::size_t most, PixelMemory memory) : state_(std::make_shared<State>(most, memory)) {}
FramePool::~FramePool() = default;

std::shared_ptr<Image> FramePool::take(Size size, PixelFormat format) {
    Slot* slot = nullptr;
    {
        const std::lock_guard lock(state_->mutex);
        if (state_->free.empty()) return nullptr;
        slot = state_->free.back();
        state_->free.pop_back();
    }
    try {
        if (slot->image.size() != size || slot->image.format() != format) {
            slot->image = Image();  // the old pixels go first
            slot->image = Image(size, format, state_->memory);
        }
    } catch (...) {
        const std::lock_guard lock(state_->mutex);
        state_->free.push_back(slot);
        throw;
    }
    return {&slot->image, [](Image*) {}, CounterRoom<Image>(state_, slot)};
}

}  // namespace matte
