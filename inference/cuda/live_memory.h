// SPDX-License-Identifier: Apache-2.0
// LiveMemory: what the mattes of a source's frames hand on from one to the next, whichever slot each is in: a frame
// tends its matte only when the one before has. One thread at a time.
//
//     live.prepare(size, stream);   // before each frame's tending
#pragma once

#include "inference/cuda/steady.h"

namespace matte {

class LiveMemory {
public:
    /// For mattes of `size`. What is remembered of another size or from before forget() goes, in the stream's order.
    void prepare(Size size, cudaStream_t stream) {
        if (!(memory_.size == size)) {
            memory_ = {};
            bytes_ = DeviceBuffer();
            bytes_ = DeviceBuffer(device::SteadyMemory::bytes(size));
            memory_ = device::SteadyMemory::in(bytes_.data(), size);
            ++version_;
            fresh_ = true;
        }
        if (!fresh_) return;
        passed_.holdUp(stream);
        device::forget(memory_, stream);
        passed_.record(stream);
        fresh_ = false;
    }
    /// Another source begins.
    void forget() { fresh_ = true; }

    [[nodiscard]] const device::SteadyMemory& memory() const { return memory_; }
    /// Recorded behind each frame's tending.
    [[nodiscard]] const Event& passed() const { return passed_; }
    /// Changes with the memory's place.
    [[nodiscard]] unsigned version() const { return version_; }

private:
    DeviceBuffer bytes_;
    device::SteadyMemory memory_;
    Event passed_{Event::Kind::order};
    unsigned version_ = 0;
    bool fresh_ = true;
};

}  // namespace matte
