// SPDX-License-Identifier: Apache-2.0
// Recurrent networks on the GPU: every frame of a sequence against the scalar oracle, the same bits however the network
// is launched, and when the engine begins with a state of zero.
#include <cuda_fp16.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "inference/core/synthetic_person.h"
#include "inference/cuda/pixels/recurrent_state.h"
#include "inference/engine/self_test.h"
#include "inference/matting/resample.h"
#include "tests/gpu/engine_case.h"
#include "tests/gpu/live_case.h"
#include "tests/gpu/network_case.h"
#include "tests/gpu/pixel_case.h"
#include "tests/support/files/model_file.h"

namespace matte::test {
namespace {

constexpr unsigned kFrames = 16;

struct RecurrentCase {
    std::vector<int> widths;  ///< none: a network with bottlenecks
    std::vector<std::string> levels;
    Size size;
};

using KernelAndCase = std::tuple<ConvKernel, RecurrentCase>;

float keptAsHalf(float value) {
    return __half2float(__float2half_rn(value));
}

class RecurrentNetwork : public testing::Test, public testing::WithParamInterface<KernelAndCase> {
protected:
    void SetUp() override {
        if (const std::string reason = whyNot(kernel()); !reason.empty()) GTEST_SKIP() << reason;
    }
    [[nodiscard]] static ConvKernel kernel() { return std::get<0>(GetParam()); }
    [[nodiscard]] static const RecurrentCase& network() { return std::get<1>(GetParam()); }
    [[nodiscard]] static Size size() { return network().size; }
    [[nodiscard]] static UNet unet() { return randomRecurrentNetwork(network().widths, network().levels, 3); }
    [[nodiscard]] static CudaNetwork configured() {
        CudaNetwork made(unet(), kernel());
        made.configure(size());
        return made;
    }
    /// Noise, of which a part stays from frame to frame.
    static oracle::Activation frame(unsigned number) {
        oracle::Activation input = oracle::noise(size().height, size().width, 3, 40);
        const oracle::Activation change = oracle::noise(size().height, size().width, 3, 50 + number);
        for (std::size_t i = 0; i < input.values.size(); ++i) input.values[i] += 0.5F * change.values[i];
        return input;
    }
    static std::vector<float> run(const CudaNetwork& network, unsigned number) {
        setInput(network, kernel(), frame(number));
        const Stream stream;
        network.forward(stream.get());
        stream.wait();
        return alphaOf(network);
    }
    static void clear(const CudaNetwork& network) {
        const Stream stream;
        network.clearState(stream.get());
        stream.wait();
    }
};

TEST_P(RecurrentNetwork, EveryFrameIsCloseToTheOracle) {
    const UNet exact = unet();
    const CudaNetwork cuda = configured();
    oracle::States states, rounded;
    for (unsigned number = 0; number < kFrames; ++number) {
        const std::string name = "frame " + std::to_string(number);
        const auto expected = oracle::run(exact, frame(number), nullptr, &states).back().values;
        const auto found = run(cuda, number);
        if (kernel() == ConvKernel::fp32) {
            EXPECT_LE(oracle::nmse(expected, found), 1e-10) << name;
            continue;
        }
        // As in network_test.cpp: what halves cost by themselves, over the same frames.
        const auto halves = oracle::run(exact, frame(number), keptAsHalf, &rounded).back().values;
        const Difference cost = difference(expected, halves);
        expectClose(name, difference(expected, found),
                    {std::max(1.2e-2, 2 * cost.maximum), std::max(5e-4, 1.3 * cost.mean)});
    }
}

TEST_P(RecurrentNetwork, WithoutCandidatesIsTheNetworkWithoutCells) {
    const ModelTensors plain = network().widths.empty() ? randomMobileUNet(3) : randomUNet(network().widths, 3);
    const auto made = [&](const ModelTensors& tensors) {
        CudaNetwork cuda(UNet::load(Safetensors::parse(encodeSafetensors(tensors), "random")), kernel());
        cuda.configure(size());
        return cuda;
    };
    const CudaNetwork without = made(plain), with = made(withoutCandidates(withCells(plain, network().levels, 4)));
    for (unsigned number = 0; number < 3; ++number) {
        // Where the last level has a cell, the head is no longer part of that level's last convolution.
        const Difference limit = kernel() == ConvKernel::fp32 ? Difference{1e-6, 1e-7} : Difference{2e-3, 5e-4};
        expectClose("frame", difference(run(without, number), run(with, number)), limit);
        const auto state = download<std::uint8_t>(with.state(), with.stateBytes());
        EXPECT_TRUE(std::ranges::all_of(state, [](std::uint8_t byte) { return byte == 0; }));
    }
}

TEST_P(RecurrentNetwork, AStillOfTwoRunsIsCloseToTheOracle) {
    const CudaNetwork cuda = configured();
    run(cuda, 0);
    oracle::States states;
    oracle::run(unet(), frame(0), nullptr, &states);
    const auto expected = oracle::run(unet(), frame(0), nullptr, &states).back().values;
    const bool exact = kernel() == ConvKernel::fp32;
    expectClose("still", difference(expected, run(cuda, 0)), exact ? Difference{1e-4, 1e-5} : Difference{2e-2, 2e-3});
}

TEST_P(RecurrentNetwork, FromAStateOfZeroAFrameHasTheSameBits) {
    const CudaNetwork cuda = configured();
    const std::vector<float> first = run(cuda, 0), second = run(cuda, 1);
    EXPECT_NE(run(cuda, 1), second) << "the state matters";
    clear(cuda);
    EXPECT_EQ(run(cuda, 0), first);
    EXPECT_EQ(run(cuda, 1), second);
}

TEST_P(RecurrentNetwork, FromARestoredStateAFrameHasTheSameBits) {
    const CudaNetwork cuda = configured(), other = configured();
    run(cuda, 0), run(cuda, 1);
    const auto kept = download<std::byte>(cuda.state(), cuda.stateBytes());
    const std::vector<float> expected = run(cuda, 2);
    run(other, 7);
    ASSERT_EQ(other.stateBytes(), kept.size());
    CUDA_CHECK(cudaMemcpy(other.state(), kept.data(), kept.size(), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaDeviceSynchronize());
    EXPECT_EQ(run(other, 2), expected);
}

TEST_P(RecurrentNetwork, GraphsAndTimedLayersGiveTheSameBits) {
    const CudaNetwork cuda = configured();
    std::vector<std::vector<float>> eager;
    for (unsigned number = 0; number < 6; ++number) eager.push_back(run(cuda, number));
    const Stream stream;
    const Graph graph(stream.get(), [&] { cuda.forward(stream.get()); });
    clear(cuda);
    for (unsigned number = 0; number < 6; ++number) {
        setInput(cuda, kernel(), frame(number));
        graph.launch(stream.get());
        stream.wait();
        ASSERT_EQ(alphaOf(cuda), eager[number]) << "launch " << number;
    }
    clear(cuda);
    for (unsigned number = 0; number < 6; ++number) {
        setInput(cuda, kernel(), frame(number));
        int layers = 0;
        cuda.forward(stream.get(), [&](int layer) { EXPECT_EQ(layer, layers++); });
        stream.wait();
        EXPECT_EQ(layers, int(unet().layers().size()));
        ASSERT_EQ(alphaOf(cuda), eager[number]) << "timed, frame " << number;
    }
}

TEST_P(RecurrentNetwork, ASizeInBetweenLeavesNothingBehind) {
    CudaNetwork cuda = configured();
    const std::vector<float> first = run(cuda, 0);
    cuda.configure({size().width * 2, size().height});
    const Stream stream;
    cuda.forward(stream.get());
    stream.wait();
    cuda.configure(size());
    EXPECT_EQ(run(cuda, 0), first) << "the state is zero again";
}

std::string nameOfCase(const testing::TestParamInfo<KernelAndCase>& info) {
    const auto& [kernel, network] = info.param;
    std::ostringstream name;
    name << nameOf(kernel);
    if (network.widths.empty()) name << "_bottlenecks";
    for (const int width : network.widths) name << '_' << width;
    name << "_with_" << network.levels.size() << "_at_" << text(network.size);
    return name.str();
}

INSTANTIATE_TEST_SUITE_P(
    Kernels,
    RecurrentNetwork,
    testing::Combine(testing::ValuesIn(kKernels),
                     testing::Values(RecurrentCase{{8, 16, 32}, {"up1"}, {12, 20}},
                                     RecurrentCase{{6, 10, 16}, {"up1", "up2"}, {20, 12}},  // the head reads a cell
                                     RecurrentCase{{16, 24, 32, 48}, {"up1", "up2", "up3"}, {32, 24}},
                                     RecurrentCase{{16, 32, 64, 96, 128, 192}, {"up1", "up2", "up3"}, {96, 64}},
                                     RecurrentCase{{8, 16, 24, 32, 48}, {"up1", "up2"}, {64, 48}},
                                     RecurrentCase{{}, {"up1", "up2", "up3"}, {48, 32}})),
    nameOfCase);

std::shared_ptr<const UNet> recurrentNetwork() {
    static const auto network =
        std::make_shared<const UNet>(randomRecurrentNetwork({8, 16, 32, 64, 128}, {"up2", "up3", "up4"}, 1));
    return network;
}

constexpr Size kFrame{320, 180};

using LiveRecurrent = LiveEngineTest;

/// A person who moves, without a scene cut; `turned`: upside down, which is another scene.
std::shared_ptr<const Image> personFrame(std::uint64_t number, Size size = kFrame, bool turned = false) {
    Image drawn(size, PixelFormat::bgr8);
    SyntheticPerson(size, 32).drawFrame(number, drawn);
    if (!turned) return std::make_shared<Image>(std::move(drawn));
    auto image = std::make_shared<Image>(size, PixelFormat::bgr8);
    for (int y = 0; y < size.height; ++y) {
        std::copy_n(drawn.row(size.height - 1 - y), drawn.strideBytes(), image->row(y));
    }
    return image;
}

/// The pictures of frames `first` to before `end`, with at most `slots` under way.
std::vector<std::vector<std::uint8_t>> showing(
    Engine& engine, unsigned first, unsigned end, int slots = 1, Size size = kFrame) {
    std::vector<std::vector<std::uint8_t>> pictures;
    const auto take = [&] {
        const auto image = engine.take().picture->image();
        pictures.emplace_back(image->row(0), image->row(0) + image->bytes());
    };
    const CompositeParams params = plainParams("transparent");
    for (unsigned number = first; number < end; ++number) {
        EXPECT_TRUE(engine.submit({personFrame(number, size), number, {}}, params));
        if (int(number - first) + 1 >= slots) take();
    }
    while (pictures.size() < end - first) take();
    return pictures;
}

TEST_F(LiveRecurrent, TwoSlotsGiveTheSameBytesAsOneFrameAtATime) {
    CudaEngine one(recurrentNetwork(), kRepeatable), two(recurrentNetwork(), kRepeatable);
    const auto expected = showing(one, 0, kFrames);
    for (int i = 0; i < repeats(8); ++i) {
        two.reset();
        ASSERT_EQ(showing(two, 0, kFrames, 2), expected) << "time " << i;
    }
}

TEST_F(LiveRecurrent, EachFrameIsWhatTheNetworkMakesOfTheSequence) {
    for (const Precision precision : {Precision::fast, Precision::fp32}) {
        CudaEngine engine(recurrentNetwork(), {.networkLongestSide = 128, .precision = precision, .tune = false});
        NetworkMatte network(recurrentNetwork(), 128);  // in halves
        const Difference limit = precision == Precision::fast ? Difference{3, 0.3} : Difference{8, 1};
        const CompositeParams params = plainParams("transparent");
        for (unsigned number = 0; number < kFrames; ++number) {
            const auto image = personFrame(number);
            const auto found = through(engine, image, params, number).picture->image();
            HostSteps host(image, network(*image));
            expectClose("frame " + std::to_string(number),
                        difference(premultiplied(host.composite(params, kFrame)), premultiplied(*found)), limit);
        }
    }
}

TEST_F(LiveRecurrent, TimedFramesAndGraphsGiveTheSameBytes) {
    CudaEngine plain(recurrentNetwork(), kRepeatable), timed(recurrentNetwork(), kRepeatable);
    timed.timeLayers(true);
    EXPECT_EQ(showing(timed, 0, kFrames, 2), showing(plain, 0, kFrames));
}

TEST_F(LiveRecurrent, AnotherSizeBeginsAtZero) {
    CudaEngine engine(recurrentNetwork(), kRepeatable), fresh(recurrentNetwork(), kRepeatable);
    showing(engine, 0, 3);
    showing(engine, 3, 6, 1, {180, 320});
    EXPECT_EQ(showing(engine, 6, 9), showing(fresh, 6, 9));
}

TEST_F(LiveRecurrent, ASceneCutBeginsAtZero) {
    CudaEngine engine(recurrentNetwork(), kRepeatable), fresh(recurrentNetwork(), kRepeatable);
    const CompositeParams params = plainParams("transparent");
    for (std::uint64_t i = 0; i < 3; ++i) through(engine, personFrame(i), params, i);
    for (std::uint64_t i = 3; i < 6; ++i) {
        const auto image = personFrame(i, kFrame, true);
        const auto expected = through(fresh, image, params, i).picture->image();
        EXPECT_TRUE(sameBytes(*expected, *through(engine, image, params, i).picture->image())) << "frame " << i;
    }
}

TEST_F(LiveRecurrent, APhotoBetweenFramesLeavesNoTraceAndTakesNone) {
    CudaEngine engine(recurrentNetwork(), kRepeatable), frames(recurrentNetwork(), kRepeatable),
        photos(recurrentNetwork(), kRepeatable);
    const auto photo = wavyFrame({301, 203}, PixelFormat::rgba8, 9);
    const auto matteOf = [&](Engine& from) {
        const auto cutout = from.cutOut(photo, {});
        const Image matte = from.matte(*cutout, {}, photo->size(), {});
        return std::vector<std::uint8_t>(matte.row(0), matte.row(0) + matte.bytes());
    };
    const auto expected = showing(frames, 0, 8);
    auto found = showing(engine, 0, 4);
    EXPECT_EQ(matteOf(engine), matteOf(photos));
    std::ranges::move(showing(engine, 4, 8), std::back_inserter(found));
    EXPECT_EQ(found, expected);
}

TEST_F(LiveRecurrent, TheKnownAnswerIsThatOfAStill) {
    const ModelTensors tensors = withCells(randomUNet({8, 16, 32}, 1), {"up1", "up2"}, 2);
    const UNet plain = UNet::load(Safetensors::parse(encodeSafetensors(tensors), "recurrent"));
    const KnownAnswer answer = answerOf(plain, [&](const Image& picture) {
        const Planes seen = resampleToPlanes(picture.view(), picture.size());
        oracle::Activation input(picture.size().height, picture.size().width, 3);
        for (std::size_t i = 0; i < seen.values.size(); ++i) {
            input.values[i] = (seen.values[i] - plain.mean()[i % 3]) / plain.deviation()[i % 3];
        }
        oracle::States states;
        oracle::run(plain, input, nullptr, &states);
        Planes matte(picture.size(), 1);
        matte.values = oracle::run(plain, input, nullptr, &states).back().values;
        return matte;
    });
    const auto answered = std::make_shared<const UNet>(
        UNet::load(Safetensors::parse(encodeSafetensors(tensors, {{"known_answer", answer.text()}}), "recurrent")));
    for (const Precision precision : {Precision::fast, Precision::fp32}) {
        EXPECT_NO_THROW(CudaEngine(answered, {.precision = precision, .tune = false}));
    }
}

class LiveState : public LiveEngineTest, public testing::WithParamInterface<Size> {};
INSTANTIATE_TEST_SUITE_P(Sizes,
                         LiveState,
                         testing::Values(Size{48, 32}, Size{97, 61}, Size{384, 224}, Size{224, 384}),
                         [](const auto& made) { return text(made.param); });

/// [h, w, 8] as the network takes it, with a mean of 0 and a deviation of 1.
template <typename T>
std::vector<T> plainInput(const Planes& picture) {
    std::vector<T> input(picture.size.pixels() * 8, T(0.0F));
    for (std::size_t i = 0; i < picture.values.size(); ++i) input[i / 3 * 8 + i % 3] = T(picture.values[i]);
    return input;
}

TEST_P(LiveState, ASceneCutIsWhereItIsOnTheCpuAndTheStateIsThenZero) {
    const Size size = GetParam();
    const std::vector<bool> turned{false, false, true, true, false, false};
    const std::vector<std::uint32_t> state(1024, 7);
    const DeviceBuffer scene(sizeof(device::RecurrentMemory::Scene)), kept = upload(state), used = upload(state);
    const device::RecurrentMemory memory{scene.as<device::RecurrentMemory::Scene>(), kept.data(), kept.bytes()};
    const Stream stream;
    for (const bool inFloats : {true, false}) {
        SceneCut cut;
        device::resetScene(memory, stream.get());
        std::vector<int> expected, found;
        for (std::size_t i = 0; i < turned.size(); ++i) {
            const Planes picture = resampleToPlanes(personFrame(i, {400, 300}, turned[i])->view(), size);
            expected.push_back(int(cut.judge(lumaGrid(picture))));
            const DeviceBuffer input =
                inFloats ? upload(plainInput<float>(picture)) : upload(plainInput<__half>(picture));
            device::restoreState(memory, {input.data(), inFloats, {0, 0, 0}, {1, 1, 1}}, size, used.data(),
                                 stream.get());
            stream.wait();
            const auto restored = download<std::uint32_t>(used.data(), state.size());
            EXPECT_EQ(std::ranges::count(restored, restored.front()), std::ptrdiff_t(restored.size()));
            EXPECT_TRUE(restored.front() == 0 || restored.front() == 7);
            found.push_back(int(restored.front() == 0));
        }
        EXPECT_EQ(expected, (std::vector<int>{0, 0, 1, 0, 1, 0}));
        EXPECT_EQ(found, expected) << "in floats: " << inFloats;
    }
}

TEST_F(LiveRecurrent, TheStateOfARefusedMatteIsNotKept) {
    const std::vector<std::uint32_t> old(1024, 7), made(1024, 9);
    const DeviceBuffer scene(sizeof(device::RecurrentMemory::Scene)), kept = upload(old), now = upload(made);
    const device::RecurrentMemory memory{scene.as<device::RecurrentMemory::Scene>(), kept.data(), kept.bytes()};
    const Stream stream;
    for (const int fault : {0, int(MatteFault::notFinite), int(MatteFault::everything), 0}) {
        const DeviceBuffer flag = upload(std::vector<int>{fault});
        device::keepState(memory, now.data(), flag.as<int>(), stream.get());
        stream.wait();
        EXPECT_EQ(download<std::uint32_t>(kept.data(), old.size()), std::vector<std::uint32_t>(1024, fault ? 0 : 9));
    }
    device::resetState(memory, stream.get());
    stream.wait();
    EXPECT_EQ(download<std::uint32_t>(kept.data(), old.size()), std::vector<std::uint32_t>(1024, 0));
}

}  // namespace
}  // namespace matte::test
