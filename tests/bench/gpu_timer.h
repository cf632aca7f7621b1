// SPDX-License-Identifier: Apache-2.0
// Times work on the GPU: recorded into a graph, so that nothing of the host is in the numbers, and the median taken.
#pragma once

#include <algorithm>
#include <vector>

#include "inference/cuda/device/cuda.h"

namespace matte::bench {

/// Milliseconds of one call of `enqueue(stream)`: the median of `replays` graphs that hold `calls` of them each.
template <typename Enqueue>
double medianMs(Enqueue&& enqueue, int calls, int replays) {
    const Stream stream;
    enqueue(stream.get());
    stream.wait();
    const Graph graph(stream.get(), [&] {
        for (int i = 0; i < calls; ++i) enqueue(stream.get());
    });
    const Event start, end;
    graph.launch(stream.get());
    std::vector<double> times;
    for (int i = 0; i < replays; ++i) {
        start.record(stream.get());
        graph.launch(stream.get());
        end.record(stream.get());
        end.wait();
        times.push_back(double(end.msSince(start)) / calls);
    }
    std::ranges::nth_element(times, times.begin() + replays / 2);
    return times[std::size_t(replays) / 2];
}

}  // namespace matte::bench
