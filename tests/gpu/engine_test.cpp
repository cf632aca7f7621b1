// SPDX-License-Identifier: Apache-2.0
// CudaEngine on photos: its results beside the CPU's loops, and what becomes of a picture when the device fails.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "inference/cuda/cuda_engine.h"
#include "inference/engine/failover_photo_engine.h"
#include "tests/gpu/engine_case.h"
#include "tests/gpu/gpu_case.h"
#include "tests/gpu/live_case.h"
#include "tests/gpu/pixel_case.h"
#include "tests/support/pictures/far_person.h"

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

void compare(const std::string& name, const Image& expected, const Image& found) {
    if (expected.bytes() != found.bytes()) return ADD_FAILURE() << name << " has another size", void();
    if (found.format() == PixelFormat::rgba8) {
        return expectClose(name, difference(premultiplied(expected), premultiplied(found)), kLevels);
    }
    const std::vector<int> a(expected.row(0), expected.row(0) + expected.bytes());
    const std::vector<int> b(found.row(0), found.row(0) + found.bytes());
    expectClose(name, difference(a, b), kLevels);
}

void checkPicture(CudaEngine& engine, NetworkMatte& network, const std::shared_ptr<const Image>& source) {
    const Size size = source->size(), preview = shrunkTo(size, 400);
    const std::string name = text(size) + (source->format() == PixelFormat::bgr8 ? " bgr8" : " rgba8");
    const auto cutout = engine.cutOut(source, {});
    HostSteps host(source, network(*source));
    for (const char* background : {"blur:50", "blur:5", "color:#00ff00", "image:plate", "transparent"}) {
        const CompositeParams params = plainParams(background);
        compare(name + " over " + background, host.composite(params, size),
                *engine.composite(*cutout, params, size, {}).picture->image());
    }
    const CompositeParams params = plainParams("image:plate");
    compare(name + " at " + text(preview), host.composite(params, preview),
            *engine.composite(*cutout, params, preview, {}).picture->image());
    compare(name + " matte", host.matte(params, size), engine.matte(*cutout, params, size, {}));
}

Image resultOf(PhotoEngine& engine, const std::shared_ptr<const Image>& source) {
    const auto cutout = engine.cutOut(source, {});
    const Output output = engine.composite(*cutout, plainParams("blur:50"), source->size(), {});
    Image copy(output.picture->image()->size(), output.picture->image()->format());
    std::copy_n(output.picture->image()->row(0), copy.bytes(), copy.row(0));
    return copy;
}

/// A CudaEngine in front of a RoundEngine, with errors made up by `fault`.
FailoverPhotoEngine guardedEngine(const std::shared_ptr<const UNet>& unet,
                                  const CudaFault& fault,
                                  const EngineOptions& options = kRepeatable) {
    return {std::make_unique<CudaEngine>(unet, options, fault),
            [](const std::string& reason) { return std::make_unique<RoundEngine>(reason); }};
}

std::size_t freeBytes() {
    std::size_t free = 0, total = 0;
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    return free;
}

std::shared_ptr<const UNet> portraitNetwork() {
    static const auto network =
        std::make_shared<const UNet>(UNet::load(Safetensors::read("resources/models/portrait.safetensors")));
    return network;
}

class Photo : public testing::Test, public testing::WithParamInterface<Size> {
protected:
    static void expectAsOnTheCpu(const std::shared_ptr<const UNet>& unet) {
        CudaEngine engine(unet, kRepeatable);
        NetworkMatte network(unet, 0);
        checkPicture(engine, network, picture(GetParam()));
        checkPicture(engine, network, picture(GetParam(), PixelFormat::bgr8));
    }
};
TEST_P(Photo, IsComposedAsOnTheCpu) {
    expectAsOnTheCpu(portraitNetwork());
}
TEST_P(Photo, IsComposedAsOnTheCpuWithAMatteOfNoise) {
    expectAsOnTheCpu(smallNetwork());
}
std::string nameOfSize(const testing::TestParamInfo<Size>& info) {
    return text(info.param);
}
INSTANTIATE_TEST_SUITE_P(Few, Photo, testing::Values(Size{1, 1}, Size{64, 48}, Size{33, 21}), nameOfSize);
INSTANTIATE_TEST_SUITE_P(
    Large,
    Photo,
    testing::Values(
        Size{1, 300}, Size{301, 3}, Size{97, 61}, Size{640, 360}, Size{641, 359}, Size{1920, 1080}, Size{4000, 3000}),
    nameOfSize);

class PhotoEngine : public testing::Test {};

TEST_F(PhotoEngine, ManyRunsGiveTheSameBytesAndTakeNoMoreMemory) {
    const auto source = picture({1280, 720});
    CudaEngine engine(portraitNetwork(), kRepeatable);
    const Image expected = resultOf(engine, source);
    std::size_t free = 0;
    for (int i = 0; i < 200; ++i) {
        ASSERT_TRUE(sameBytes(expected, resultOf(engine, source))) << "run " << i;
        if (i == 3) free = freeBytes();
    }
    EXPECT_EQ(freeBytes(), free);
}

