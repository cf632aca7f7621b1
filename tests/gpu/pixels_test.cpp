// SPDX-License-Identifier: Apache-2.0
// The picture's kernels against the CPU's loops, stage by stage.
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "inference/matting/composite.h"
#include "inference/matting/guided_filter.h"
#include "inference/matting/resample.h"
#include "tests/gpu/gpu_case.h"
#include "tests/gpu/pixel_case.h"
#include "tests/support/pictures/one_picture.h"

namespace matte::test {
namespace {

constexpr PixelFormat kFormats[] = {PixelFormat::rgba8, PixelFormat::bgr8, PixelFormat::nv12, PixelFormat::yuyv};

std::vector<std::uint8_t> bytesOf(const Image& image) {
    return {image.row(0), image.row(0) + image.bytes()};
}

/// The same rgba8 pixels premultiplied: where alpha is next to nothing, its last bit decides on a whole colour.
std::vector<float> premultiplied(const std::vector<std::uint8_t>& rgba) {
    std::vector<float> values;
    for (std::size_t i = 0; i < rgba.size(); ++i) {
        values.push_back(i % 4 == 3 ? float(rgba[i]) : float(rgba[i]) * float(rgba[i / 4 * 4 + 3]) / 255);
    }
    return values;
}

void checkGuideAndInput(const PictureCase& picture, Size grid, Size input) {
    const std::string name = nameOf(picture.format) + " " + text(picture.size) + " to ";
    // A byte that rounds the other way in YUV's conversion is 1/255 off.
    const bool yuv = picture.format == PixelFormat::nv12 || picture.format == PixelFormat::yuyv;
    const Difference limit = yuv ? Difference{4.1e-3, 1e-5} : Difference{3e-6, 1e-6};
    const device::Resampling toGrid(picture.size, grid), toInput(picture.size, input);
    const GridCase memory(grid);
    const Stream stream;
    device::shrinkToGuide(picture.source(), toGrid, memory.scratch().guide, stream.get());
    stream.wait();
    expectClose(
        name + text(grid) + " guide",
        difference(resampleToPlanes(picture.image.view(), grid).values, memory.channelsOf(memory.scratch().guide)),
        limit);

    constexpr std::array<float, 3> mean{0.485F, 0.456F, 0.406F}, deviation{0.229F, 0.224F, 0.225F};
    const DeviceBuffer halves(input.pixels() * 8 * sizeof(__half));
    device::shrinkToInput(picture.source(), toInput, {halves.data(), false, mean, deviation}, stream.get());
    const DeviceBuffer floats(input.pixels() * 8 * sizeof(float));
    device::shrinkToInput(picture.source(), toInput, {floats.data(), true, mean, deviation}, stream.get());
    stream.wait();
    std::vector<float> expected(input.pixels() * 8, 0.0F), found;
    const Planes planes = resampleToPlanes(picture.image.view(), input);
    for (std::size_t i = 0; i < planes.values.size(); ++i) {
        expected[i / 3 * 8 + i % 3] = (planes.values[i] - mean[i % 3]) / deviation[i % 3];
    }
    for (const __half value : download<__half>(halves.data(), input.pixels() * 8)) found.push_back(__half2float(value));
    // Half's own rounding at up to 2.6, and YUV's byte divided by the deviation.
    expectClose(name + text(input) + " input", difference(expected, found), {yuv ? 0.02 : 1.1e-3, 3e-4});
    expectClose(name + text(input) + " input in floats",
                difference(expected, download<float>(floats.data(), input.pixels() * 8)),
                yuv ? Difference{0.02, 3e-4} : Difference{2e-5, 5e-6});
}

void checkNonFinite() {
    const Stream stream;
    const device::Resampling resampling({9, 7}, {18, 14});
    const DeviceBuffer target(18 * 14 * sizeof(float));
    Planes matte = roundMatte({9, 7});
    for (const float bad : {0.5F, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        matte.values[31] = bad;
        const DeviceBuffer source = upload(matte.values), nonFinite = upload(std::vector<int>{0});
        const PinnedBuffer told(sizeof(int));
        *told.as<int>() = 0;
        CUDA_CHECK(cudaDeviceSynchronize());
        device::resampleMatte(source.as<float>(), resampling, {nonFinite.as<int>(), told.as<int>()}, target.as<float>(),
                              stream.get());
        stream.wait();
        const std::vector<float> found = download<float>(target.data(), 18 * 14);
        const int expected = std::isfinite(bad) ? 0 : 1;
        EXPECT_EQ(*told.as<int>(), expected) << bad;
        EXPECT_EQ(download<int>(nonFinite.data(), 1).front(), expected) << bad;
        EXPECT_TRUE(std::ranges::all_of(found, [](float alpha) { return alpha >= 0 && alpha <= 1; })) << bad;
    }
}

void checkMatteAndPictures(Size from, Size to) {
    const Stream stream;
    const device::Resampling resampling(from, to);
    const Planes matte = roundMatte(from);
    const DeviceBuffer source = upload(matte.values), target(to.pixels() * sizeof(float));
    device::resampleMatte(source.as<float>(), resampling, {}, target.as<float>(), stream.get());
    stream.wait();
    expectClose("matte " + text(from) + " to " + text(to),
                difference(resamplePlanes(matte, to).values, download<float>(target.data(), to.pixels())),
                {2e-6, 5e-7});

    const PictureCase picture(PixelFormat::rgba8, from, 5);
    const DeviceBuffer rgba(to.pixels() * 4);
    device::resamplePicture(picture.source(), resampling, rgba.as<std::uint8_t>(), stream.get());
    stream.wait();
    expectClose("picture " + text(from) + " to " + text(to),
                difference(bytesOf(resampleToImage(picture.image.view(), to)),
                           download<std::uint8_t>(rgba.data(), to.pixels() * 4)),
                {1, 1e-2});
    for (const Placement placement : {Placement::fill, Placement::fit, Placement::stretch}) {
        const Layout layout = layOut(from, to, placement);
        const device::Resampling part(layout.seen, layout.scaled);
        device::layPlate(picture.source(), layout, part, to, {10, 200, 30}, rgba.as<std::uint8_t>(), stream.get());
        stream.wait();
        expectClose("plate " + std::to_string(int(placement)) + " " + text(from) + " in " + text(to),
                    difference(bytesOf(layInto(picture.image.view(), to, placement, {10, 200, 30})),
                               download<std::uint8_t>(rgba.data(), to.pixels() * 4)),
                    {1, 1e-2});
    }
}

/// A picture's grid on the CPU, after each step.
struct CpuGrid {
    CpuGrid(const Image& image, Size grid, Size network, float sigma)
        : guide(resampleToPlanes(image.view(), grid)), coarse(roundMatte(network)), guided(grid, guided::kChannels) {
        fitGuidedFilter(guide, coarse, guided);
        alpha = evaluateAlpha(guide, guided);
        linear = toLinear(guide);
        estimateColors(linear, alpha, guided);
        blurBackground(linear, alpha, sigma, guided);
    }
    Planes guide, coarse, guided, alpha, linear;
};

void checkGrid(Size grid, Size network, float strength) {
    const std::string name = text(grid) + " from " + text(network);
    const PictureCase picture(PixelFormat::bgr8, grid, unsigned(grid.width));
    const CpuGrid cpu(picture.image, grid, network, blurSigma(strength, grid.longest()));
    GridCase memory(grid);
    const Stream stream;
    memory.setGuide(cpu.guide, resamplePlanes(cpu.coarse, grid));
    device::fitGuidedFilter(memory.guided(), memory.scratch(), guidedRadius(grid.longest(), network.longest()),
                            stream.get());
    stream.wait();
    expectClose(name + " guided alpha", difference(cpu.alpha.values, memory.alpha()), {2e-2, 1e-4});
    expectClose(name + " linear", difference(cpu.linear.values, memory.channelsOf(memory.guided().linear)),
                {2e-6, 1e-6});

    memory.set(cpu.guided, cpu.linear, cpu.alpha);
    device::estimateColors(memory.guided(), memory.scratch(), stream.get());
    stream.wait();
    expectClose(
        name + " person's colour",
        difference(GridCase::channels(cpu.guided, guided::kForeground), memory.channelsOf(memory.guided().foreground)),
        {5e-3, 1e-4});
    expectClose(
        name + " background's colour",
        difference(GridCase::channels(cpu.guided, guided::kBackground), memory.channelsOf(memory.guided().background)),
        {5e-3, 1e-4});

    memory.set(cpu.guided, cpu.linear, cpu.alpha);
    CompositeParams params;
    params.background.blurStrength = strength;
    const DeviceBuffer block = upload(std::vector{resolve(params, grid)});
    device::blurBackground(memory.guided(), memory.scratch(), block.as<ResolvedParams>(), stream.get());
    stream.wait();
    expectClose(
        name + " blur " + std::to_string(int(strength)),
        difference(GridCase::channels(cpu.guided, guided::kBlurred), memory.channelsOf(memory.guided().blurred)),
        {2e-3, 1e-4});
}

void checkParams(PixelFormat format, Size size, Size grid) {
    const PictureCase picture(format, size, 11);
    const Image plate = wavyImage(size, PixelFormat::rgba8, 12);
    const CpuGrid cpu(picture.image, grid, {64, 48}, 5);
    GridCase memory(grid);
    memory.set(cpu.guided, cpu.linear, cpu.alpha);
    const DeviceBuffer plateBytes = upload(bytesOf(plate)), out(size.pixels() * 4);
    const Stream stream;
    for (const char* background : {"blur:20", "color:#2080c0", "transparent", "image:plate"}) {
        for (const bool decontaminate : {true, false}) {
            CompositeParams params;
            params.background = parseBackground(background);
            params.decontaminate = decontaminate;
            const bool image = params.background.kind == Background::Kind::image;
            const DeviceBuffer block = upload(std::vector{resolveOver(params, grid, image ? &plate : nullptr)});
            device::compositeOver(picture.source(), memory.guided(), block.as<ResolvedParams>(),
                                  image ? plateBytes.as<std::uint8_t>() : nullptr, out.as<std::uint8_t>(),
                                  stream.get());
            stream.wait();
            const Image expected =
                compositeOver(picture.image.view(), cpu.guided, params, image ? &plate : nullptr, {});
            expectClose(nameOf(format) + " " + text(size) + " over " + background + (decontaminate ? "" : ", plain"),
                        difference(premultiplied(bytesOf(expected)),
                                   premultiplied(download<std::uint8_t>(out.data(), size.pixels() * 4))),
                        {3, 0.05});
        }
    }
    CompositeParams green;
    green.background = parseBackground("color:#00b140");
    const DeviceBuffer greenBlock = upload(std::vector{resolve(green, grid)}), nonFinite = upload(std::vector{1});
    device::GuidedCoefficients flagged = memory.guided();
    flagged.nonFinite = nonFinite.as<int>();
    CUDA_CHECK(cudaDeviceSynchronize());
    device::compositeOver(picture.source(), flagged, greenBlock.as<ResolvedParams>(), nullptr, out.as<std::uint8_t>(),
                          stream.get());
    const auto shown = download<std::uint8_t>(out.data(), size.pixels() * 4);
    bool alone = true;
    for (std::size_t i = 0; i < shown.size(); i += 4) {
        alone = alone && shown[i] == 0 && shown[i + 1] == 0xB1 && shown[i + 2] == 0x40;
    }
    EXPECT_TRUE(alone) << "the flag is set: the background alone must be seen";
    CompositeParams params;
    params.threshold = 0.4F;
    const DeviceBuffer block = upload(std::vector{resolve(params, grid)});
    device::renderMatte(picture.source(), memory.guided(), block.as<ResolvedParams>(), out.as<std::uint8_t>(),
                        stream.get());
    stream.wait();
    expectClose(nameOf(format) + " " + text(size) + " matte",
                difference(bytesOf(renderMatte(picture.image.view(), cpu.guided, params)),
                           download<std::uint8_t>(out.data(), size.pixels())),
                {2, 0.02});
}

struct FormatAndSize {
    PixelFormat format;
    Size size;
};
std::string nameOfFormat(const testing::TestParamInfo<FormatAndSize>& info) {
    return nameOf(info.param.format) + "_" + text(info.param.size);
}
std::vector<FormatAndSize> everyFormat(const std::vector<Size>& sizes) {
    std::vector<FormatAndSize> all;
    for (const PixelFormat format : kFormats) {
        for (const Size size : sizes) all.push_back({format, size});
    }
    return all;
}

class Resample : public testing::Test, public testing::WithParamInterface<FormatAndSize> {};
TEST_P(Resample, AFrameBecomesGuideAndInputAsOnTheCpu) {
    const auto& [format, size] = GetParam();
    const bool large = size.longest() > 1000;
    checkGuideAndInput(PictureCase(format, size, 3), shrunkTo(size, large ? 1024 : 160),
                       large ? Size{512, 288} : Size{96, 64});
}
INSTANTIATE_TEST_SUITE_P(Few,
                         Resample,
                         testing::ValuesIn(everyFormat({{1, 1}, {1, 300}, {301, 3}, {97, 61}})),
                         nameOfFormat);
INSTANTIATE_TEST_SUITE_P(Large, Resample, testing::ValuesIn(everyFormat({{1920, 1080}, {1279, 721}})), nameOfFormat);

class Enlarge : public testing::Test, public testing::WithParamInterface<std::pair<Size, Size>> {};
TEST_P(Enlarge, MattesPicturesAndPlatesAreAsOnTheCpu) {
    checkMatteAndPictures(GetParam().first, GetParam().second);
}
INSTANTIATE_TEST_SUITE_P(Few,
                         Enlarge,
                         testing::Values(std::pair<Size, Size>{{1, 1}, {9, 7}},
                                         std::pair<Size, Size>{{33, 17}, {200, 90}},
                                         std::pair<Size, Size>{{400, 301}, {123, 77}},
                                         std::pair<Size, Size>{{64, 300}, {300, 64}},
                                         std::pair<Size, Size>{{3, 70}, {1, 1}}),
                         [](const auto& made) { return text(made.param.first) + "_to_" + text(made.param.second); });

class NonFinite : public testing::Test {};
TEST_F(NonFinite, AMatteThatIsNotFiniteIsNoticedAndDoesNoHarm) {
    checkNonFinite();
}

struct GridProblem {
    Size grid, network;
    float strength;
};
class Refine : public testing::Test, public testing::WithParamInterface<GridProblem> {};
TEST_P(Refine, MatteColoursAndBlurAreAsOnTheCpu) {
    checkGrid(GetParam().grid, GetParam().network, GetParam().strength);
}
std::string nameOfGrid(const testing::TestParamInfo<GridProblem>& info) {
    return text(info.param.grid) + "_from_" + text(info.param.network) + "_blur" +
           std::to_string(int(info.param.strength));
}
INSTANTIATE_TEST_SUITE_P(Few,
                         Refine,
                         testing::Values(GridProblem{{1, 1}, {16, 16}, 50},
                                         GridProblem{{1, 130}, {16, 48}, 1},
                                         GridProblem{{77, 2}, {48, 16}, 100},
                                         GridProblem{{97, 61}, {320, 192}, 50},
                                         GridProblem{{320, 240}, {64, 48}, 10}),
                         nameOfGrid);
INSTANTIATE_TEST_SUITE_P(Large,
                         Refine,
                         testing::Values(GridProblem{{1024, 576}, {512, 288}, 50},
                                         GridProblem{{768, 1024}, {240, 320}, 100},
                                         GridProblem{{1024, 683}, {16, 16}, 1}),
                         nameOfGrid);

class CompositeOnGpu : public testing::Test, public testing::WithParamInterface<FormatAndSize> {};
TEST_P(CompositeOnGpu, EachBackgroundIsAsOnTheCpu) {
    const auto& [format, size] = GetParam();
    const bool coarser = size.longest() > 600;
    checkParams(format, size, coarser ? Size{size.width / 2, size.height / 2} : size);
}
INSTANTIATE_TEST_SUITE_P(Few, CompositeOnGpu, testing::ValuesIn(everyFormat({{1, 1}, {203, 151}})), nameOfFormat);
INSTANTIATE_TEST_SUITE_P(Large, CompositeOnGpu, testing::ValuesIn(everyFormat({{641, 483}})), nameOfFormat);

}  // namespace
}  // namespace matte::test
