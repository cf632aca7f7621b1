// SPDX-License-Identifier: Apache-2.0
// How long the network takes on a CPU that other programs use too: beside none, one and two processes that are always
// busy. Percentiles in milliseconds.
//
//     busy_cpu portrait-lite 384x224 f32 150
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inference/core/error.h"
#include "inference/cpu/cpu_network.h"
#include "inference/model/read_model.h"

namespace matte {
namespace {

/// A process that is busy until it is ended.
class BusyProcess {
public:
    BusyProcess() : id_(::fork()) {
        if (id_ != 0) return;
        for (volatile double value = 1;;) value = value * 1.0000001 + 1e-9;
    }
    ~BusyProcess() {
        if (id_ < 0) return;
        ::kill(id_, SIGKILL);
        ::waitpid(id_, nullptr, 0);
    }
    BusyProcess(const BusyProcess&) = delete;
    BusyProcess& operator=(const BusyProcess&) = delete;

private:
    pid_t id_;
};

double millisecondsOf(CpuNetwork& network) {
    const auto begin = std::chrono::steady_clock::now();
    network.run();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

void measure(CpuNetwork& network, int busy, int runs) {
    const std::vector<BusyProcess> processes(static_cast<std::size_t>(busy));
    for (int i = 0; i < 10; ++i) network.run();
    std::vector<double> ms;
    ms.reserve(std::size_t(runs));
    for (int i = 0; i < runs; ++i) ms.push_back(millisecondsOf(network));
    std::ranges::sort(ms);
    const auto at = [&](double share) { return ms[std::size_t(share * double(ms.size() - 1))]; };
    std::printf("%d busy processes: p10 %.1f, median %.1f, p90 %.1f, most %.1f ms\n", busy, at(0.1), at(0.5), at(0.9),
                ms.back());
    std::fflush(stdout);
}

int run(int argc, char** argv) {
    int width = 0, height = 0;
    if (argc != 5 || std::sscanf(argv[2], "%dx%d", &width, &height) != 2) {
        std::fprintf(stderr, "busy_cpu MODEL WIDTHxHEIGHT f32|bf16 RUNS\n");
        return 2;
    }
    const CpuPrecision precision = std::string(argv[3]) == "bf16" ? CpuPrecision::bf16 : CpuPrecision::f32;
    CpuNetwork network(loadNetwork(argv[1]), precision);
    network.configure({width, height});
    for (int i = 0; i < width * height * 3; ++i)
        network.input()[i] = float(unsigned(i) * 2654435761U % 4096) / 1024 - 2;
    for (int busy = 0; busy <= 2; ++busy) measure(network, busy, std::max(1, std::atoi(argv[4])));
    return 0;
}

}  // namespace
}  // namespace matte

int main(int argc, char** argv) {
    try {
        return matte::run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "busy_cpu: %s\n", error.what());
        return 1;
    }
}
