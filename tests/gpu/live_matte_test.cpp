// SPDX-License-Identifier: Apache-2.0
// What happens to a live matte on the GPU, held against the CPU: who stays, how steadily, the light on the person and
// where they stand.
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "inference/cuda/pixels/component_filter.h"
#include "inference/cuda/pixels/matte_guard.h"
#include "inference/cuda/pixels/temporal_filter.h"
#include "inference/matting/component_filter.h"
#include "inference/matting/composite.h"
#include "inference/matting/guided_filter.h"
#include "inference/matting/temporal_filter.h"
#include "tests/gpu/gpu_case.h"
#include "tests/gpu/pixel_case.h"
#include "tests/support/pictures/one_picture.h"

namespace matte::test {
namespace {

constexpr std::array<float, 3> kMean{0.485F, 0.456F, 0.406F}, kDeviation{0.229F, 0.224F, 0.225F};

/// Frame `number` of soft discs that wander, some of them small regions, and thin lines that wind.
Planes wanderingMatte(Size size, int number, unsigned seed) {
    Planes matte(size, 1);
    std::minstd_rand random(seed);
    const auto next = [&](float from, float to) { return from + (to - from) * float(random() % 1000) / 1000; };
    const float scale = float(size.longest());
    for (int part = 0; part < 9; ++part) {
        const float radius = next(0.01F, part < 2 ? 0.25F : 0.05F) * scale, speed = next(-0.02F, 0.02F) * scale;
        const float x = next(0, float(size.width)) + speed * float(number), y = next(0, float(size.height));
        for (int j = 0; j < size.height; ++j) {
            for (int i = 0; i < size.width; ++i) {
                float& alpha = matte.row(j)[i];
                alpha = std::max(alpha, clampUnit(0.5F + (radius - std::hypot(float(i) - x, float(j) - y)) / 4));
            }
        }
    }
    for (int i = 0; i < size.width; ++i) {
        const int y = int((0.5F + 0.45F * std::sin(float(i + number) * 0.21F)) * float(size.height));
        matte.row(std::min(y, size.height - 1))[i] = 0.9F;
    }
    return matte;
}

/// Colours with camera noise and something that moves.
Planes noisyPicture(Size size, int number) {
    Planes picture(size, 3);
    std::minstd_rand random(unsigned(number) + 1);
    for (int y = 0; y < size.height; ++y) {
        for (int x = 0; x < size.width; ++x) {
            const bool hand = std::abs(x - 3 * number - size.width / 4) < 6 && y > size.height / 3;
            for (int c = 0; c < 3; ++c) {
                const float room = 0.5F + 0.3F * std::sin(0.05F * float(x + 2 * y) + float(c));
                picture.row(y)[3 * x + c] = (hand ? 0.8F : room) + 0.004F * float(int(random() % 7) - 3);
            }
        }
    }
    return picture;
}

/// [h, w, 8] as the network takes it.
template <typename T>
std::vector<T> networkInput(const Planes& picture) {
    std::vector<T> input(picture.size.pixels() * 8, T(0.0F));
    for (std::size_t i = 0; i < picture.values.size(); ++i) {
        input[i / 3 * 8 + i % 3] = T((picture.values[i] - kMean[i % 3]) / kDeviation[i % 3]);
    }
    return input;
}

/// Everything that a live matte needs on the device.
struct LiveMemory {
    explicit LiveMemory(Size s)
        : size(s),
          kept(device::TemporalMemory::bytes(s)),
          componentBytes(device::ComponentScratch::bytes(s)),
          temporalBytes(device::TemporalScratch::bytes(s)),
          matte(s.pixels() * sizeof(float)),
          memory(device::TemporalMemory::in(kept.data(), s)),
          components(device::ComponentScratch::in(componentBytes.data(), s)),
          temporal(device::TemporalScratch::in(temporalBytes.data(), s)) {
        CUDA_CHECK(cudaMemset(componentBytes.data(), 0xff, componentBytes.bytes()));
        CUDA_CHECK(cudaMemset(temporalBytes.data(), 0xff, temporalBytes.bytes()));
        CUDA_CHECK(cudaDeviceSynchronize());
        device::reset(memory, stream.get());
    }
    std::vector<float> keep(const Planes& found,
                            const CompositeParams& params,
                            const device::NonFiniteFlag& nonFinite = {}) {
        const DeviceBuffer source = upload(found.values), block = upload(std::vector{resolve(params, size)});
        CUDA_CHECK(cudaDeviceSynchronize());
        device::keepComponents(source.as<float>(), size, block.as<ResolvedParams>(), nonFinite, memory.kept, components,
                               matte.as<float>(), stream.get());
        stream.wait();
        return download<float>(matte.data(), size.pixels());
    }
    /// Of what keep() left in `matte`.
    template <typename T>
    std::vector<float> follow(const Planes& picture, const CompositeParams& params, const int* nonFinite = nullptr) {
        const DeviceBuffer input = upload(networkInput<T>(picture));
        const DeviceBuffer block = upload(std::vector{resolve(params, size)});
        CUDA_CHECK(cudaDeviceSynchronize());
        device::applyTemporalFilter(matte.as<float>(), {input.data(), sizeof(T) == sizeof(float), kMean, kDeviation},
                                    block.as<ResolvedParams>(), nonFinite, memory, temporal, matte.as<float>(),
                                    stream.get());
        stream.wait();
        return download<float>(matte.data(), size.pixels());
    }

