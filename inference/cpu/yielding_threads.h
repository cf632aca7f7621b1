// SPDX-License-Identifier: Apache-2.0
// YieldingThreads: lets OpenMP's threads sleep soon while they wait for each other.
#pragma once

#include <thread>

namespace matte {

/// While one exists. GCC's OpenMP lets a thread that waits spin for milliseconds, unless the program has more of its
/// threads than there are processors (GOMP_SPINCOUNT in libgomp's manual). As soon as anything else runs, a camera's
/// decoder, the window's drawing or another program, the spinning takes the place of the very thread that is waited
/// for, and a frame takes ten times as long. The environment can forbid it, but only before the program starts; two
/// threads more that do nothing have the same effect. Any thread.
class YieldingThreads {
public:
    YieldingThreads();
    ~YieldingThreads() = default;
    YieldingThreads(const YieldingThreads&) = delete;
    YieldingThreads& operator=(const YieldingThreads&) = delete;

private:
    std::jthread keeper_;
};

}  // namespace matte
