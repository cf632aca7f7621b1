// SPDX-License-Identifier: Apache-2.0
// LiveMemory: the state that a source's mattes carry from frame to frame, across slots: each frame judges and filters
// its matte after the previous frame has. One thread at a time; belongs to the device that was current at its
// construction.
//
//     live.prepare(size, isFiltered(params), stream);   // before each frame's matte
#pragma once

#include "inference/cuda/pixels/matte_guard.h"
#include "inference/cuda/pixels/temporal_filter.h"

namespace matte {

class LiveMemory {
public:
    /// Prepares for a matte of `size`. Enqueues the clearing of history that no longer applies: after a change of size,
    /// after reset(), and, for the filters, after a frame that was not `filtered`.
    void prepare(Size size, bool filtered, cudaStream_t stream) {
        if (!(temporal_.size == size)) allocate(size);
        if (!filtered) newMattes_ = true;
        const bool resetsMattes = filtered && newMattes_;
        if (!newSource_ && !newSize_ && !resetsMattes) return;
        passed_.waitOn(stream);
        if (newSource_) device::resetCoverage(guard_, stream);
        if (newSource_ || newSize_) device::resetPicture(guard_, stream);
        if (resetsMattes) {
            device::reset(temporal_, stream);
            newMattes_ = false;
        }
        passed_.record(stream);
        newSource_ = newSize_ = false;
    }
    /// Clears the filters' history.
    void drop() { newMattes_ = true; }
    /// Clears all history, for a new source.
    void reset() { newSource_ = newMattes_ = true; }

    [[nodiscard]] const device::GuardMemory& guard() const { return guard_; }
    [[nodiscard]] const device::TemporalMemory& temporal() const { return temporal_; }
    /// To be recorded after each frame's judging and filtering.
    [[nodiscard]] const Event& passed() const { return passed_; }
    /// Changes whenever the memory is reallocated.
    [[nodiscard]] unsigned version() const { return version_; }

private:
    void allocate(Size size) {
        temporal_ = {};
        picture_.reallocate(size.pixels() * sizeof(float4));
        filters_.reallocate(device::TemporalMemory::bytes(size));
        guard_ = {size, state_.as<device::GuardMemory::State>(), picture_.as<float4>()};
        temporal_ = device::TemporalMemory::in(filters_.data(), size);
        ++version_;
        newSize_ = newMattes_ = true;
    }

    DeviceBuffer state_{sizeof(device::GuardMemory::State)}, picture_, filters_;
    device::GuardMemory guard_;
    device::TemporalMemory temporal_;
    Event passed_{Event::Kind::order};
    unsigned version_ = 0;
    bool newSource_ = true, newSize_ = true, newMattes_ = true;
};

}  // namespace matte