    Size size;
    Stream stream;
    DeviceBuffer kept, componentBytes, temporalBytes, matte;
    device::TemporalMemory memory;
    device::ComponentScratch components;
    device::TemporalScratch temporal;
};

class LiveMatte : public testing::Test, public testing::WithParamInterface<Size> {};
INSTANTIATE_TEST_SUITE_P(Sizes,
                         LiveMatte,
                         testing::Values(Size{1, 1}, Size{16, 48}, Size{97, 61}, Size{384, 224}, Size{224, 384}),
                         [](const auto& made) { return text(made.param); });

TEST_P(LiveMatte, TheSamePeopleStayAsOnTheCpu) {
    const Size size = GetParam();
    for (const bool smallRegions : {false, true}) {
        for (const bool nearest : {false, true}) {
            CompositeParams params;
            params.removeSmallRegions = smallRegions;
            params.nearestOnly = nearest;
            LiveMemory memory(size);
            ComponentFilter components;
            for (int number = 0; number < 6; ++number) {
                Planes expected = wanderingMatte(size, number, 5);
                const std::vector<float> found = memory.keep(expected, params);
                components.keep(smallRegions, nearest, expected);
                expectClose("frame " + std::to_string(number), difference(expected.values, found), {2e-6, 1e-7});
            }
        }
    }
}

TEST_P(LiveMatte, ASmallRegionAloneGoesAndASmallPersonStaysAsOnTheCpu) {
    const Size size = GetParam();
    const CompositeParams params;
    for (const float share : {0.001F, 0.01F}) {
        const float radius = std::sqrt(share * float(size.pixels()) / 3.14159F);
        Planes expected(size, 1);
        for (int y = 0; y < size.height; ++y) {
            for (int x = 0; x < size.width; ++x) {
                const float away = std::hypot(float(x - size.width / 2), float(y - size.height / 2));
                expected.row(y)[x] = clampUnit(0.5F + (radius - away) / 4);
            }
        }
        LiveMemory memory(size);
        const std::vector<float> found = memory.keep(expected, params);
        ComponentFilter().keep(true, false, expected);
        expectClose(std::to_string(share), difference(expected.values, found), {2e-6, 1e-7});
    }
}

TEST_P(LiveMatte, AHardMatteHasTheSameParts) {
    // Noise at the threshold: thousands of small parts that wind around each other.
    const Size size = GetParam();
    CompositeParams params;
    params.nearestOnly = true;
    LiveMemory memory(size);
    for (const unsigned percent : {45U, 55U, 65U}) {
        Planes expected(size, 1);
        std::minstd_rand random(percent);
        for (float& alpha : expected.values) alpha = random() % 100 < percent ? 1.0F : 0.0F;
        device::reset(memory.memory, memory.stream.get());
        const std::vector<float> found = memory.keep(expected, params);
        ComponentFilter().keep(true, true, expected);
        expectClose(std::to_string(percent) + "%", difference(expected.values, found), {2e-6, 1e-7});
    }
}

TEST_P(LiveMatte, ItIsFilteredOverTimeAsOnTheCpu) {
    const Size size = GetParam();
    for (const float temporalSmoothing : {0.0F, 0.7F, 1.0F}) {
        CompositeParams params;
        params.temporalSmoothing = temporalSmoothing;
        params.removeSmallRegions = false;
        LiveMemory floats(size), halves(size);
        TemporalFilter temporal;
        for (int number = 0; number < 8; ++number) {
            const int scene = number < 6 ? number : 400 + number;  // a cut
            Planes matte = wanderingMatte(size, number / 2, 5);
            const Planes picture = noisyPicture(size, scene);
            floats.keep(matte, params);
            halves.keep(matte, params);
            const auto found = floats.follow<float>(picture, params);
            const auto rounded = halves.follow<__half>(picture, params);
            temporal.apply(picture, temporalSmoothing, matte);
            const std::string name =
                "temporal smoothing " + std::to_string(temporalSmoothing) + ", frame " + std::to_string(number);
            expectClose(name, difference(matte.values, found), {2e-4, 2e-6});
            // Half's own rounding of the picture, of which a rate depends.
            expectClose(name + ", halves", difference(matte.values, rounded), {0.05, 1e-3});
        }
    }
}

TEST_P(LiveMatte, AMatteThatIsNotFiniteIsForgotten) {
    const Size size = GetParam();
    const CompositeParams params;
    LiveMemory memory(size);
    Planes matte(size, 1);
    std::ranges::fill(matte.values, 1.0F);
    const Planes picture = noisyPicture(size, 0);
    memory.keep(matte, params);
    memory.follow<float>(picture, params);

    Planes broken = matte;
    broken.values.back() = std::numeric_limits<float>::quiet_NaN();
    const DeviceBuffer nonFinite = upload(std::vector<int>{0});
    const auto kept = memory.keep(broken, params, {nonFinite.as<int>(), nullptr});
    EXPECT_EQ(download<int>(nonFinite.data(), 1).front(), 1);
    EXPECT_EQ(kept.back(), 0);
    memory.follow<float>(picture, params, nonFinite.as<int>());

    std::ranges::fill(matte.values, 0.25F);
    memory.keep(matte, params);
    for (const float alpha : memory.follow<float>(picture, params)) EXPECT_EQ(alpha, 0.25F);
}

/// The guard on the device, whose memory is poisoned but for what resetting sets.
struct GuardCase {
    explicit GuardCase(Size size)
        : state(sizeof(device::GuardMemory::State)),
          before(size.pixels() * sizeof(float4)),
          memory{size, state.as<device::GuardMemory::State>(), before.as<float4>()} {
        *told.as<int>() = 0;
        CUDA_CHECK(cudaMemset(state.data(), 0xff, state.bytes()));
        CUDA_CHECK(cudaMemset(before.data(), 0xff, before.bytes()));
        CUDA_CHECK(cudaDeviceSynchronize());
        device::resetCoverage(memory, stream.get());
        device::resetPicture(memory, stream.get());
    }
    template <typename T>
    MatteFault judge(const Planes& matte, const Planes& picture) {
        const DeviceBuffer source = upload(matte.values), input = upload(networkInput<T>(picture));
        const DeviceBuffer nonFinite = upload(std::vector<int>{0});
        *told.as<int>() = 0;
        CUDA_CHECK(cudaDeviceSynchronize());
        device::guardMatte(source.as<float>(), {input.data(), sizeof(T) == sizeof(float), kMean, kDeviation}, memory,
                           {nonFinite.as<int>(), told.as<int>()}, stream.get());
        stream.wait();
        EXPECT_EQ(download<int>(nonFinite.data(), 1).front(), *told.as<int>());
        return MatteFault(*told.as<int>());
    }
    /// Of the frame that was judged last.
    [[nodiscard]] MatteGuard known() const {
        return download<device::GuardMemory::State>(state.data(), 1).front().guard;
    }

