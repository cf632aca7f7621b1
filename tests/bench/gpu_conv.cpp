// SPDX-License-Identifier: Apache-2.0
// gpu_conv KERNEL [--skip TEXT] [--first COUNT] [--most COUNT] [--csv FILE]: times every configuration of a convolution
// kernel (mma, sm90 or fp32) on the layers of the usual networks, or the first few of them, random data; --most: that
// many configurations of each; prints the default's and the best's time of each layer.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>

#include "tests/bench/gpu_timer.h"
#include "tests/gpu/conv_case.h"

namespace {

using namespace matte;

/// The stem and a bottleneck of each level of EfficientNet-Lite 2's, at 512x320.
void addBottlenecks(std::vector<ConvShape>& list) {
    const auto depthwise = [&](int height, int width, int channels, int side, int stride) {
        ConvShape& shape = list.emplace_back(ConvShape{ConvKind::depthwise, 1, height, width, channels, 0, channels});
        shape.side = side;
        shape.stride = stride;
    };
    const auto pointwise = [&](int height, int width, int in, int out, bool linear, bool added) {
        ConvShape& shape = list.emplace_back(ConvShape{ConvKind::pointwise, 1, height, width, in, 0, out});
        shape.linear = linear;
        shape.added = added;
    };
    list.push_back({ConvKind::conv3x3, 1, 320, 512, 3, 0, 16});
    list.back().stride = 2;
    pointwise(160, 256, 16, 64, false, false);
    depthwise(160, 256, 64, 3, 2);
    pointwise(80, 128, 64, 24, true, false);
    depthwise(40, 64, 240, 5, 1);
    pointwise(40, 64, 240, 40, true, true);
    pointwise(20, 32, 112, 672, false, false);
    depthwise(20, 32, 672, 5, 2);
    pointwise(10, 16, 960, 160, true, true);
}

/// The ten 3x3 layers of a U-Net of base 64 at batch 4, then each different layer of the whole network at batch 1.
std::vector<ConvShape> layers() {
    std::vector<ConvShape> list;
    const auto conv = [&](int n, int size, int c0, int c1, int out, bool pooled = false) {
        ConvShape& shape = list.emplace_back();
        shape.batch = n;
        shape.height = shape.width = size;
        shape.in0Channels = c0;
        shape.in1Channels = c1;
        shape.outChannels = out;
        shape.pooled = pooled;
    };
    for (const int n : {4, 1}) {
        const bool pooled = n == 1;  // at batch 4 as the yardstick runs them: the convolution alone
        conv(n, 512, 3, 0, 64);
        conv(n, 512, 64, 0, 64, pooled);
        conv(n, 256, 64, 0, 128);
        conv(n, 256, 128, 0, 128, pooled);
        conv(n, 128, 128, 0, 256);
        conv(n, 128, 256, 0, 256, pooled);
        conv(n, 64, 256, 0, 512);
        conv(n, 64, 512, 0, 512, pooled);
        conv(n, 32, 512, 0, 1024);
        conv(n, 32, 1024, 0, 1024);
    }
    for (int level = 3, size = 64; level >= 0; --level, size *= 2) {
        const int channels = 64 << level;
        list.push_back({ConvKind::up2x2, 1, size / 2, size / 2, channels * 2, 0, channels, false});
        conv(1, size, channels, channels, channels);
    }
    conv(1, 256, 16, 0, 16, true);
    conv(1, 128, 16, 0, 32);
    conv(1, 16, 256, 0, 256);
    list.push_back({ConvKind::conv3x3, 1, 288, 512, 32, 32, 32, false});
    list.push_back({ConvKind::conv3x3, 1, 36, 64, 256, 0, 256, true});
    list.push_back({ConvKind::conv3x3, 1, 18, 32, 512, 0, 512, false});
    list.push_back({ConvKind::conv3x3, 1, 1088, 1920, 32, 0, 32, true});
    addBottlenecks(list);
    return list;
}

void run(ConvKernel kernel, const std::string& skip, int count, int most, std::ostream& csv) {
    const DeviceFacts device = DeviceFacts::current();
    csv << "layer,config,rank,ms,tflops\n";
    std::printf("%-38s %9s %8s  %-34s %9s  %s\n", "layer", "default", "TFLOP/s", "default config", "best ms",
                "best config");
    unsigned seed = 0;
    for (const ConvShape& shape : layers()) {
        if (count-- == 0) break;
        test::ConvCase layer(shape, kernel, ++seed);
        double first = 0, best = 1e30;
        std::string firstName, bestName;
        int rank = 0;
        for (const ConvConfig& config : rankedConfigs(shape, device, kernel)) {
            if (!skip.empty() && config.text().find(skip) != std::string::npos) continue;
            if (rank >= most) break;
            const ConvLaunch launch = layer.launch(config);
            const double ms = bench::medianMs([&](cudaStream_t stream) { launch(stream, false); }, 10, 7);
            csv << test::text(shape) << ',' << config.text() << ',' << rank << ',' << ms << ','
                << shape.flops() / ms / 1e9 << '\n';
            if (rank++ == 0) {
                first = ms;
                firstName = config.text();
            }
            if (ms < best) {
                best = ms;
                bestName = config.text();
            }
        }
        std::printf("%-38s %9.4f %8.0f  %-34s %9.4f  %s\n", test::text(shape).c_str(), first,
                    shape.flops() / first / 1e9, firstName.c_str(), best,
                    bestName == firstName ? "=" : bestName.c_str());
        std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv) {
    ConvKernel kernel = ConvKernel::mma;
    std::string skip, csv = "/dev/null";
    int count = -1, most = 1 << 20;  // all
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (i == 1 && argument != "--version") kernel = test::kernelNamed(argument);
        if (argument == "--skip" && i + 1 < argc) skip = argv[++i];
        if (argument == "--first" && i + 1 < argc) count = std::stoi(argv[++i]);
        if (argument == "--most" && i + 1 < argc) most = std::stoi(argv[++i]);
        if (argument == "--csv" && i + 1 < argc) csv = argv[++i];
    }
    try {
        std::ofstream file(csv);
        run(kernel, skip, count, most, file);
        return 0;
    } catch (const std::exception& error) {
        std::printf("ERROR: %s\n", error.what());
        return 3;
    }
}
