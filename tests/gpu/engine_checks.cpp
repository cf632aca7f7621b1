// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/engine_checks.h"

#include <algorithm>
#include <array>

#include "inference/cuda/cuda_engine.h"
#include "inference/fallback_engine.h"
#include "tests/gpu/engine_case.h"
#include "tests/gpu/pixel_case.h"

namespace matte::test {
namespace {

constexpr Difference kLevels{3, 0.3};

std::shared_ptr<const Image> picture(Size size, PixelFormat format = PixelFormat::rgba8, unsigned seed = 1) {
    Image image = wavyImage(size, format, seed);
    if (format == PixelFormat::rgba8) {  // the lower rows are partly transparent
        for (std::size_t i = 3; i < image.bytes() * 3 / 4; i += 4) image.row(0)[i] = 255;
    }
    return std::make_shared<Image>(std::move(image));
}

Look lookOf(const char* background) {
    Look look;
    look.background = parseBackground(background);
    if (look.background.kind == Background::Kind::image) {
        look.background.image = picture({70, 41}, PixelFormat::rgba8, 9);
        look.background.placement = Placement::fit;
    }
    return look;
}

std::string text(Size size) {
    return std::to_string(size.width) + "x" + std::to_string(size.height);
}

bool same(const Image& a, const Image& b) {
    return a.bytes() == b.bytes() && std::equal(a.row(0), a.row(0) + a.bytes(), b.row(0));
}

void compare(Tally& tally, const std::string& name, const Image& expected, const Image& found) {
    if (expected.bytes() != found.bytes()) return tally.check(name + ": size", false);
    if (found.format() == PixelFormat::rgba8) {
        return tally.check(name, difference(premultiplied(expected), premultiplied(found)), kLevels);
    }
    const std::vector<int> a(expected.row(0), expected.row(0) + expected.bytes());
    const std::vector<int> b(found.row(0), found.row(0) + found.bytes());
    tally.check(name, difference(a, b), kLevels);
}

void checkPicture(Tally& tally, CudaEngine& engine, NetworkMatte& network, std::shared_ptr<const Image> source) {
    const Size size = source->size(), preview = shrunkTo(size, 400);
    const std::string name = text(size) + (source->format() == PixelFormat::bgr8 ? " bgr8" : " rgba8");
    const auto cutout = engine.cutOut(source, {});
    HostPicture host(source, network(*source));
    for (const char* background : {"blur:50", "blur:5", "color:#00ff00", "image:x", "transparent"}) {
        const Look look = lookOf(background);
        compare(tally, name + " over " + background, host.composite(look, size),
                *engine.composite(*cutout, look, size, {}).image);
    }
    const Look look = lookOf("image:x");
    compare(tally, name + " at " + text(preview), host.composite(look, preview),
            *engine.composite(*cutout, look, preview, {}).image);
    compare(tally, name + " matte", host.matte(look, size), engine.matte(*cutout, look, size, {}));
}

Image resultOf(Engine& engine, const std::shared_ptr<const Image>& source) {
    const auto cutout = engine.cutOut(source, {});
    const Output output = engine.composite(*cutout, lookOf("blur:50"), source->size(), {});
    Image copy(output.image->size(), output.image->format());
    std::copy_n(output.image->row(0), copy.bytes(), copy.row(0));
    return copy;
}

/// A CudaEngine in front of a RoundEngine, with errors made up by `fault`.
FallbackEngine guardedEngine(const std::shared_ptr<const UNet>& unet, const CudaFault& fault) {
    return {std::make_unique<CudaEngine>(unet, EngineOptions{}, fault),
            [](const std::string& reason) { return std::make_unique<RoundEngine>(reason); }};
}

std::size_t freeBytes() {
    std::size_t free = 0, total = 0;
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    return free;
}

}  // namespace

void checkResults(Tally& tally, const std::shared_ptr<const UNet>& unet, bool quick) {
    CudaEngine engine(unet, {});
    NetworkMatte network(unet, 0);
    const auto first = picture({97, 61});
    const auto kept = engine.cutOut(first, {});
    const Look look = lookOf("blur:50");
    const Output before = engine.composite(*kept, look, first->size(), {});
    std::vector<Size> sizes{{1, 1}, {64, 48}, {33, 21}};
    if (!quick) sizes = {{1, 1}, {1, 300}, {301, 3}, {97, 61}, {640, 360}, {641, 359}, {1920, 1080}, {4000, 3000}};
    for (const Size size : sizes) {
        checkPicture(tally, engine, network, picture(size));
        checkPicture(tally, engine, network, picture(size, PixelFormat::bgr8));
    }
    const Output after = engine.composite(*kept, look, first->size(), {});
    tally.check("a cut-out outlasts later pictures", same(*before.image, *after.image));
}

void checkRepetition(Tally& tally, const std::shared_ptr<const UNet>& unet) {
    const auto source = picture({1280, 720});
    CudaEngine timed(unet, {}), untimed(unet, {.stageTimes = false});
    const Image expected = resultOf(timed, source);
    bool equal = true;
    std::size_t free = 0;
    for (int i = 0; i < 200; ++i) {
        equal = equal && same(expected, resultOf(i % 2 == 0 ? timed : untimed, source));
        if (i == 3) free = freeBytes();
    }
    tally.check("200 runs, timed and untimed, give the same bytes", equal);
    tally.check("200 runs take no more memory", freeBytes() == free);
}

void checkFaults(Tally& tally, const std::shared_ptr<const UNet>& unet) {
    constexpr std::array kFatal{cudaErrorIllegalAddress,      cudaErrorLaunchTimeout,      cudaErrorAssert,
                                cudaErrorHardwareStackError,  cudaErrorIllegalInstruction, cudaErrorMisalignedAddress,
                                cudaErrorInvalidAddressSpace, cudaErrorInvalidPc,          cudaErrorLaunchFailure,
                                cudaErrorTensorMemoryLeak,    cudaErrorMpsClientTerminated};
    const auto source = picture({97, 61});
    RoundEngine sure("");
    const Image expected = resultOf(sure, source);
    for (const char* where : {"prepare", "upload", "network", "composite", "download"}) {
        bool taken = true, told = true;
        for (const cudaError_t code : kFatal) {
            FallbackEngine engine =
                guardedEngine(unet, [&](const std::string& step) { return step == where ? code : cudaSuccess; });
            taken = taken && same(expected, resultOf(engine, source));
            told = told && engine.info().kind == EngineKind::cpu &&
                   engine.info().reason.find(cudaGetErrorString(code)) != std::string::npos;
        }
        tally.check(std::string("each fatal error in ") + where + ": the other engine finishes", taken);
        tally.check(std::string("each fatal error in ") + where + ": its reason is told", told);
    }
}

void checkFullMemory(Tally& tally, const std::shared_ptr<const UNet>& unet) {
    const auto source = picture({1280, 720});
    RoundEngine sure("");
    const Image round = resultOf(sure, source);
    int failures = 1;
    FallbackEngine engine = guardedEngine(unet, [&](const std::string& step) {
        return step == "upload" && failures-- > 0 ? cudaErrorMemoryAllocation : cudaSuccess;
    });
    const Image smaller = resultOf(engine, source);
    tally.check("a full device: the network's input shrinks, and that is told",
                engine.info().kind == EngineKind::cuda && engine.info().warnings.size() == 1 && !same(smaller, round));
    failures = 100;
    tally.check("a full device: the other engine takes the picture", same(round, resultOf(engine, source)));
    failures = 0;
    const Image full = resultOf(engine, source);
    tally.check("the device comes back when there is memory", !same(full, round) && !same(full, smaller));

    std::vector<DeviceBuffer> hog;
    for (std::size_t bytes = std::size_t(1) << 36; bytes >= (1 << 20); bytes /= 2) {
        try {
            for (;;) hog.emplace_back(bytes);
        } catch (const CudaError&) {  // full but for less than that
        }
    }
    const auto large = picture({4000, 3000});
    tally.check("a device that is really full: the other engine takes the picture",
                same(resultOf(sure, large), resultOf(engine, large)));
    hog.clear();
    tally.check("and the device comes back", same(full, resultOf(engine, source)));
}

void checkLostDevice(Tally& tally, const std::shared_ptr<const UNet>& unet) {
    const auto source = picture({97, 61});
    RoundEngine sure("");
    const Image expected = resultOf(sure, source);
    FallbackEngine engine = guardedEngine(unet, {});
    const Look look = lookOf("blur:50");
    const auto cutout = engine.cutOut(source, {});
    engine.composite(*cutout, look, source->size(), {});
    const Stream stream;
    device::Resampling resampling({16, 16}, {8, 8});
    const DeviceBuffer out(8 * 8 * 4);
    const auto* nowhere = reinterpret_cast<const std::uint8_t*>(std::uintptr_t(1) << 46);
    device::resamplePicture({nowhere, {16, 16}, 64, device::SourceFormat::rgba8}, resampling, out.as<std::uint8_t>(),
                            stream.get());
    tally.check("the device is lost", cudaStreamSynchronize(stream.get()) == cudaErrorIllegalAddress);
    tally.check("a cut-out of the lost device is cut out again",
                same(expected, *engine.composite(*cutout, look, source->size(), {}).image));
    tally.check("later pictures go to the other engine", same(expected, resultOf(engine, source)));
    tally.check("the reason is told", engine.info().reason.find("illegal memory access") != std::string::npos);
}

}  // namespace matte::test