const EngineOptions kOwnSize{.tune = false};

/// As large as portrait's own for `photo`, but chosen: a second pass is for who leaves the size to the model.
EngineOptions chosenSize(const Image& photo) {
    return {.networkLongestSide = portraitNetwork()->photoInputSize(photo.size()).longest(), .tune = false};
}

bool refinedTwice(const Cutout& cutout) {
    return std::ranges::any_of(cutout.times(), [](const StageTime& time) { return time.stage == Stage::secondPass; });
}

TEST_F(PhotoEngine, SomebodyFarAwayIsLookedAtTwiceAsOnTheCpu) {
    CudaEngine engine(portraitNetwork(), kOwnSize);
    NetworkMatte network(portraitNetwork(), 0);
    const auto photo = farPerson().photo;
    ASSERT_TRUE(refinedTwice(*engine.cutOut(photo, {})));
    checkPicture(engine, network, photo);
    EXPECT_FALSE(refinedTwice(*engine.cutOut(picture({64, 48}), {})));
    EXPECT_TRUE(sameBytes(resultOf(engine, photo), resultOf(engine, photo)));
    EXPECT_FALSE(refinedTwice(*CudaEngine(portraitNetwork(), chosenSize(*photo)).cutOut(photo, {})));
}

TEST_F(PhotoEngine, ASecondPassThatFailsLeavesTheFirstOrThePictureToTheOtherEngine) {
    const auto photo = farPerson().photo;
    CudaEngine once(portraitNetwork(), chosenSize(*photo));
    RoundEngine sure("");
    const Image first = resultOf(once, photo), round = resultOf(sure, photo);
    for (const cudaError_t code : {cudaErrorMemoryAllocation, cudaErrorIllegalAddress}) {
        FailoverPhotoEngine engine = guardedEngine(
            portraitNetwork(), [&](const std::string& step) { return step == "second pass" ? code : cudaSuccess; },
            kOwnSize);
        const bool full = code == cudaErrorMemoryAllocation;
        EXPECT_TRUE(sameBytes(full ? first : round, resultOf(engine, photo))) << cudaGetErrorString(code);
        EXPECT_EQ(engine.info().kind, full ? EngineKind::cuda : EngineKind::cpu);
    }
}

TEST_F(PhotoEngine, AMatteThatIsNotFiniteIsRefusedAsOnTheCpu) {
    CudaEngine engine(brokenNetwork(), kRepeatable);
    const auto source = blackFrame({97, 61});
    for (int i = 0; i < 2; ++i) {
        try {
            engine.cutOut(source, {});
            ADD_FAILURE() << "cut out without a matte";
        } catch (const Error& error) {
            EXPECT_EQ(error.category, ErrorCategory::model);
            EXPECT_NE(std::string(error.what()).find("choose another model"), std::string::npos) << error.what();
        }
    }
    const auto live = through(engine, source, plainParams("blur:50"));
    EXPECT_FALSE(live.matteUsable()) << "live frames go on, without anybody";
}

/// What CUDA's headers call fatal for the process, and what a broken memory or link gives.
struct FatalError {
    cudaError_t code;
    const char* name;
};
const FatalError kFatal[] = {{cudaErrorIllegalAddress, "IllegalAddress"},
                             {cudaErrorLaunchTimeout, "LaunchTimeout"},
                             {cudaErrorAssert, "Assert"},
                             {cudaErrorHardwareStackError, "HardwareStackError"},
                             {cudaErrorIllegalInstruction, "IllegalInstruction"},
                             {cudaErrorMisalignedAddress, "MisalignedAddress"},
                             {cudaErrorInvalidAddressSpace, "InvalidAddressSpace"},
                             {cudaErrorInvalidPc, "InvalidPc"},
                             {cudaErrorLaunchFailure, "LaunchFailure"},
                             {cudaErrorTensorMemoryLeak, "TensorMemoryLeak"},
                             {cudaErrorMpsClientTerminated, "MpsClientTerminated"},
                             {cudaErrorECCUncorrectable, "EccUncorrectable"},
                             {cudaErrorNvlinkUncorrectable, "NvlinkUncorrectable"}};

class FatalDeviceError : public testing::Test, public testing::WithParamInterface<FatalError> {};

TEST_P(FatalDeviceError, InAnyStepOfAPhotoLetsTheOtherEngineFinishItAndIsTold) {
    const auto source = picture({97, 61});
    RoundEngine sure("");
    const Image expected = resultOf(sure, source);
    for (const char* where : {"prepare", "upload", "network", "composite", "wait", "download"}) {
        FailoverPhotoEngine engine = guardedEngine(
            smallNetwork(), [&](const std::string& step) { return step == where ? GetParam().code : cudaSuccess; });
        EXPECT_TRUE(sameBytes(expected, resultOf(engine, source))) << "failed in " << where;
        // The pictures' own thread may be the one that meets it: the engine turns at its next use of the device then.
        if (std::string(where) == "download") continue;
        EXPECT_EQ(engine.info().kind, EngineKind::cpu) << where;
        EXPECT_NE(engine.info().reason.find(cudaGetErrorString(GetParam().code)), std::string::npos) << where;
    }
}

