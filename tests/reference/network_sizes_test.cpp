// SPDX-License-Identifier: Apache-2.0
// The network on the CPU at inputs of every size: it stays within its memory and finds the person, in each precision.
// A few sizes here; tests/checks/inputs.sh takes them all, with each instruction set that the processor has.
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "inference/core/synthetic_person.h"
#include "inference/cpu/cpu_network.h"
#include "inference/matting/resample.h"
#include "inference/model/safetensors.h"
#include "inference/model/unet.h"

namespace matte {
namespace {

constexpr int kLeast = 64, kMost = 768;

bool takesEverySize() {
    return std::getenv("MATTE_EVERY_SIZE") != nullptr;
}

std::vector<Size> sizesOf(const UNet& unet) {
    const int step = std::max(32, 1 << (unet.levels() - 1));
    std::vector<Size> sizes;
    for (int height = kLeast; height <= kMost; height += step) {
        for (int width = kLeast; width <= kMost; width += step) sizes.push_back({width, height});
    }
    if (takesEverySize()) return sizes;
    std::vector<Size> few;  // a stride that neither side's number of steps divides
    for (std::size_t i = 0; i < sizes.size(); i += step == 32 ? 37 : 11) few.push_back(sizes[i]);
    return few;
}

std::vector<float> matteOf(CpuNetwork& network, const Image& picture, Size size) {
    network.configure(size);
    const Planes planes = resampleToPlanes(picture.view(), size);
    const auto mean = network.unet().mean(), deviation = network.unet().deviation();
    for (std::size_t i = 0; i < planes.values.size(); ++i) {
        network.input()[i] = (planes.values[i] - mean[i % 3]) / deviation[i % 3];
    }
    network.run();
    return {network.alpha(), network.alpha() + size.pixels()};
}

/// Whether a network can be asked to find the person in a picture that is squeezed into `size`.
bool isFound(Size size, Size picture) {
    const double squeezed = double(size.width) / size.height * picture.height / picture.width;
    return squeezed > 1.0 / 3 && squeezed < 3;
}

class NetworkSizes : public testing::TestWithParam<const char*> {};

// A generated kernel that writes beyond its output is seen by no sanitizer: the network's own margins show it, and what
// lies between other allocations does under MALLOC_CHECK_.
TEST_P(NetworkSizes, KeepsWithinItsMemoryAndFindsThePerson) {
    const UNet unet = UNet::load(Safetensors::read(std::string(MATTE_RESOURCES "/models/") + GetParam()));
    SyntheticPerson person({640, 480}, 1);
    Image picture({640, 480}, PixelFormat::bgr8), cutout({640, 480}, PixelFormat::rgba8);
    person.drawFrame(0, picture, cutout);
    CpuNetwork single(unet, CpuPrecision::f32);
    single.checkMemory();
    for (const Size size : sizesOf(unet)) {
        SCOPED_TRACE(std::to_string(size.width) + "x" + std::to_string(size.height));
        const std::vector<float> expected = matteOf(single, picture, size);
        const double covered = std::accumulate(expected.begin(), expected.end(), 0.0) / double(expected.size());
        EXPECT_LT(covered, 0.9);
        EXPECT_GT(covered, isFound(size, picture.size()) ? 0.02 : -1);
        if (!CpuNetwork::supports(CpuPrecision::bf16)) continue;
        CpuNetwork half(unet, CpuPrecision::bf16);
        half.checkMemory();
        const std::vector<float> found = matteOf(half, picture, size);
        double difference = 0;
        for (std::size_t i = 0; i < found.size(); ++i) difference += std::abs(found[i] - expected[i]);
        EXPECT_LT(difference / double(found.size()), 0.02);
    }
}

INSTANTIATE_TEST_SUITE_P(Models,
                         NetworkSizes,
                         testing::Values("portrait.safetensors", "portrait-lite.safetensors"),
                         [](const auto& model) { return model.index == 0 ? "Portrait" : "PortraitLite"; });

}  // namespace
}  // namespace matte
