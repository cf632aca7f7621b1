// SPDX-License-Identifier: Apache-2.0
// gpu_pixels: times each stage around the network, alone and in a row, for frames of some formats and sizes.
#include <cstdio>
#include <functional>
#include <string>

#include "inference/matting/guided_filter.h"
#include "tests/bench/gpu_timer.h"
#include "tests/gpu/pixel_case.h"

namespace {

using namespace matte;

/// All stages around the network for one picture, each enqueued by name.
class Stages {
public:
    Stages(PixelFormat format, Size size, Size network)
        : picture_(format, size, 1),
          memory_(shrunkTo(size, kGuidedLongestSide)),
          toGrid_(size, grid()),
          toInput_(size, network),
          enlarge_(network, grid()),
          radius_(guidedRadius(grid().longest(), network.longest())),
          input_(network.pixels() * 16),
          out_(size.pixels() * 4),
          pinnedIn_(picture_.bytes.bytes()),
          pinnedOut_(out_.bytes()) {
        matte_ = test::upload(test::roundMatte(network).values);
        plate_ = test::upload(std::vector<std::uint8_t>(size.pixels() * 4, 99));
        useParams("blur:50");
    }
    void useParams(const char* background) {
        CompositeParams params;
        params.background = parseBackground(background);
        block_ = test::upload(std::vector{resolve(params, grid())});
    }

    void upload(cudaStream_t s) const {
        CUDA_CHECK(cudaMemcpyAsync(picture_.bytes.data(), pinnedIn_.as<std::byte>(), picture_.bytes.bytes(),
                                   cudaMemcpyHostToDevice, s));
    }
    void download(cudaStream_t s) const {
        CUDA_CHECK(cudaMemcpyAsync(pinnedOut_.as<std::byte>(), out_.data(), out_.bytes(), cudaMemcpyDeviceToHost, s));
    }
    void input(cudaStream_t s) const {
        device::shrinkToInput(picture_.source(), toInput_,
                              {input_.data(), false, {0.5F, 0.5F, 0.5F}, {0.2F, 0.2F, 0.2F}}, s);
    }
    void guide(cudaStream_t s) const { device::shrinkToGuide(picture_.source(), toGrid_, memory_.scratch().guide, s); }
    void enlarge(cudaStream_t s) const {
        device::resampleMatte(matte_.as<float>(), enlarge_, {}, memory_.scratch().target, s);
    }
    void guided(cudaStream_t s) const { device::fitGuidedFilter(memory_.guided(), memory_.scratch(), radius_, s); }
    void colors(cudaStream_t s) const { device::estimateColors(memory_.guided(), memory_.scratch(), s); }
    void blur(cudaStream_t s) const {
        device::blurBackground(memory_.guided(), memory_.scratch(), block_.as<ResolvedParams>(), s);
    }
    void composite(cudaStream_t s) const {
        device::compositeOver(picture_.source(), memory_.guided(), block_.as<ResolvedParams>(),
                              plate_.as<std::uint8_t>(), out_.as<std::uint8_t>(), s);
    }
    void matte(cudaStream_t s) const {
        device::renderMatte(picture_.source(), memory_.guided(), block_.as<ResolvedParams>(), out_.as<std::uint8_t>(),
                            s);
    }
    void kernels(cudaStream_t s) const {
        input(s);
        guide(s);
        enlarge(s);
        guided(s);
        colors(s);
        blur(s);
        composite(s);
    }
    [[nodiscard]] Size grid() const { return memory_.guided().size; }

private:
    test::PictureCase picture_;
    test::GridCase memory_;
    device::Resampling toGrid_, toInput_, enlarge_;
    int radius_;
    DeviceBuffer input_, out_, matte_, plate_, block_;
    PinnedBuffer pinnedIn_, pinnedOut_;
};

void print(const char* name, const std::function<void(cudaStream_t)>& stage) {
    std::printf("  %-30s %8.4f ms alone, %8.4f in a row\n", name, bench::medianMs(stage, 1, 51),
                bench::medianMs(stage, 10, 21));
    std::fflush(stdout);
}

void time(PixelFormat format, Size size, Size network) {
    Stages stages(format, size, network);
    std::printf("%s %dx%d, grid %dx%d, network %dx%d\n", test::nameOf(format).c_str(), size.width, size.height,
                stages.grid().width, stages.grid().height, network.width, network.height);
    const auto row = [&](const char* name, void (Stages::*stage)(cudaStream_t) const) {
        print(name, [&stages, stage](cudaStream_t stream) { (stages.*stage)(stream); });
    };
    row("upload", &Stages::upload);
    row("network input", &Stages::input);
    row("guide", &Stages::guide);
    row("matte to grid", &Stages::enlarge);
    row("guided filter", &Stages::guided);
    row("colours", &Stages::colors);
    row("blur", &Stages::blur);
    for (const char* background : {"blur:50", "color:#00ff00", "image:plate", "transparent"}) {
        stages.useParams(background);
        row(("composite over " + std::string(background)).c_str(), &Stages::composite);
    }
    row("matte", &Stages::matte);
    row("download", &Stages::download);
    stages.useParams("blur:50");
    row("all kernels", &Stages::kernels);
}

}  // namespace

int main() {
    try {
        time(PixelFormat::rgba8, {1920, 1080}, {512, 288});
        time(PixelFormat::bgr8, {1920, 1080}, {512, 288});
        time(PixelFormat::nv12, {1920, 1080}, {512, 288});
        time(PixelFormat::rgba8, {4000, 3000}, {512, 384});
        return 0;
    } catch (const std::exception& error) {
        std::printf("ERROR: %s\n", error.what());
        return 3;
    }
}