TEST_P(FatalDeviceError, WhileTheEngineStartsIsToldAsALastingFailure) {
    const auto start = [](const std::string& step) { return step == "start" ? GetParam().code : cudaSuccess; };
    try {
        const CudaEngine engine(smallNetwork(), kRepeatable, start);
        ADD_FAILURE() << "started all the same";
    } catch (const DeviceFailure& failure) {
        EXPECT_TRUE(failure.lasting);
        EXPECT_NE(std::string(failure.what()).find(cudaGetErrorString(GetParam().code)), std::string::npos);
    }
}

INSTANTIATE_TEST_SUITE_P(Codes,
                         FatalDeviceError,
                         testing::ValuesIn(kFatal),
                         [](const testing::TestParamInfo<FatalError>& made) { return made.param.name; });

class FullDevice : public testing::Test {};

TEST_F(FullDevice, MakesTheNetworksInputSmallerThenTheOtherEngineTakesOverForThatPicture) {
    const auto source = picture({1280, 720});
    RoundEngine sure("");
    const Image round = resultOf(sure, source);
    int failures = 1;
    FailoverPhotoEngine engine = guardedEngine(portraitNetwork(), [&](const std::string& step) {
        return step == "upload" && failures-- > 0 ? cudaErrorMemoryAllocation : cudaSuccess;
    });
    const Image smaller = resultOf(engine, source);
    EXPECT_EQ(engine.info().kind, EngineKind::cuda);
    EXPECT_EQ(engine.info().warnings.size(), 1U) << "that the input shrank is told";
    EXPECT_FALSE(sameBytes(smaller, round));
    failures = 100;
    EXPECT_TRUE(sameBytes(round, resultOf(engine, source))) << "the other engine";
    failures = 0;
    const Image full = resultOf(engine, source);
    EXPECT_FALSE(sameBytes(full, round)) << "the device comes back when there is memory";
    EXPECT_FALSE(sameBytes(full, smaller));
}

TEST_F(FullDevice, ThatIsReallyFullLosesNoPicture) {
    const auto source = picture({1280, 720}), large = picture({4000, 3000});
    RoundEngine sure("");
    FailoverPhotoEngine engine = guardedEngine(portraitNetwork(), {});
    const Image full = resultOf(engine, source);
    std::vector<DeviceBuffer> hog;
    for (std::size_t bytes = std::size_t(1) << 36; bytes >= (1 << 20); bytes /= 2) {
        try {
            for (;;) hog.emplace_back(bytes);
        } catch (const CudaError&) {  // full but for less than that
        }
    }
    EXPECT_TRUE(sameBytes(resultOf(sure, large), resultOf(engine, large)));
    hog.clear();
    EXPECT_TRUE(sameBytes(full, resultOf(engine, source))) << "and the device comes back";
}

/// A kernel that reads where nothing is: the process has no device afterwards, so this runs in a process of its own.
void loseTheDevice() {
    const auto source = picture({97, 61});
    RoundEngine sure("");
    const Image expected = resultOf(sure, source);
    FailoverPhotoEngine engine = guardedEngine(smallNetwork(), {});
    const CompositeParams params = plainParams("blur:50");
    const auto cutout = engine.cutOut(source, {});
    engine.composite(*cutout, params, source->size(), {});
    const Stream stream;
    const device::Resampling resampling({16, 16}, {8, 8});
    const DeviceBuffer out(8 * 8 * 4);
    const auto* nowhere = std::bit_cast<const std::uint8_t*>(std::uintptr_t(1) << 46);
    device::resamplePicture({nowhere, {16, 16}, 64, PixelFormat::rgba8}, resampling, out.as<std::uint8_t>(),
                            stream.get());
    EXPECT_EQ(cudaStreamSynchronize(stream.get()), cudaErrorIllegalAddress);
    EXPECT_TRUE(sameBytes(expected, *engine.composite(*cutout, params, source->size(), {}).picture->image()))
        << "a cut-out of the lost device is cut out again";
    EXPECT_TRUE(sameBytes(expected, resultOf(engine, source))) << "later pictures go to the other engine";
    EXPECT_NE(engine.info().reason.find("illegal memory access"), std::string::npos) << engine.info().reason;
    std::fprintf(stderr, "%s\n", testing::Test::HasFailure() ? "something was lost" : "nothing was lost");
    std::_Exit(0);
}

using LostDevice = PhotoEngine;
TEST_F(LostDevice, LosesNoPicture) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // CUDA does not survive a fork
    EXPECT_EXIT(loseTheDevice(), testing::ExitedWithCode(0), "nothing was lost");
}

}  // namespace
}  // namespace matte::test
