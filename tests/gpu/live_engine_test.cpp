// SPDX-License-Identifier: Apache-2.0
// Live frames on the GPU: whatever slot, graph, format or order, a frame gives the same bytes as a photo of the same
// pixels, and nothing that fails is lost.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <future>
#include <random>
#include <thread>

#include "inference/core/frame_pool.h"
#include "inference/engine/live_queue.h"
#include "inference/matting/resample.h"
#include "tests/gpu/engine_case.h"
#include "tests/gpu/live_case.h"

namespace matte::test {
namespace {

constexpr std::array kFormats{PixelFormat::rgba8, PixelFormat::bgr8, PixelFormat::nv12, PixelFormat::yuyv};
constexpr std::array kBackgrounds{"blur:50", "color:#2080c0", "image:plate", "transparent"};

/// The photo's way: cut out, then composite.
std::shared_ptr<const Image> asStill(Engine& engine,
                                     const std::shared_ptr<const Image>& image,
                                     const CompositeParams& params) {
    const auto cutout = engine.cutOut(image, {});
    return engine.composite(*cutout, params, image->size()).picture->image();
}

TEST_F(LiveEngineTest, EachSlotGivesTheSameBytesWithAndWithoutAGraph) {
    CudaEngine engine(smallNetwork(), kRepeatable);
    ASSERT_EQ(engine.slots(), 2);
    const auto image = wavyFrame({641, 359}, PixelFormat::rgba8, 1);
    const CompositeParams params = plainParams("blur:50");
    // A slot's first frame runs kernel by kernel, its second is recorded; two are always under way.
    std::vector<std::shared_ptr<const Image>> results;
    engine.submit({image, 0, {}}, params);
    for (std::uint64_t number = 1; number <= 8; ++number) {
        engine.submit({image, number, {}}, params);
        const Output output = engine.take();
        EXPECT_EQ(output.frame, number - 1);
        results.push_back(output.picture->image());
    }
    EXPECT_EQ(engine.take().frame, 8U);
    for (const auto& result : results) EXPECT_TRUE(sameBytes(*results.front(), *result));
}

TEST_F(LiveEngineTest, AFrameIsAPhotoBitForBit) {
    CudaEngine live(smallNetwork(), kRepeatable), still(smallNetwork(), kRepeatable);
    for (const PixelFormat format : kFormats) {
        for (const char* background : kBackgrounds) {
            const auto image = wavyFrame({201, 113}, format, 2);
            const CompositeParams params = plainParams(background);
            const auto expected = asStill(still, image, params);
            for (int i = 0; i < 3; ++i) {
                EXPECT_TRUE(sameBytes(*expected, *through(live, image, params).picture->image()))
                    << background << ", format " << int(format) << ", frame " << i;
            }
        }
    }
}

TEST_F(LiveEngineTest, SizesFormatsAndBackgroundsMayChangeFromFrameToFrame) {
    CudaEngine live(smallNetwork(), kRepeatable), still(smallNetwork(), kRepeatable);
    constexpr std::array sizes{Size{64, 48}, Size{1, 1}, Size{640, 480}, Size{33, 201}, Size{320, 240}};
    std::vector<std::shared_ptr<const Image>> expected;
    for (unsigned i = 0; i < unsigned(repeats(40)); ++i) {
        const auto image = wavyFrame(sizes[i * 7 / 3 % sizes.size()], kFormats[i * 5 / 2 % kFormats.size()], i);
        const CompositeParams params = plainParams(kBackgrounds[i % kBackgrounds.size()]);
        expected.push_back(asStill(still, image, params));
        live.submit({image, i, {}}, params);
        if (i % 3 == 0) live.timeLayers(i % 2 == 0);
        if (i == 0) continue;
        EXPECT_TRUE(sameBytes(*expected[i - 1], *live.take().picture->image())) << "frame " << i - 1;
    }
    EXPECT_TRUE(sameBytes(*expected.back(), *live.take().picture->image()));
}

TEST_F(LiveEngineTest, PhotosMayBeCutOutBetweenFrames) {
    CudaEngine both(smallNetwork(), kRepeatable), still(smallNetwork(), kRepeatable);
    const CompositeParams params = plainParams("blur:50");
    for (unsigned i = 0; i < 6; ++i) {
        const auto frame = wavyFrame({320, 240}, PixelFormat::bgr8, i);
        const auto photo = wavyFrame({200 + int(i) * 50, 300}, PixelFormat::rgba8, i);
        both.submit({frame, i, {}}, params);
        EXPECT_TRUE(sameBytes(*asStill(still, photo, params), *asStill(both, photo, params)));
        EXPECT_TRUE(sameBytes(*asStill(still, frame, params), *both.take().picture->image()));
    }
}

/// The same picture as a camera sees it again and again, with other noise each time.
std::shared_ptr<const Image> noisyFrame(unsigned number) {
    const auto still = wavyFrame({320, 180}, PixelFormat::nv12, 7);
    auto frame = std::make_shared<Image>(still->size(), still->format());
    std::minstd_rand random(number + 1);
    std::transform(still->row(0), still->row(0) + still->bytes(), frame->row(0), [&](std::uint8_t value) {
        return std::uint8_t(std::clamp(int(value) + int(random() % 7) - 3, 0, 255));
    });
    return frame;
}

/// The same parameters for all: what each shows depends on those before.
std::vector<std::shared_ptr<const Image>> tendedFrames(Engine& engine, int underWay, int count) {
    CompositeParams params;
    params.background = parseBackground("color:#2080c0");
    params.nearestOnly = true;
    std::vector<std::shared_ptr<const Image>> shown;
    for (int i = 0; i < count; ++i) {
        engine.submit({noisyFrame(unsigned(i)), std::uint64_t(i), {}}, params);
        if (i + 1 >= underWay) shown.push_back(engine.take().picture->image());
    }
    while (shown.size() < std::size_t(count)) shown.push_back(engine.take().picture->image());
    return shown;
}

TEST_F(LiveEngineTest, WhatAFrameKeepsOfTheOneBeforeDoesNotDependOnItsSlot) {
    CudaEngine one(smallNetwork(), kRepeatable), two(smallNetwork(), kRepeatable);
    const auto expected = tendedFrames(one, 1, 24);
    for (int round = 0; round < 5; ++round) {
        const auto found = tendedFrames(two, 2, 24);
        for (std::size_t i = 0; i < found.size(); ++i) {
            EXPECT_TRUE(sameBytes(*expected[i], *found[i])) << "round " << round << ", frame " << i;
        }
        two.reset();  // the next round begins as if nothing had been
    }
    const auto still = one.composite(*one.cutOut(noisyFrame(23), {}), plainParams("color:#2080c0"), {320, 180}, {});
    EXPECT_FALSE(sameBytes(*expected.back(), *still.picture->image())) << "nothing was tended";
}

TEST_F(LiveEngineTest, PageLockedFramesAreReadWhereTheyAre) {
    CudaEngine engine(smallNetwork(), kRepeatable);
    const auto plain = wavyFrame({320, 240}, PixelFormat::nv12, 1);
    auto locked = std::make_shared<Image>(plain->size(), plain->format(), engine.frameMemory());
    std::copy_n(plain->row(0), plain->bytes(), locked->row(0));
    const CompositeParams params = plainParams("color:#000000");
    for (int i = 0; i < 4; ++i) {
        EXPECT_TRUE(sameBytes(*through(engine, plain, params).picture->image(),
                              *through(engine, locked, params).picture->image()));
    }
}

TEST_F(LiveEngineTest, TheResultStaysOnTheDeviceUntilAskedFor) {
    CudaEngine engine(smallNetwork(), kRepeatable);
    const auto image = wavyFrame({320, 240}, PixelFormat::nv12, 1);
    const Output output = through(engine, image, plainParams("blur:50"));
    EXPECT_EQ(output.bytesDown, 0U);
    EXPECT_GE(output.bytesUp, image->bytes());
    EXPECT_LE(output.bytesUp, image->bytes() + 1024);
    ASSERT_NE(output.picture->device(), nullptr);
    EXPECT_EQ(output.picture->device()->size, image->size());
    EXPECT_EQ(output.picture->image(), output.picture->image()) << "fetched once";
}

TEST_F(LiveEngineTest, AFetchedPictureStaysWhileItIsHeldAndItsMemoryIsUsedAgainAfter) {
    CudaEngine engine(smallNetwork(), kRepeatable);
    const auto fetched = [&](unsigned seed) {
        const auto frame = wavyFrame({201, 113}, PixelFormat::nv12, seed);
        return through(engine, frame, plainParams("blur:50")).picture->image();
    };
    constexpr unsigned kHeld = 12;  // more than the engine has memory for beforehand
    std::vector<std::shared_ptr<const Image>> held;
    for (unsigned seed = 0; seed < kHeld; ++seed) held.push_back(fetched(seed));
    for (unsigned seed = 0; seed < kHeld; ++seed) {
        EXPECT_TRUE(sameBytes(*fetched(seed), *held[seed])) << "picture " << seed << " was written over";
    }
    held.clear();
    std::vector<const std::uint8_t*> places;
    for (unsigned seed = 0; seed < 2 * kHeld; ++seed) places.push_back(fetched(seed)->row(0));
    EXPECT_EQ(std::ranges::count(places, places.back()), std::ptrdiff_t(places.size())) << "one is enough now";
}

TEST_F(LiveEngineTest, EachFrameStandsBeforeItsOwnPictureOfAVideoAsOnTheCpu) {
    constexpr Size kFrame{320, 180};
    CudaEngine engine(smallNetwork(), kRepeatable);
    FramePool pool(8, engine.frameMemory());
    const auto frame = wavyFrame(kFrame, PixelFormat::nv12, 1);
    CompositeParams params = plainParams("video:clip.mp4");
    params.transform = {.x = 1,
                        .y = 1};  // whoever is found stands beside the frame: the picture behind is all there is
    std::deque<Image> expected;
    const auto check = [&](std::uint64_t number) {
        const Output output = engine.take();
        EXPECT_EQ(output.frame, number);
        const auto shown = output.picture->image();
        int largest = 0;
        for (std::size_t i = 0; i < shown->bytes(); ++i) {
            largest = std::max(largest, std::abs(int(shown->row(0)[i]) - int(expected.front().row(0)[i])));
        }
        EXPECT_LE(largest, 1) << "frame " << number;
        expected.pop_front();
    };
    const auto frames = std::uint64_t(repeats(90));
    for (std::uint64_t number = 0; number < frames; ++number) {
        // Pictures are let go and used again as a video's are.
        const auto picture = pool.take({141 + int(3 * number / frames), 73}, PixelFormat::bgr8);
        ASSERT_TRUE(picture) << "pictures are held for too long";
        const auto waves = wavyFrame(picture->size(), picture->format(), unsigned(number));
        std::copy_n(waves->row(0), waves->bytes(), picture->row(0));
        params.background.image = picture;
        params.background.placement = Placement(1 + 9 * number / frames % 3);
        expected.push_back(layInto(picture->view(), kFrame, params.background.placement, params.background.color));
        engine.submit({frame, number, {}}, params);
        if (number > 0) check(number - 1);
    }
    check(frames - 1);
}

TEST_F(LiveEngineTest, APictureOfAVideoGoesUpOnceAndIsCounted) {
    CudaEngine engine(smallNetwork(), kRepeatable);
    const auto frame = wavyFrame({320, 180}, PixelFormat::nv12, 1);
    CompositeParams params = plainParams("video:clip.mp4");
    std::size_t alone = 0;
    for (unsigned number = 0; number < 6; ++number) {
        const auto picture = wavyFrame({141, 73}, PixelFormat::bgr8, number);
        params.background.image = picture;
        const std::size_t withPicture = through(engine, frame, params).bytesUp;
        alone = through(engine, frame, params).bytesUp;
        EXPECT_EQ(withPicture, alone + picture->bytes());
    }
    EXPECT_GE(alone, frame->bytes());
    EXPECT_LE(alone, frame->bytes() + 1024);
}

TEST_F(LiveEngineTest, PicturesAreFetchedFromAnyThread) {
    CudaEngine engine(smallNetwork(), kRepeatable);
    const CompositeParams params = plainParams("blur:50");
    std::vector<std::future<std::shared_ptr<const Image>>> fetched;
    std::vector<std::shared_ptr<const Image>> expected;
    for (unsigned i = 0; i < 12; ++i) {
        const auto image = wavyFrame({640, 360}, PixelFormat::rgba8, i % 3);
        const auto picture = through(engine, image, params).picture;
        fetched.push_back(std::async(std::launch::async, [picture] { return picture->image(); }));
        if (i < 3) expected.push_back(asStill(engine, image, params));
    }
    for (std::size_t i = 0; i < fetched.size(); ++i) EXPECT_TRUE(sameBytes(*expected[i % 3], *fetched[i].get()));
}

TEST_F(LiveEngineTest, MemoryIsNotWrittenAgainBeforeTheLastAnnouncedCopy) {
    CudaEngine engine(smallNetwork(), kRepeatable);
    const CompositeParams params = plainParams("blur:50");
    const auto first = wavyFrame({320, 240}, PixelFormat::rgba8, 1),
               other = wavyFrame({320, 240}, PixelFormat::rgba8, 2);
    const auto expected = asStill(engine, first, params);
    const Stream reader;
    const PinnedBuffer copy(expected->bytes());
    {
        const Output output = through(engine, first, params);
        const DevicePicture& picture = *output.picture->device();
        CUDA_CHECK(cudaStreamWaitEvent(reader.get(), picture.ready, 0));
        // The reader is slow: it sleeps before it copies.
        CUDA_CHECK(cudaLaunchHostFunc(
            reader.get(),
            [](void*) {
                std::this_thread::sleep_for(std::chrono::milliseconds(50));  // paces
            },
            nullptr));
        CUDA_CHECK(
            cudaMemcpyAsync(copy.as<std::byte>(), picture.rgba, copy.bytes(), cudaMemcpyDeviceToHost, reader.get()));
        CUDA_CHECK(cudaEventRecord(picture.read, reader.get()));
    }
    for (int i = 0; i < 4; ++i) through(engine, other, params);
    reader.wait();
    EXPECT_TRUE(std::equal(expected->row(0), expected->row(0) + expected->bytes(), copy.as<std::uint8_t>()));
}

TEST_F(LiveEngineTest, LayersAreTimedWhenAskedAndChangeNothing) {
    CudaEngine engine(smallNetwork(), kRepeatable);
    const auto image = wavyFrame({320, 240}, PixelFormat::rgba8, 1);
    const CompositeParams params = plainParams("blur:50");
    const auto expected = through(engine, image, params).picture->image();
    int timed = 0;
    for (int i = 0; i < 48; ++i) {
        engine.timeLayers(i % 24 < 20);
        const Output output = through(engine, image, params);
        EXPECT_TRUE(sameBytes(*expected, *output.picture->image()));
        if (i % 24 == 0) {
            EXPECT_FALSE(output.layerMs.empty()) << "the next one";
        }
        if (i % 24 >= 20) {
            EXPECT_TRUE(output.layerMs.empty()) << "nobody asked";
        }
        if (output.layerMs.empty()) {
            ASSERT_EQ(output.times.size(), 1U);
            EXPECT_EQ(output.times.front().stage, Stage::total);
            continue;
        }
        ++timed;
        ASSERT_EQ(output.layerMs.size(), engine.layers().size());
        double layers = 0, network = 0;
        for (const float ms : output.layerMs) layers += ms;
        std::vector<std::string> names;
        for (const StageTime& stage : output.times) {
            names.push_back(stageName(stage.stage));
            if (stage.stage == Stage::network) network = stage.ms;
        }
        EXPECT_GT(layers, 0);
        EXPECT_LE(layers, network * 1.01);
        EXPECT_EQ(names.front(), "upload");
        EXPECT_EQ(names.back(), "composite");
    }
    EXPECT_EQ(timed, 6) << "one in a few: timing costs time";
    EXPECT_EQ(engine.layers().front().name, smallNetwork()->layers().front().name);
    EXPECT_GT(engine.layers().front().flops, 0);
}

TEST_F(LiveEngineTest, AMatteThatIsNotFiniteShowsTheBackgroundAlone) {
    CudaEngine engine(brokenNetwork(), kRepeatable);
    const auto image = blackFrame({64, 48});
    const CompositeParams params = plainParams("color:#00b140");
    for (int i = 0; i < 4; ++i) {
        const Output output = through(engine, image, params);
        EXPECT_EQ(output.matteFault, MatteFault::notFinite);
        const auto shown = output.picture->image();
        bool alone = true;
        for (std::size_t p = 0; p < shown->bytes(); p += 4) {
            const std::uint8_t* pixel = shown->row(0) + p;
            alone = alone && pixel[0] == 0 && pixel[1] == 0xB1 && pixel[2] == 0x40;
        }
        EXPECT_TRUE(alone);
    }
    CudaEngine sound(smallNetwork(), kRepeatable);
    EXPECT_TRUE(through(sound, image, params).matteUsable());
}

TEST_F(LiveEngineTest, SinglePrecisionDiffersByRoundingAlone) {
    CudaEngine fast(smallNetwork(), kRepeatable),
        exact(smallNetwork(),
              {.networkLongestSide = kRepeatable.networkLongestSide, .precision = Precision::fp32, .tune = false});
    EXPECT_NE(exact.info().name.find("f32"), std::string::npos);
    const auto image = wavyFrame({320, 240}, PixelFormat::bgr8, 1);
    const CompositeParams params = plainParams("transparent");
    const auto a = through(fast, image, params).picture->image(), b = through(exact, image, params).picture->image();
    int largest = 0;
    for (std::size_t i = 3; i < a->bytes(); i += 4) largest = std::max(largest, std::abs(a->row(0)[i] - b->row(0)[i]));
    EXPECT_GT(largest, 0) << "they run the same kernels";
    EXPECT_LE(largest, 8);
}

TEST_F(LiveEngineTest, EachStepThatFailsIsADeviceFailureAndTheFrameGoesOn) {
    const auto image = wavyFrame({97, 61}, PixelFormat::rgba8, 1);
    const CompositeParams params = plainParams("blur:50");
    RoundEngine sure("");
    const auto expected = through(sure, image, params).picture->image();
    const CudaFault atStart = [](const std::string& step) {
        return step == "start" ? cudaErrorLaunchFailure : cudaSuccess;
    };
    EXPECT_THROW(CudaEngine(smallNetwork(), kRepeatable, atStart), DeviceFailure);
    for (const char* where : {"prepare", "upload", "network", "composite", "wait"}) {
        for (const int good : {0, 3}) {
            int left = good;
            const CudaFault fault = [&](const std::string& step) {
                return step == where && left-- <= 0 ? cudaErrorLaunchFailure : cudaSuccess;
            };
            if (good == 0) {
                CudaEngine bare(smallNetwork(), kRepeatable, fault);
                EXPECT_THROW(through(bare, image, params), DeviceFailure) << where;
                left = 0;
            }
            LiveQueue<int> queue({std::make_unique<CudaEngine>(smallNetwork(), kRepeatable, fault),
                                  [](const std::string& reason) { return std::make_unique<RoundEngine>(reason); }});
            queue.submit({image, 0, {}}, params, 0);
            for (std::uint64_t number = 1; number < 8; ++number) {
                queue.submit({image, number, {}}, params, 0);
                EXPECT_EQ(queue.take().output.frame, number - 1) << where;
            }
            const Output last = queue.take().output;
            EXPECT_EQ(last.frame, 7U) << where;
            if (std::string(where) == "prepare" && good > 0) continue;  // is passed twice only
            EXPECT_EQ(queue.info().kind, EngineKind::cpu) << where;
            EXPECT_TRUE(sameBytes(*expected, *last.picture->image())) << where;
        }
    }
}

TEST_F(LiveEngineTest, AFullDeviceTakesOneFrameAtATimeThenASmallerNetworkThenTheCpu) {
    const auto image = wavyFrame({640, 480}, PixelFormat::rgba8, 1);
    const CompositeParams params = plainParams("blur:50");
    int failures = 0;
    const CudaFault fault = [&](const std::string& step) {
        return step == "upload" && failures-- > 0 ? cudaErrorMemoryAllocation : cudaSuccess;
    };
    CudaEngine engine(fullNetwork(), kRepeatable, fault);
    const auto full = through(engine, image, params).picture->image();

    failures = 1;
    EXPECT_TRUE(sameBytes(*full, *through(engine, image, params).picture->image()));
    EXPECT_EQ(engine.slots(), 1);
    ASSERT_EQ(engine.info().warnings.size(), 1U);
    EXPECT_NE(engine.info().warnings.front().find("one frame at a time"), std::string::npos);

    failures = 1;
    EXPECT_FALSE(sameBytes(*full, *through(engine, image, params).picture->image()));
    EXPECT_NE(engine.info().warnings.front().find("instead of"), std::string::npos);

    failures = 100;
    try {
        through(engine, image, params);
        FAIL() << "nothing was thrown";
    } catch (const DeviceFailure& failure) {
        EXPECT_FALSE(failure.lasting);
    }
    failures = 0;
    engine.reset();
    EXPECT_EQ(engine.slots(), 2);
    EXPECT_TRUE(sameBytes(*full, *through(engine, image, params).picture->image()));
}

}  // namespace
}  // namespace matte::test
