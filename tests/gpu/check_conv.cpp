// SPDX-License-Identifier: Apache-2.0
// check_conv KERNEL [--quick] [--only TEXT] [--skip TEXT]: holds every configuration of a convolution kernel (mma, sm90
// or fp32) against the definition, on sizes that are awkward on purpose. --only and --skip choose configurations by
// what ConvConfig::text() says. Exit code 0: all passed; 1: something differs; 3: the device failed; 77: there is none.
#include <algorithm>
#include <cstdio>
#include <string>

#include "tests/gpu/conv_case.h"

namespace {

using namespace matte;

double limitOf(ConvKernel kernel) {
    return kernel == ConvKernel::fp32 ? 1e-11 : 1e-6;
}

std::vector<ConvShape> problems(bool quick) {
    std::vector<ConvShape> list;
    const auto conv = [&](int n, int h, int w, int c0, int c1, int out, bool pooled = false) {
        list.push_back({ConvKind::conv3x3, n, h, w, c0, c1, out, pooled});
    };
    const auto up = [&](int n, int h, int w, int in, int out) {
        list.push_back({ConvKind::up2x2, n, h, w, in, 0, out, false});
    };
    conv(1, 32, 32, 64, 0, 64);
    conv(1, 17, 19, 40, 24, 72);
    conv(1, 20, 36, 3, 0, 16, true);
    up(1, 9, 13, 48, 24);
    if (quick) return list;
    for (const auto& [h, w] :
         {std::pair(1, 1), {1, 2}, {2, 1}, {1, 40}, {40, 1}, {3, 5}, {8, 16}, {33, 31}, {64, 65}}) {
        conv(1, h, w, 64, 0, 64);
        conv(1, h, w, 16, 16, 16);
        up(1, h, w, 64, 32);
    }
    for (const int in : {3, 5, 8, 16, 24, 32, 48, 64, 72, 96, 128, 200, 320}) {
        conv(1, 18, 22, in, 0, 64);
        conv(1, 13, 24, 32, in, 40);
        up(1, 11, 10, in, 20);
    }
    for (const int out : {3, 8, 16, 24, 32, 48, 64, 72, 100, 128, 192, 256, 320}) {
        conv(1, 16, 18, 64, 0, out);
        conv(1, 10, 34, 24, 0, out, true);
        up(1, 5, 17, 40, out);
    }
    conv(1, 2, 2, 64, 0, 64, true);
    conv(1, 64, 48, 128, 0, 128, true);
    conv(3, 34, 38, 32, 32, 32, true);
    conv(2, 15, 20, 64, 64, 128);
    conv(4, 32, 32, 64, 0, 64, true);
    conv(1, 32, 32, 512, 0, 1024);
    conv(1, 32, 32, 512, 512, 512);
    conv(1, 128, 136, 64, 0, 64, true);
    conv(1, 256, 256, 128, 0, 64);
    conv(1, 300, 500, 16, 16, 16);
    up(2, 33, 20, 128, 64);
    up(1, 32, 32, 1024, 512);
    up(1, 100, 90, 32, 16);
    return list;
}

struct Options {
    ConvKernel kernel = ConvKernel::mma;
    bool quick = false;
    std::string only, skip;
};

bool wanted(const ConvConfig& config, const Options& options) {
    const std::string text = config.text();
    return text.find(options.only) != std::string::npos &&
           (options.skip.empty() || text.find(options.skip) == std::string::npos);
}

int run(const Options& options) {
    const DeviceFacts device = DeviceFacts::current();
    int checks = 0, failures = 0, cases = 0;
    double worst = 0;
    for (const ConvShape& shape : problems(options.quick)) {
        test::ConvCase layer(shape, options.kernel, 17U * unsigned(++cases));
        for (const ConvConfig& config : rankedConfigs(shape, device, options.kernel)) {
            if (!wanted(config, options)) continue;
            const test::CheckResult result = layer.check(config);
            ++checks;
            worst = std::max({worst, result.nmse, result.pooledNmse});
            if (result.passed(limitOf(options.kernel))) continue;
            if (++failures <= 40) {
                std::printf("FAIL %s, %s: nmse %.2e pooled %.2e%s%s\n", test::text(shape).c_str(),
                            config.text().c_str(), result.nmse, result.pooledNmse, result.paddingZero ? "" : " padding",
                            result.guardIntact ? "" : " guard");
                std::fflush(stdout);
            }
        }
    }
    std::printf("%d problems, %d checks, %d failures, worst nmse %.2e\n", cases, checks, failures, worst);
    return failures == 0 && checks > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (i == 1) options.kernel = test::kernelNamed(argument);
        if (argument == "--quick") options.quick = true;
        if (argument == "--only" && i + 1 < argc) options.only = argv[++i];
        if (argument == "--skip" && i + 1 < argc) options.skip = argv[++i];
    }
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::printf("SKIP: no CUDA device\n");
        return 77;
    }
    try {
        return run(options);
    } catch (const std::exception& error) {
        std::printf("ERROR: %s\n", error.what());
        return 3;
    }
}
