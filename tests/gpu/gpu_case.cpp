// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/gpu_case.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace matte::test {

std::string whyNot(ConvKernel kernel) {
    const DeviceFacts device = DeviceFacts::current();
    const std::string has = std::to_string(device.major) + "." + std::to_string(device.minor);
    if (device.major < 8) return "The kernels need compute capability 8.0, this GPU has " + has + ".";
    if (kernel != ConvKernel::sm90) return "";
    if (device.major != 9) return "The kernel sm90 needs compute capability 9.0, this GPU has " + has + ".";
#ifdef MATTE_HAVE_SM90
    return "";
#else
    return "The kernel sm90 is not in this build: put 90a-real into CMAKE_CUDA_ARCHITECTURES.";
#endif
}

std::string nameOf(ConvKernel kernel) {
    return kernel == ConvKernel::sm90 ? "sm90" : kernel == ConvKernel::fp32 ? "fp32" : "mma";
}

std::string testName(std::string text) {
    for (char& c : text) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    return text;
}

std::string text(Size size) {
    return std::to_string(size.width) + "x" + std::to_string(size.height);
}

bool brief() {
    return std::getenv("MATTE_BRIEF") != nullptr;
}

int repeats(int count) {
    return brief() ? std::max(3, count / 8) : count;
}

void expectClose(const std::string& what, Difference found, Difference limit) {
    EXPECT_LE(found.maximum, limit.maximum) << what << ", largest difference";
    EXPECT_LE(found.mean, limit.mean) << what << ", mean difference";
}

}  // namespace matte::test
