// SPDX-License-Identifier: Apache-2.0
// Live pictures on their way to the screen: what comes from a CUDA device by interop equals what is uploaded, pixel for
// pixel. Where there is no NVIDIA GPU the upload alone is tested, in software.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "interop/gl.h"
#include "interop/presenter.h"
#include "tests/interop/egl_context.h"

#ifdef MATTE_HAVE_CUDA
#include "inference/cuda/device/cuda.h"
#include "inference/cuda/device/devices.h"
#include "inference/cuda/device_picture.h"
#endif

namespace matte::test {
namespace {

std::shared_ptr<const Image> noise(Size size, bool opaque, unsigned seed) {
    auto image = std::make_shared<Image>(size, PixelFormat::rgba8);
    std::mt19937 random(seed);
    for (std::size_t i = 0; i < image->bytes(); ++i) {
        image->row(0)[i] = i % 4 == 3 && opaque ? 255 : std::uint8_t(random());
    }
    return image;
}

struct InteropTest : testing::Test {
    void SetUp() override { openContext(); }
    void openContext() {
        std::string reason;
        context = EglContext::create(reason);
        if (!context) GTEST_SKIP() << reason;
        facts = initializeGl();
    }
    /// The picture alone, drawn at its own size.
    Image draw(Presenter& presenter, Size size) { return drawAt(presenter, size, {0, 0}, size); }
    /// Drawn as `drawn` with its corner at `corner`, in a viewport of `size`.
    Image drawAt(Presenter& presenter, Size size, Size corner, Size drawn) {
        context->bindFramebuffer(size);
        View view;
        view.left = corner.width;
        view.top = corner.height;
        view.width = drawn.width;
        view.height = drawn.height;
        view.sharpPixels = true;
        view.checker[0] = {90, 10, 200};
        view.checker[1] = {10, 90, 20};
        presenter.draw(view, size);
        return context->read();
    }
    std::unique_ptr<EglContext> context;
    GlFacts facts;
};

testing::AssertionResult same(const Image& a, const Image& b) {
    if (!(a.size() == b.size())) return testing::AssertionFailure() << "their sizes differ";
    const auto differ = std::mismatch(a.row(0), a.row(0) + a.bytes(), b.row(0));
    if (differ.first == a.row(0) + a.bytes()) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "byte " << differ.first - a.row(0) << " is " << int(*differ.first) << " and "
                                       << int(*differ.second);
}

TEST_F(InteropTest, AnUploadedLivePictureIsDrawnAsItIs) {
    Presenter presenter(facts);
    for (unsigned i = 0; i < 4; ++i) {
        const auto image = noise({67, 41}, true, i);
        presenter.show(HostPicture(image));
        EXPECT_TRUE(same(*image, draw(presenter, image->size())));
    }
    EXPECT_FALSE(presenter.path().interop);
    EXPECT_EQ(presenter.path().reason, "The picture was made on the CPU");
    EXPECT_EQ(presenter.path().bytesUp, 67U * 41 * 4);
}

TEST_F(InteropTest, WhereTheProcessorDrawsAShrunkLivePictureIsTheMeanOfItsPixels) {
    facts.software = true;
    Presenter presenter(facts);
    const auto image = noise({80, 40}, true, 1);
    presenter.show(HostPicture(image));
    const Image drawn = drawAt(presenter, {60, 30}, {9, 7}, {40, 20});
    EXPECT_EQ(presenter.path().bytesUp, 40U * 20 * 4);
    for (int y = 0; y < 20; ++y) {
        const std::uint8_t *above = image->row(2 * y), *below = image->row(2 * y + 1);
        for (int i = 0; i < 40 * 4; ++i) {
            const int left = i / 4 * 8 + i % 4, right = left + 4;
            const double mean = (above[left] + above[right] + below[left] + below[right]) / 4.0;
            ASSERT_NEAR(drawn.row(7 + y)[4 * 9 + i], mean, 0.51) << i << ", " << y;
        }
    }
    EXPECT_EQ(drawn.row(6)[4 * 20], 0) << "above the picture is its surround";
    EXPECT_EQ(drawn.row(20)[4 * 8], 0) << "and left of it";
}

TEST_F(InteropTest, AZoomedLivePictureIsDrawnFromAllItsPixelsAgain) {
    facts.software = true;
    Presenter presenter(facts);
    const auto image = noise({80, 40}, true, 1);
    presenter.show(HostPicture(image));
    (void)drawAt(presenter, {80, 40}, {0, 0}, {40, 20});
    EXPECT_TRUE(same(*image, draw(presenter, image->size())));
    (void)drawAt(presenter, {80, 40}, {0, 0}, {20, 10});
    EXPECT_EQ(presenter.path().bytesUp, 20U * 10 * 4);
    presenter.clear();
    EXPECT_EQ(draw(presenter, image->size()).row(0)[0], 0) << "the surround";
}

TEST_F(InteropTest, AShrunkLivePictureKeepsItsTransparency) {
    const auto image = noise({80, 40}, false, 1);
    const auto drawnBy = [&](bool software) {
        facts.software = software;
        Presenter presenter(facts);
        presenter.show(HostPicture(image));
        return drawAt(presenter, {60, 30}, {9, 7}, {40, 20});
    };
    EXPECT_TRUE(same(drawnBy(true), drawnBy(false)));
}

TEST_F(InteropTest, ClearingForgetsTheLivePicture) {
    Presenter presenter(facts);
    const auto image = noise({16, 16}, true, 1);
    presenter.show(HostPicture(image));
    presenter.clear();
    EXPECT_FALSE(same(*image, draw(presenter, {16, 16})));
    presenter.show(HostPicture(image));
    EXPECT_TRUE(same(*image, draw(presenter, {16, 16})));
}

TEST_F(InteropTest, LeavesNoObjectBehind) {
    // The framebuffers that draw() makes stay with the context: each is one, and its colours another.
    int drawn = 0;
    const auto count = [&] { return countGlObjects() - 2 * drawn; };
    const int before = count();
    {
        Presenter presenter(facts);
        const auto image = noise({64, 64}, true, 1);
        const auto showAndDraw = [&] {
            presenter.show(HostPicture(image));
            (void)draw(presenter, image->size());
            ++drawn;
        };
        for (int i = 0; i < 3; ++i) showAndDraw();
        const int shown = count();
        EXPECT_GT(shown, before);
        for (int i = 0; i < 20; ++i) showAndDraw();
        EXPECT_EQ(count(), shown);
        presenter.clear();
    }
    EXPECT_EQ(count(), before);
}

TEST_F(InteropTest, TellsItsDeviceOrNothing) {
    EXPECT_TRUE(facts.device.empty() || facts.device.size() == 16) << facts.device.size();
}

#ifdef MATTE_HAVE_CUDA

/// A picture that some engine would have left on the device.
class OnDevice final : public Picture {
public:
    explicit OnDevice(std::shared_ptr<const Image> image, bool opaque)
        : image_(std::move(image)), pixels_(image_->bytes()) {
        CUDA_CHECK(
            cudaMemcpyAsync(pixels_.data(), image_->row(0), image_->bytes(), cudaMemcpyHostToDevice, stream_.get()));
        ready_.record(stream_.get());
        device_.rgba = pixels_.data();
        device_.size = image_->size();
        device_.ready = ready_.get();
        device_.read = read_.get();
        device_.opaque = opaque;
    }
    ~OnDevice() override { cudaDeviceSynchronize(); }
    [[nodiscard]] Size size() const override { return image_->size(); }
    [[nodiscard]] std::shared_ptr<const Image> image() const override {
        ++fetched;
        return image_;
    }
    [[nodiscard]] const DevicePicture* device() const override { return &device_; }
    mutable int fetched = 0;

private:
    std::shared_ptr<const Image> image_;
    Stream stream_;
    DeviceBuffer pixels_;
    Event ready_, read_;
    DevicePicture device_;
};

struct CudaInteropTest : InteropTest {
    void SetUp() override {
        int devices = 0;
        const cudaError_t error = cudaGetDeviceCount(&devices);
        cudaGetLastError();
        if (error != cudaSuccess || devices == 0) GTEST_SKIP() << "no CUDA device: " << cudaGetErrorString(error);
        InteropTest::SetUp();
        if (!IsSkipped()) std::printf("drawn by %s\n", facts.renderer.c_str());
    }
};

TEST_F(CudaInteropTest, APictureComesFromTheDeviceWithoutPassingTheHost) {
    Presenter presenter(facts);
    const auto image = noise({1920, 1080}, true, 1);
    const OnDevice picture(image, true);
    presenter.show(picture);
    ASSERT_TRUE(presenter.path().interop) << presenter.path().reason;
    EXPECT_EQ(presenter.path().bytesUp, 0U);
    EXPECT_TRUE(same(*image, draw(presenter, image->size())));
    EXPECT_EQ(picture.fetched, 0);
}

TEST_F(CudaInteropTest, CudaKnowsTheDeviceThatDraws) {
    if (facts.renderer.find("NVIDIA") == std::string::npos) GTEST_SKIP() << "drawn by " << facts.renderer;
    const CudaStatus status = queryCuda();
    const auto draws = [this](const CudaDevice& device) { return device.uuid == facts.device; };
    EXPECT_EQ(std::ranges::count_if(status.devices, draws), 1);
}

TEST_F(CudaInteropTest, EqualsTheUploadPixelForPixelAlsoWithAlpha) {
    Presenter shared(facts), uploaded(facts, false);
    unsigned seed = 0;
    for (const Size size : {Size{1, 1}, Size{33, 17}, Size{640, 480}, Size{1280, 720}, Size{641, 479}}) {
        for (const bool opaque : {true, false}) {
            const OnDevice picture(noise(size, opaque, ++seed), opaque);
            shared.show(picture);
            uploaded.show(picture);
            ASSERT_TRUE(shared.path().interop) << shared.path().reason;
            EXPECT_EQ(uploaded.path().reason, "It was switched off");
            EXPECT_TRUE(same(draw(uploaded, size), draw(shared, size)));
        }
    }
}

TEST_F(CudaInteropTest, SurvivesTheLossOfItsContext) {
    const auto image = noise({64, 64}, true, 3);
    const OnDevice picture(image, true);
    for (int i = 0; i < 3; ++i) {
        {
            Presenter presenter(facts);
            presenter.show(picture);
            ASSERT_TRUE(presenter.path().interop) << presenter.path().reason;
            EXPECT_TRUE(same(*image, draw(presenter, {64, 64})));
        }
        context.reset();
        openContext();
    }
}

TEST_F(CudaInteropTest, ManyPicturesTakeNoMoreMemoryAndLittleTime) {
    Presenter presenter(facts);
    const OnDevice one(noise({1920, 1080}, true, 1), true), other(noise({1920, 1080}, true, 2), true);
    context->bindFramebuffer({1920, 1080});
    View view;
    view.width = 1920;
    view.height = 1080;
    std::vector<double> ms;
    std::size_t before = 0, after = 0, total = 0;
    constexpr int kWarmUp = 200, kPictures = 10000;
    for (int i = 0; i < kPictures; ++i) {
        if (i == kWarmUp) CUDA_CHECK(cudaMemGetInfo(&before, &total));
        const auto begin = std::chrono::steady_clock::now();
        presenter.show(i % 2 ? one : other);
        presenter.draw(view, {1920, 1080});
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
        if (i >= kWarmUp) ms.push_back(took.count());
    }
    (void)context->read();
    CUDA_CHECK(cudaMemGetInfo(&after, &total));
    EXPECT_LE(before, after + (1 << 20));
    std::sort(ms.begin(), ms.end());
    std::printf("show and draw, host ms: p50 %.4f, p95 %.4f, p99 %.4f\n", ms[ms.size() / 2], ms[ms.size() * 95 / 100],
                ms[ms.size() * 99 / 100]);
}

#endif

}  // namespace
}  // namespace matte::test
