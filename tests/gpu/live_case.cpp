// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/live_case.h"

#include <algorithm>

#include "tests/gpu/network_case.h"
#include "tests/gpu/pixel_case.h"
#include "tests/support/files/model_file.h"

namespace matte::test {

void LiveEngineTest::SetUp() {
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess || devices == 0) GTEST_SKIP() << "no CUDA device: " << cudaGetErrorString(error);
}

std::shared_ptr<const UNet> smallNetwork() {
    static const auto network = std::make_shared<const UNet>(randomNetwork(8, 5));
    return network;
}

std::shared_ptr<const UNet> fullNetwork() {
    static const auto network = std::make_shared<const UNet>(randomNetwork(32, 7));
    return network;
}

std::shared_ptr<const UNet> brokenNetwork() {
    const std::vector<int> widths{8, 16, 32};
    return std::make_shared<const UNet>(
        UNet::load(Safetensors::parse(encodeSafetensors(brokenInTheDark(widths, 1), unetMetadata(widths)), "broken")));
}

std::shared_ptr<const Image> wavyFrame(Size size, PixelFormat format, unsigned seed) {
    // Any bytes are a frame: those of a picture that is wide enough to hold as many.
    const std::size_t bytes = packedBytes(format, size);
    const Image waves = wavyImage({int((bytes + 3) / 4), 1}, PixelFormat::rgba8, seed);
    auto frame = std::make_shared<Image>(size, format);
    std::copy_n(waves.row(0), bytes, frame->row(0));
    return frame;
}

std::shared_ptr<const Image> blackFrame(Size size) {
    auto frame = std::make_shared<Image>(size, PixelFormat::bgr8);
    std::fill_n(frame->row(0), frame->bytes(), std::uint8_t(0));
    return frame;
}

CompositeParams plainParams(const std::string& background) {
    CompositeParams params;
    params.background = parseBackground(background);
    if (params.background.kind == Background::Kind::image) {
        params.background.image = wavyFrame({70, 41}, PixelFormat::rgba8, 9);
        params.background.placement = Placement::fit;
    }
    params.temporalSmoothing = 0;
    params.removeSmallRegions = false;
    return params;
}

Output through(Engine& engine,
               const std::shared_ptr<const Image>& image,
               const CompositeParams& params,
               std::uint64_t number) {
    engine.submit({image, number, std::chrono::steady_clock::now()}, params);
    return engine.take();
}

}  // namespace matte::test
