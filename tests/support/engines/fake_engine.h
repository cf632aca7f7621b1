// SPDX-License-Identifier: Apache-2.0
// FakeEngine: an engine whose pictures are known in advance, that counts its calls and can be made to stall or fail.
// Its results are of one colour: the background's own, or grey of the blur's strength, or half-transparent red.
//
//     EngineLog log;
//     PhotoSession session(fakeEngine(log));
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>

#include "inference/engine/engine.h"
#include "tests/support/running/gate.h"

namespace matte::test {

/// What happened to every FakeEngine made with it, and what is to happen. Any thread.
struct EngineLog {
    std::atomic<int> made = 0, cutOuts = 0, composites = 0, fullSize = 0, mattes = 0, cancelled = 0;
    std::atomic<bool> stallCutOut = false;    ///< until it is cancelled
    std::atomic<bool> stallFullSize = false;  ///< likewise
    std::atomic<int> failMaking = 0;          ///< so many times
    std::atomic<bool> failCutOut = false;
    Gate cutOut, composite;            ///< a cut-out and a composite wait at them, unless they are cancelled
    Gate take;                         ///< a live frame waits at it: a video's export that lasts while others act
    std::atomic<int> compositeMs = 0;  ///< that a composite says it took

    void record(const CompositeParams& params);
    [[nodiscard]] CompositeParams lastParams() const;

private:
    mutable std::mutex mutex_;
    CompositeParams lastParams_;
};

using MakeEngine = std::function<std::unique_ptr<Engine>()>;
MakeEngine fakeEngine(EngineLog& log);

/// The colour of FakeEngine's composite with these parameters.
struct Rgba {
    std::uint8_t r, g, b, a;
    bool operator==(const Rgba&) const = default;
};
Rgba expectedColor(const CompositeParams& params);

}  // namespace matte::test
