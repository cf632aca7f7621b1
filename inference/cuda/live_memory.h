// SPDX-License-Identifier: Apache-2.0
// LiveMemory: what the mattes of a source's frames hand on from one to the next, whichever slot each is in: a frame
// judges and tends its matte only when the one before has. One thread at a time; belongs to the device that was current
// when it was made.
//
//     live.prepare(size, isTended(look), stream);   // before each frame's matte
#pragma once

#include "inference/cuda/pixels/guard.h"
#include "inference/cuda/pixels/steady.h"

namespace matte {

class LiveMemory {
public:
    /// For mattes of `size`. What is remembered of another size, from before forget() or, of tending, from before a
    /// frame that was not `tended` goes, in the stream's order.
    void prepare(Size size, bool tended, cudaStream_t stream) {
        if (!(steady_.size == size)) allocate(size);
        if (!tended) newMattes_ = true;
        const bool forgetsMattes = tended && newMattes_;
        if (!newSource_ && !newSize_ && !forgetsMattes) return;
        passed_.holdUp(stream);
        if (newSource_) device::forgetCoverage(guard_, stream);
        if (newSource_ || newSize_) device::forgetPicture(guard_, stream);
        if (forgetsMattes) {
            device::forget(steady_, stream);
            newMattes_ = false;
        }
        passed_.record(stream);
        newSource_ = newSize_ = false;
    }
    /// Another source begins.
    void forget() { newSource_ = newMattes_ = true; }

    [[nodiscard]] const device::GuardMemory& guard() const { return guard_; }
    [[nodiscard]] const device::SteadyMemory& steady() const { return steady_; }
    /// Recorded behind each frame's judging and tending.
    [[nodiscard]] const Event& passed() const { return passed_; }
    /// Changes with the memory's place.
    [[nodiscard]] unsigned version() const { return version_; }

private:
    void allocate(Size size) {
        steady_ = {};
        bytes_ = DeviceBuffer();
        const std::size_t picture = size.pixels() * sizeof(float4);
        bytes_ = DeviceBuffer(picture + device::SteadyMemory::bytes(size) + kAlignment);
        guard_ = {size, state_.as<device::GuardMemory::State>(), bytes_.as<float4>()};
        steady_ = device::SteadyMemory::in(bytes_.data() + (picture + kAlignment - 1) / kAlignment * kAlignment, size);
        ++version_;
        newSize_ = newMattes_ = true;
    }

    static constexpr std::size_t kAlignment = 256;
    DeviceBuffer state_{sizeof(device::GuardMemory::State)}, bytes_;
    device::GuardMemory guard_;
    device::SteadyMemory steady_;
    Event passed_{Event::Kind::order};
    unsigned version_ = 0;
    bool newSource_ = true, newSize_ = true, newMattes_ = true;
};

}  // namespace matte
