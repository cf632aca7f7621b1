// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/pixel_checks.h"

#include <cuda_fp16.h>

#include <algorithm>

#include "inference/cpu/composite.h"
#include "inference/cpu/refine.h"
#include "inference/cpu/resample.h"
#include "tests/gpu/pixel_case.h"

namespace matte::test {
namespace {

using device::SourceFormat;

constexpr SourceFormat kFormats[] = {SourceFormat::rgba8, SourceFormat::bgr8, SourceFormat::nv12, SourceFormat::yuyv};

std::string text(Size size) {
    return std::to_string(size.width) + "x" + std::to_string(size.height);
}

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

void checkGuideAndInput(Tally& tally, const PictureCase& picture, Size grid, Size input) {
    const std::string name = nameOf(picture.format) + " " + text(picture.size) + " to ";
    // A byte that rounds the other way in YUV's conversion is 1/255 off.
    const bool yuv = picture.format == SourceFormat::nv12 || picture.format == SourceFormat::yuyv;
    const Difference limit = yuv ? Difference{4.1e-3, 1e-5} : Difference{3e-6, 1e-6};
    const device::Resampling toGrid(picture.size, grid), toInput(picture.size, input);
    const GridCase memory(grid);
    const Stream stream;
    device::shrinkToGuide(picture.source(), toGrid, memory.scratch().guide, stream.get());
    stream.wait();
    tally.check(
        name + text(grid) + " guide",
        difference(resampleToPlanes(picture.image.view(), grid).values, memory.channelsOf(memory.scratch().guide)),
        limit);

    constexpr std::array<float, 3> mean{0.485F, 0.456F, 0.406F}, deviation{0.229F, 0.224F, 0.225F};
    const DeviceBuffer halves(input.pixels() * 8 * sizeof(__half));
    device::shrinkToInput(picture.source(), toInput, mean, deviation, halves.data(), stream.get());
    stream.wait();
    std::vector<float> expected(input.pixels() * 8, 0.0F), found;
    const Planes planes = resampleToPlanes(picture.image.view(), input);
    for (std::size_t i = 0; i < planes.values.size(); ++i) {
        expected[i / 3 * 8 + i % 3] = (planes.values[i] - mean[i % 3]) / deviation[i % 3];
    }
    for (const __half value : download<__half>(halves.data(), input.pixels() * 8)) found.push_back(__half2float(value));
    // Half's own rounding at up to 2.6, and YUV's byte divided by the deviation.
    tally.check(name + text(input) + " input", difference(expected, found), {yuv ? 0.02 : 1.1e-3, 3e-4});
}

void checkMatteAndPictures(Tally& tally, Size from, Size to) {
    const Stream stream;
    const device::Resampling resampling(from, to);
    const Planes matte = roundMatte(from);
    const DeviceBuffer source = upload(matte.values), target(to.pixels() * sizeof(float));
    device::resampleMatte(source.as<float>(), resampling, target.as<float>(), stream.get());
    stream.wait();
    tally.check("matte " + text(from) + " to " + text(to),
                difference(resamplePlanes(matte, to).values, download<float>(target.data(), to.pixels())),
                {2e-6, 5e-7});

    const PictureCase picture(SourceFormat::rgba8, from, 5);
    const DeviceBuffer rgba(to.pixels() * 4);
    device::resamplePicture(picture.source(), resampling, rgba.as<std::uint8_t>(), stream.get());
    stream.wait();
    tally.check("picture " + text(from) + " to " + text(to),
                difference(bytesOf(resampleToImage(picture.image.view(), to)),
                           download<std::uint8_t>(rgba.data(), to.pixels() * 4)),
                {1, 1e-2});
    for (const Placement placement : {Placement::fill, Placement::fit, Placement::stretch}) {
        const Layout layout = layOut(from, to, placement);
        const device::Resampling part(layout.seen, layout.scaled);
        device::layPlate(picture.source(), layout, part, to, {10, 200, 30}, rgba.as<std::uint8_t>(), stream.get());
        stream.wait();
        tally.check("plate " + std::to_string(int(placement)) + " " + text(from) + " in " + text(to),
                    difference(bytesOf(layInto(picture.image.view(), to, placement, {10, 200, 30})),
                               download<std::uint8_t>(rgba.data(), to.pixels() * 4)),
                    {1, 1e-2});
    }
}

/// A picture's grid on the CPU, after each step.
struct CpuGrid {
    CpuGrid(const Image& image, Size grid, Size network, float sigma)
        : guide(resampleToPlanes(image.view(), grid)), coarse(roundMatte(network)), fields(grid, field::kChannels) {
        fitGuidedFilter(guide, coarse, fields);
        alpha = evaluateAlpha(guide, fields);
        linear = toLinear(guide);
        estimateColors(linear, alpha, fields);
        blurBackground(linear, alpha, sigma, fields);
    }
    Planes guide, coarse, fields, alpha, linear;
};

void checkGrid(Tally& tally, Size grid, Size network, float strength) {
    const std::string name = text(grid) + " from " + text(network);
    const PictureCase picture(SourceFormat::bgr8, grid, unsigned(grid.width));
    const CpuGrid cpu(picture.image, grid, network, blurSigma(strength, grid.longest()));
    GridCase memory(grid);
    const Stream stream;
    memory.setGuide(cpu.guide, resamplePlanes(cpu.coarse, grid));
    device::fitGuidedFilter(memory.fields(), memory.scratch(), guidedRadius(grid.longest(), network.longest()),
                            stream.get());
    stream.wait();
    tally.check(name + " guided alpha", difference(cpu.alpha.values, memory.alpha()), {2e-2, 1e-4});
    tally.check(name + " linear", difference(cpu.linear.values, memory.channelsOf(memory.fields().linear)),
                {2e-6, 1e-6});

    memory.set(cpu.fields, cpu.linear, cpu.alpha);
    device::estimateColors(memory.fields(), memory.scratch(), stream.get());
    stream.wait();
    tally.check(
        name + " person's colour",
        difference(GridCase::channels(cpu.fields, field::kForeground), memory.channelsOf(memory.fields().foreground)),
        {5e-3, 1e-4});
    tally.check(
        name + " background's colour",
        difference(GridCase::channels(cpu.fields, field::kBackground), memory.channelsOf(memory.fields().background)),
        {5e-3, 1e-4});

    memory.set(cpu.fields, cpu.linear, cpu.alpha);
    Look look;
    look.background.blurStrength = strength;
    const DeviceBuffer block = upload(std::vector{device::lookBlock(look, grid)});
    device::blurBackground(memory.fields(), memory.scratch(), block.as<device::LookBlock>(), stream.get());
    stream.wait();
    tally.check(name + " blur " + std::to_string(int(strength)),
                difference(GridCase::channels(cpu.fields, field::kBlurred), memory.channelsOf(memory.fields().blurred)),
                {2e-3, 1e-4});
}

void checkLooks(Tally& tally, SourceFormat format, Size size, Size grid) {
    const PictureCase picture(format, size, 11);
    const Image plate = wavyImage(size, PixelFormat::rgba8, 12);
    const CpuGrid cpu(picture.image, grid, {64, 48}, 5);
    GridCase memory(grid);
    memory.set(cpu.fields, cpu.linear, cpu.alpha);
    const DeviceBuffer plateBytes = upload(bytesOf(plate)), out(size.pixels() * 4);
    const Stream stream;
    for (const char* background : {"blur:20", "color:#2080c0", "transparent", "image:plate"}) {
        for (const bool decontaminate : {true, false}) {
            Look look;
            look.background = parseBackground(background);
            look.decontaminate = decontaminate;
            const bool image = look.background.kind == Background::Kind::image;
            const DeviceBuffer block = upload(std::vector{device::lookBlock(look, grid)});
            device::compositeOver(picture.source(), memory.fields(), block.as<device::LookBlock>(),
                                  image ? plateBytes.as<std::uint8_t>() : nullptr, out.as<std::uint8_t>(),
                                  stream.get());
            stream.wait();
            const Image expected = compositeOver(picture.image.view(), cpu.fields, look, image ? &plate : nullptr, {});
            tally.check(nameOf(format) + " " + text(size) + " over " + background + (decontaminate ? "" : ", plain"),
                        difference(premultiplied(bytesOf(expected)),
                                   premultiplied(download<std::uint8_t>(out.data(), size.pixels() * 4))),
                        {3, 0.05});
        }
    }
    Look look;
    look.threshold = 0.4F;
    const DeviceBuffer block = upload(std::vector{device::lookBlock(look, grid)});
    device::renderMatte(picture.source(), memory.fields(), block.as<device::LookBlock>(), out.as<std::uint8_t>(),
                        stream.get());
    stream.wait();
    tally.check(nameOf(format) + " " + text(size) + " matte",
                difference(bytesOf(renderMatte(picture.image.view(), cpu.fields, look, {})),
                           download<std::uint8_t>(out.data(), size.pixels())),
                {2, 0.02});
}

}  // namespace

void checkResampling(Tally& tally, bool quick) {
    for (const SourceFormat format : kFormats) {
        for (const Size size : {Size{1, 1}, Size{1, 300}, Size{301, 3}, Size{97, 61}}) {
            checkGuideAndInput(tally, PictureCase(format, size, 3), shrunkTo(size, 160), {96, 64});
        }
        if (quick) continue;
        checkGuideAndInput(tally, PictureCase(format, {1920, 1080}, 3), {1024, 576}, {512, 288});
        checkGuideAndInput(tally, PictureCase(format, {1279, 721}, 4), {1024, 577}, {320, 192});
    }
    for (const auto& [from, to] : {std::pair<Size, Size>{{1, 1}, {9, 7}},
                                   {{33, 17}, {200, 90}},
                                   {{400, 301}, {123, 77}},
                                   {{64, 300}, {300, 64}},
                                   {{3, 70}, {1, 1}}}) {
        checkMatteAndPictures(tally, from, to);
    }
}

void checkRefinement(Tally& tally, bool quick) {
    checkGrid(tally, {1, 1}, {16, 16}, 50);
    checkGrid(tally, {1, 130}, {16, 48}, 1);
    checkGrid(tally, {77, 2}, {48, 16}, 100);
    checkGrid(tally, {97, 61}, {320, 192}, 50);
    checkGrid(tally, {320, 240}, {64, 48}, 10);
    if (quick) return;
    checkGrid(tally, {1024, 576}, {512, 288}, 50);
    checkGrid(tally, {768, 1024}, {240, 320}, 100);
    checkGrid(tally, {1024, 683}, {16, 16}, 1);
}

void checkComposite(Tally& tally) {
    checkLooks(tally, SourceFormat::rgba8, {1, 1}, {1, 1});
    for (const SourceFormat format : kFormats) checkLooks(tally, format, {203, 151}, {203, 151});
    for (const SourceFormat format : kFormats) checkLooks(tally, format, {641, 483}, {320, 241});
}

}  // namespace matte::test
