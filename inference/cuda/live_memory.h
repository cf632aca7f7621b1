// SPDX-License-Identifier: Apache-2.0
// LiveMemory: the state that a source's mattes carry from frame to frame, across slots: each frame judges and filters
// its matte after the previous frame has, and runs a recurrent network after that. One thread at a time; belongs to the
// device that was current at its construction.
//
//     live.prepare(size, network.stateBytes(), isFiltered(params), stream);   // before each frame's network
#pragma once

#include "inference/cuda/pixels/matte_guard.h"
#include "inference/cuda/pixels/recurrent_state.h"
#include "inference/cuda/pixels/temporal_filter.h"

namespace matte {

class LiveMemory {
public:
    /// Prepares for a matte of `size` by a network of `stateBytes` of recurrent state, 0 if it has none. Enqueues the
    /// clearing of history that no longer applies: after a change of size, after drop() and reset(), and, for the
    /// filters, after a frame that was not `filtered`.
    void prepare(Size size, std::size_t stateBytes, bool filtered, cudaStream_t stream) {
        if (!(temporal_.size == size) || recurrent_.bytes != stateBytes) allocate(size, stateBytes);
        if (!filtered) newMattes_ = true;
        const bool resetsMattes = filtered && newMattes_;
        if (!newSource_ && !newSize_ && !resetsMattes && !newState_) return;
        passed_.waitOn(stream);
        if (isRecurrent() && (newSource_ || newSize_)) device::resetScene(recurrent_, stream);
        if (isRecurrent() && newState_) device::resetState(recurrent_, stream);
        if (newSource_) device::resetCoverage(guard_, stream);
        if (newSource_ || newSize_) device::resetPicture(guard_, stream);
        if (resetsMattes) {
            device::reset(temporal_, stream);
            newMattes_ = false;
        }
        passed_.record(stream);
        newSource_ = newSize_ = newState_ = false;
    }
    /// Clears the filters' history and the recurrent state.
    void drop() { newMattes_ = newState_ = true; }
    /// Clears all history, for a new source.
    void reset() { newSource_ = newMattes_ = newState_ = true; }

    [[nodiscard]] const device::GuardMemory& guard() const { return guard_; }
    [[nodiscard]] const device::TemporalMemory& temporal() const { return temporal_; }
    [[nodiscard]] bool isRecurrent() const { return recurrent_.bytes > 0; }
    [[nodiscard]] const device::RecurrentMemory& recurrent() const { return recurrent_; }
    /// To be recorded after each frame's judging and filtering.
    [[nodiscard]] const Event& passed() const { return passed_; }
    /// Changes whenever the memory is reallocated.
    [[nodiscard]] unsigned version() const { return version_; }

private:
    void allocate(Size size, std::size_t stateBytes) {
        temporal_ = {};
        recurrent_ = {};
        if (stateBytes > 0) {
            scene_.reallocate(sizeof(device::RecurrentMemory::Scene));
            states_.reallocate(stateBytes);
        }
        picture_.reallocate(size.pixels() * sizeof(float4));
        filters_.reallocate(device::TemporalMemory::bytes(size));
        guard_ = {size, state_.as<device::GuardMemory::State>(), picture_.as<float4>()};
        temporal_ = device::TemporalMemory::in(filters_.data(), size);
        recurrent_ = {scene_.as<device::RecurrentMemory::Scene>(), states_.data(), stateBytes};
        ++version_;
        newSize_ = newMattes_ = newState_ = true;
    }

    DeviceBuffer state_{sizeof(device::GuardMemory::State)}, picture_, filters_, scene_, states_;
    device::GuardMemory guard_;
    device::TemporalMemory temporal_;
    device::RecurrentMemory recurrent_;
    Event passed_{Event::Kind::order};
    unsigned version_ = 0;
    bool newSource_ = true, newSize_ = true, newMattes_ = true, newState_ = true;
};

}  // namespace matte
