// SPDX-License-Identifier: Apache-2.0
// Times a stage of the CPU engine by its own life. One thread.
//
//     { const StageTimer timer(output.times, "blur"); blur(); }
#pragma once

#include <chrono>

#include "inference/engine/engine.h"

namespace matte {

/// Adds its own life to a list of times.
class StageTimer {
public:
    StageTimer(StageTimes& times, const char* name) : times_(times), name_(name) {}
    ~StageTimer() {
        const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin_;
        times_.push_back({name_, elapsed.count()});
    }
    StageTimer(const StageTimer&) = delete;
    StageTimer& operator=(const StageTimer&) = delete;

private:
    StageTimes& times_;
    const char* name_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace matte
