// SPDX-License-Identifier: Apache-2.0
// check_network KERNEL [--skip TEXT]: runs whole networks on the GPU (kernel mma, sm90 or fp32) and holds alpha against
// the scalar oracle; a run of the graph must repeat the eager run bit for bit. Exit codes as check_conv's.
#include <cmath>
#include <cstdio>
#include <string>

#include "tests/gpu/conv_case.h"
#include "tests/gpu/network_case.h"

namespace {

using namespace matte;

constexpr double kMeanLimit = 5e-4, kMaxLimit = 1.2e-2, kExactNmse = 1e-10;

bool check(ConvKernel kernel, const std::string& skip, int base, Size size, unsigned seed) {
    const UNet unet = test::randomNetwork(base, seed);
    CudaNetwork network(unet, kernel, test::chooseWithout(skip));
    network.configure(size);
    const oracle::Activation input = oracle::noise(size.height, size.width, 3, seed + 1);
    test::setInput(network, kernel, input);
    const Stream stream;
    network.forward(stream.get());
    stream.wait();
    const std::vector<float> eager = test::alphaOf(network);
    const Graph graph(stream.get(), [&] { network.forward(stream.get()); });
    bool same = true;
    for (int i = 0; i < 20; ++i) {
        graph.launch(stream.get());
        stream.wait();
        same = same && test::alphaOf(network) == eager;
    }
    const std::vector<float> expected = oracle::run(unet, input).back().values;
    double mean = 0, maximum = 0;
    for (std::size_t i = 0; i < eager.size(); ++i) {
        const double difference = std::fabs(double(eager[i]) - expected[i]);
        mean += difference / double(eager.size());
        maximum = std::isnan(difference) ? 1e9 : std::max(maximum, difference);
    }
    const double nmse = oracle::nmse(expected, eager);
    const bool close = kernel == ConvKernel::fp32 ? nmse <= kExactNmse : mean <= kMeanLimit && maximum <= kMaxLimit;
    const bool passed = same && close;
    std::printf("%s base %d %dx%d: mean %.2e max %.2e nmse %.2e, graph %s eager, %.0f MB\n", passed ? "pass" : "FAIL",
                base, size.width, size.height, mean, maximum, nmse, same ? "=" : "differs from",
                double(network.deviceBytes()) / 1e6);
    std::fflush(stdout);
    return passed;
}

}  // namespace

int main(int argc, char** argv) {
    const ConvKernel kernel = test::kernelNamed(argc > 1 ? argv[1] : "");
    const std::string skip = argc > 3 && std::string(argv[2]) == "--skip" ? argv[3] : "";
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::printf("SKIP: no CUDA device\n");
        return 77;
    }
    try {
        bool passed = check(kernel, skip, 16, {64, 48}, 1);
        passed = check(kernel, skip, 8, {16, 16}, 2) && passed;
        passed = check(kernel, skip, 12, {80, 32}, 3) && passed;
        passed = check(kernel, skip, 32, {96, 64}, 4) && passed;
        return passed ? 0 : 1;
    } catch (const std::exception& error) {
        std::printf("ERROR: %s\n", error.what());
        return 3;
    }
}