    Stream stream;
    DeviceBuffer state, before;
    PinnedBuffer told{sizeof(int)};
    device::GuardMemory memory;
};

/// The left `share` of the matte is a person's.
Planes coveringMatte(Size size, float share) {
    Planes matte(size, 1);
    for (std::size_t i = 0; i < matte.values.size(); ++i) {
        matte.values[i] = float(i % std::size_t(size.width)) < share * float(size.width) ? 1.0F : 0.25F;
    }
    return matte;
}

TEST_P(LiveMatte, AJumpToEverythingIsJudgedAsOnTheCpu) {
    const Size size = GetParam();
    GuardCase floats(size), halves(size);
    MatteGuard expected;
    Planes before;
    const float shares[] = {0.4F, 1, 1, 0.5F, 0.4F, 1, 1, 0.3F, 1, 1};
    for (int number = 0; number < 10; ++number) {
        const Planes picture = noisyPicture(size, number < 6 ? number : 400 + number);  // and a cut
        const Planes matte = coveringMatte(size, shares[number]);
        unsigned long long steps = 0;
        for (std::size_t i = 0; i < before.values.size(); ++i) {
            steps += MatteGuard::steps(picture.values[i] - before.values[i]);
        }
        before = picture;
        const auto covered = std::ranges::count_if(matte.values, [](float alpha) { return alpha > kSomebody; });
        const MatteFault fault = expected.judge(true, float(covered) / float(size.pixels()),
                                                MatteGuard::meanOf(steps, picture.values.size()));
        const std::string name = "frame " + std::to_string(number);
        EXPECT_EQ(floats.judge<float>(matte, picture), fault) << name;
        EXPECT_EQ(halves.judge<__half>(matte, picture), fault) << name;
        for (const GuardCase* each : {&floats, &halves}) {
            EXPECT_EQ(each->known().coverage[0], expected.coverage[0]) << name;
            EXPECT_NEAR(each->known().changeBefore, expected.changeBefore, 1e-3) << name;
        }
    }
}

TEST_P(LiveMatte, TheGuardTellsWhatIsNotFinite) {
    GuardCase guard(GetParam());
    const Planes picture = noisyPicture(GetParam(), 0);
    Planes matte = coveringMatte(GetParam(), 0.4F);
    EXPECT_EQ(guard.judge<float>(matte, picture), MatteFault::none);
    matte.values.back() = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(guard.judge<float>(matte, picture), MatteFault::notFinite);
    EXPECT_EQ(guard.known().believed, 1);
    device::resetCoverage(guard.memory, guard.stream.get());
    guard.stream.wait();
    EXPECT_EQ(guard.known().believed, 0);
}

/// Coefficients on the CPU, and the same on the device.
struct Lit {
    Lit(PixelFormat format, Size size, Size points)
        : picture(format, size, 3),
          plate(wavyImage(size, PixelFormat::rgba8, 12)),
          guided(points, guided::kChannels),
          memory(points),
          wrap(points.pixels() * sizeof(float4)) {
        const Planes guide = resampleToPlanes(picture.image.view(), points);
        fitGuidedFilter(guide, roundMatte({64, 48}), guided);
        alpha = evaluateAlpha(guide, guided);
        linear = toLinear(guide);
        estimateColors(linear, alpha, guided);
        blurBackground(linear, alpha, 5, guided);
        memory.set(guided, linear, alpha);
        onDevice = memory.guided();
        onDevice.wrap = wrap.as<float4>();
        const auto* bytes = plate.row(0);
        plateBytes = upload(std::vector<std::uint8_t>(bytes, bytes + plate.bytes()));
    }
    PictureCase picture;
    Image plate;
    Planes guided, alpha, linear;
    GridCase memory;
    DeviceBuffer wrap, plateBytes;
    device::GuidedCoefficients onDevice;
};

TEST(LiveParams, LightAndPlaceAreAsOnTheCpu) {
    const Size size{321, 181};
    const SubjectTransform transforms[] = {
        {}, {.mirrored = true}, {.scale = 0.6F, .x = 0.2F, .y = -0.1F}, {.mirrored = true, .scale = 1.7F, .y = 0.3F}};
    for (const PixelFormat format : {PixelFormat::rgba8, PixelFormat::bgr8, PixelFormat::nv12, PixelFormat::yuyv}) {
        Lit lit(format, size, {160, 90});
        const Stream stream;
        const DeviceBuffer out(size.pixels() * 4);
        for (const char* background : {"blur:20", "color:#2080c0", "image:plate"}) {
            for (const SubjectTransform& transform : transforms) {
                for (const float strength : {0.0F, 0.8F}) {
                    CompositeParams params;
                    params.background = parseBackground(background);
                    params.transform = transform;
                    params.lightWrap = strength;
                    const bool image = params.background.kind == Background::Kind::image;
                    const Image* plate = image ? &lit.plate : nullptr;
                    const auto* plateOnDevice = image ? lit.plateBytes.as<std::uint8_t>() : nullptr;
                    const DeviceBuffer block = upload(std::vector{resolveOver(params, {160, 90}, plate)});
                    CUDA_CHECK(cudaDeviceSynchronize());
                    const std::string name = nameOf(format) + " over " + background + ", scale " +
                                             std::to_string(transform.scale) + (transform.mirrored ? ", mirrored" : "");
                    if (strength > 0) {
                        wrapLight(lit.alpha, params, plate, lit.guided);
                        device::wrapLight(lit.onDevice, lit.memory.scratch(), block.as<ResolvedParams>(), plateOnDevice,
                                          size, stream.get());
                        stream.wait();
                        expectClose(name + ": light",
                                    difference(GridCase::channels(lit.guided, guided::kWrap),
                                               lit.memory.channelsOf(lit.onDevice.wrap)),
                                    {5e-3, 1e-4});
                    }
                    device::compositeOver(lit.picture.source(), lit.onDevice, block.as<ResolvedParams>(), plateOnDevice,
                                          out.as<std::uint8_t>(), stream.get());
                    stream.wait();
                    const Image expected = compositeOver(lit.picture.image.view(), lit.guided, params, plate, {});
                    const std::vector<std::uint8_t> bytes(expected.row(0), expected.row(0) + expected.bytes());
                    // A pixel whose alpha turns from not quite to wholly the person's is one level off. A person of
                    // another size is read between pixels and rounded to a byte: where that falls between two levels,
                    // alpha follows by the guided filter's slope, and the colour by alpha.
                    expectClose(name, difference(bytes, download<std::uint8_t>(out.data(), size.pixels() * 4)),
                                {transform.scale == 1 ? 6.0 : 16.0, 0.08});
                }
            }
        }
    }
}

TEST(LiveParams, TheBlurredRoomStaysWhereverThePersonStands) {
    const Size size{321, 181};
    Lit lit(PixelFormat::rgba8, size, {160, 90});
    for (std::size_t i = 0; i < lit.guided.values.size(); ++i) {  // nobody is left to be seen
        if (i % guided::kChannels < guided::kForeground) lit.guided.values[i] = 0;
    }
    lit.memory.set(lit.guided, lit.linear, lit.alpha);
    const Stream stream;
    const DeviceBuffer out(size.pixels() * 4);
    const auto shown = [&](const SubjectTransform& transform) {
        CompositeParams params;
        params.transform = transform;
        const DeviceBuffer block = upload(std::vector{resolve(params, {160, 90})});
        device::compositeOver(lit.picture.source(), lit.onDevice, block.as<ResolvedParams>(), nullptr,
                              out.as<std::uint8_t>(), stream.get());
        stream.wait();
        return download<std::uint8_t>(out.data(), size.pixels() * 4);
    };
    for (const bool mirrored : {false, true}) {
        const auto before = shown({.mirrored = mirrored});
        expectClose("smaller", difference(before, shown({.mirrored = mirrored, .scale = 0.4F, .x = 0.3F})), {1, 0.01});
        expectClose("larger", difference(before, shown({.mirrored = mirrored, .scale = 2, .y = -0.2F})), {1, 0.01});
    }
}

}  // namespace
}  // namespace matte::test
