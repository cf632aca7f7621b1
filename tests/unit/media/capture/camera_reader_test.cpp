// SPDX-License-Identifier: Apache-2.0
// What every camera does with its pictures: copied or decoded, numbered, the newest wins, silence is noticed.
#include <atomic>
#include <cstring>
#include <functional>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/media/capture/camera_reader.h"
#include "inference/media/frame_convert.h"
#include "tests/support/files/model_file.h"
#include "tests/support/files/picture_file.h"
#include "tests/support/running/paced.h"

namespace matte {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::uint8_t>;
using Clock = std::chrono::steady_clock;

struct Reader {
    explicit Reader(const CaptureChoice& choice, CameraReader::Patience patience = stallTime)
        : reader("Cam", choice, {}, std::move(patience)) {
        reader.setFormat(choice);
    }
    void deliver(const Bytes& bytes, std::ptrdiff_t stride = 0) { reader.deliver(bytes, stride, Clock::now()); }
    CameraReader reader;
};

/// Bytes that count upwards, so that every one of them can be found again.
Bytes counting(std::size_t size) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = std::uint8_t(i * 7 + i / 251);
    return bytes;
}

TEST(CopyRaw, KeepsYuvAndTurnsRgbRound) {
    const Size size{6, 4};
    const Bytes yuyv = counting(6 * 2 * 4);
    Image frame(size, PixelFormat::yuyv);
    ASSERT_TRUE(copyRaw({Encoding::yuyv, size, yuyv, 12}, frame));
    EXPECT_EQ(std::memcmp(frame.row(0), yuyv.data(), yuyv.size()), 0);
    ASSERT_TRUE(copyRaw({Encoding::uyvy, size, yuyv, 12}, frame));
    EXPECT_EQ(frame.row(1)[0], yuyv[13]);
    EXPECT_EQ(frame.row(1)[1], yuyv[12]);

    const Bytes rgb = counting(6 * 3 * 4);
    Image bgr(size, PixelFormat::bgr8);
    ASSERT_TRUE(copyRaw({Encoding::rgb, size, rgb, 18}, bgr));
    EXPECT_EQ(bgr.row(2)[3], rgb[2 * 18 + 5]);
    ASSERT_TRUE(copyRaw({Encoding::bgr, size, rgb, 18}, bgr));
    EXPECT_EQ(bgr.row(2)[3], rgb[2 * 18 + 3]);

    const Bytes bgra = counting(6 * 4 * 4);
    Image rgba(size, PixelFormat::rgba8);
    ASSERT_TRUE(copyRaw({Encoding::bgra, size, bgra, 24}, rgba));
    EXPECT_EQ(rgba.row(3)[4], bgra[3 * 24 + 6]);
    EXPECT_EQ(rgba.row(3)[7], 255);
}

TEST(CopyRaw, ReadsPlanesOfOddSizesWithPadding) {
    const Size size{5, 3};
    const std::ptrdiff_t stride = 8;
    const Bytes nv12 = counting(8 * 3 + 8 * 2);
    Image frame(size, PixelFormat::nv12);
    ASSERT_TRUE(copyRaw({Encoding::nv12, size, nv12, stride}, frame));
    EXPECT_EQ(frame.row(2)[4], nv12[2 * 8 + 4]);
    EXPECT_EQ(frame.row(3)[5], nv12[3 * 8 + 5]) << "the last V of the first row of colours";
    EXPECT_EQ(frame.row(4)[0], nv12[4 * 8]);
    const Bytes i420 = counting(8 * 3 + 4 * 2 + 4 * 2);
    ASSERT_TRUE(copyRaw({Encoding::i420, size, i420, stride}, frame));
    EXPECT_EQ(frame.row(1)[4], i420[8 + 4]);
    EXPECT_EQ(frame.row(4)[2], i420[24 + 4 + 1]) << "U";
    EXPECT_EQ(frame.row(4)[3], i420[24 + 8 + 4 + 1]) << "V";
}

/// The smallest buffer that is enough is taken, without a byte behind it being read (ASan watches), and one less isn't.
TEST(CopyRaw, NeverReadsBehindTheBuffer) {
    for (const Encoding encoding : {Encoding::yuyv, Encoding::uyvy, Encoding::nv12, Encoding::i420, Encoding::bgr,
                                    Encoding::rgb, Encoding::bgra, Encoding::rgba}) {
        for (const Size size : {Size{1, 1}, Size{5, 3}, Size{8, 2}}) {
            for (const std::ptrdiff_t padding : {0, 3}) {
                const auto stride = packedRawStride(encoding, size.width) + padding;
                const std::size_t enough = rawBytes(encoding, size, stride);
                Image frame(size, frameFormat(encoding));
                const Bytes bytes = counting(enough), less = counting(enough - 1);
                EXPECT_TRUE(copyRaw({encoding, size, bytes, stride}, frame)) << nameOf(encoding) << size.width;
                EXPECT_FALSE(copyRaw({encoding, size, less, stride}, frame)) << nameOf(encoding) << size.width;
                EXPECT_FALSE(copyRaw({encoding, size, bytes, stride - padding - 1}, frame));
                EXPECT_FALSE(copyRaw({encoding, size, bytes, -stride}, frame));
            }
        }
    }
    Image frame({4, 4}, PixelFormat::yuyv);
    EXPECT_FALSE(copyRaw({Encoding::yuyv, {8, 4}, counting(1000), 16}, frame)) << "another size";
    EXPECT_FALSE(copyRaw({Encoding::nv12, {4, 4}, counting(1000), 16}, frame)) << "another format";
    EXPECT_THROW((void)frameFormat(Encoding::other), Error);
}

TEST(CameraReader, TheNewestPictureWinsAndTheNumbersCountTheLost) {
    Reader r({Encoding::yuyv, {2, 2}, 30});
    r.deliver(Bytes(8, 1));
    r.deliver(Bytes(8, 2));
    r.deliver(Bytes(7, 9));  // too short: lost
    r.reader.skip();
    r.deliver(Bytes(8, 3));
    const auto frame = r.reader.read({});
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->number, 4U);
    EXPECT_EQ(frame->image->row(0)[0], 3);
    EXPECT_EQ(r.reader.info().format, "YUYV");
}

TEST(CameraReader, ManyHeldFramesMeanLostOnesNotMemory) {
    Reader r({Encoding::yuyv, {2, 2}, 30});
    std::vector<Frame> held;
    for (int i = 0; i < 7; ++i) {
        r.deliver(Bytes(8, std::uint8_t(i)));
        held.push_back(*r.reader.read({}));
    }
    for (int i = 7; i < 20; ++i) r.deliver(Bytes(8, std::uint8_t(i)));
    EXPECT_EQ(held[3].image->row(0)[0], 3) << "what is held does not change";
    held.clear();
    r.deliver(Bytes(8, 99));
    EXPECT_EQ(r.reader.read({})->image->row(0)[0], 99);
}

/// The sentence of the loss that read() throws.
std::string lossOf(Reader& r) {
    try {
        while (r.reader.read({})) continue;
        ADD_FAILURE() << "it ended";
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::source);
        return error.what();
    }
    return "";
}

/// Three seconds at least: cameras give a frame or two a second in the dark.
TEST(CameraReader, BearsFiveMissingFramesAndThreeSeconds) {
    EXPECT_EQ(stallTime(30), 3s);
    EXPECT_EQ(stallTime(1), 5s);
    EXPECT_EQ(stallTime(0), 3s);
    EXPECT_EQ(stallTime(0.01), 10s);
}

TEST(CameraReader, SilenceIsALossAndFramesMayComeAgain) {
    Reader r({Encoding::yuyv, {2, 2}, 30});
    r.deliver(Bytes(8, 1));
    ASSERT_TRUE(r.reader.read({}));
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_NE(lossOf(r).find("no pictures"), std::string::npos);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 2990ms);
    r.deliver(Bytes(8, 2));
    EXPECT_TRUE(r.reader.read({}));
}

/// It waits no shorter than it is told to, for the rate that was agreed on.
TEST(CameraReader, SlowPicturesInTheDarkAreNoLoss) {
    std::promise<void> waits;
    std::vector<double> rates;
    Reader r({Encoding::yuyv, {2, 2}, 30}, [&](double rate) {
        rates.push_back(rate);
        waits.set_value();  // only now may the camera go on
        return 1h;
    });
    r.deliver(Bytes(8, 1));
    ASSERT_TRUE(r.reader.read({}));
    const std::jthread camera([&] {
        waits.get_future().wait();
        r.deliver(Bytes(8, 2));
    });
    const auto frame = r.reader.read({});
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->number, 1U);
    EXPECT_EQ(rates, std::vector{30.0});
}

/// What read() throws while the camera's thread goes on sending `bytes`.
std::string lossWhileSending(Reader& r, const Bytes& bytes) {
    const std::jthread camera = test::every(10ms, [&] { r.deliver(bytes); });
    return lossOf(r);
}

/// They never stop coming, and reading must not wait for ever: the camera counts as lost, and may be opened again.
TEST(CameraReader, PicturesThatAreAllDamagedAreALoss) {
    const Bytes jpeg = test::encode(test::testCard({64, 48}, 3, 8), ".jpg");
    Reader mjpg({Encoding::mjpg, {64, 48}, 30});
    mjpg.deliver(jpeg);
    ASSERT_TRUE(mjpg.reader.read({}));
    const auto begin = std::chrono::steady_clock::now();
    const std::string sentence = lossWhileSending(mjpg, Bytes(jpeg.begin(), jpeg.begin() + long(jpeg.size() / 2)));
    EXPECT_EQ(sentence,
              "All pictures of the camera Cam come damaged: unplug it and plug it in again, or choose another size or "
              "format.");
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 2990ms);
    mjpg.deliver(jpeg);
    EXPECT_TRUE(mjpg.reader.read({})) << "it may go on by itself";

    Reader raw({Encoding::yuyv, {2, 2}, 30});
    raw.deliver(Bytes(8));
    ASSERT_TRUE(raw.reader.read({}));
    EXPECT_EQ(lossWhileSending(raw, Bytes(7)), sentence);
    raw.reader.skipDamaged();
    EXPECT_EQ(lossWhileSending(raw, {}), sentence);
}

TEST(CameraReader, RefusesFormatsThatCantBe) {
    CameraReader reader("Cam", {Encoding::yuyv, {640, 480}, 30}, {});
    const auto refuses = [&](Encoding encoding, Size size, std::ptrdiff_t stride) {
        try {
            reader.setFormat({encoding, size, 30}, stride);
            return false;
        } catch (const Error& error) {
            EXPECT_EQ(error.category, ErrorCategory::source);
            return std::string(error.what()).ends_with("can't be held: choose another size or format.");
        }
    };
    EXPECT_FALSE(refuses(Encoding::yuyv, {640, 480}, 0));
    EXPECT_FALSE(refuses(Encoding::yuyv, {640, 480}, 1280));
    EXPECT_TRUE(refuses(Encoding::yuyv, {640, 480}, 1279));
    EXPECT_TRUE(refuses(Encoding::nv12, {640, 480}, -640));
    EXPECT_TRUE(refuses(Encoding::yuyv, {0, 480}, 0));
    EXPECT_TRUE(refuses(Encoding::mjpg, {640, -1}, 0));
    EXPECT_TRUE(refuses(Encoding::mjpg, {16384, 16384}, 0));
    reader.deliver(Bytes(640 * 480 * 2), 0, Clock::now());
    EXPECT_EQ(reader.info().size, (Size{640, 480}));
}

TEST(CameraReader, ALossIsToldAtOnceAndForGood) {
    Reader r({Encoding::yuyv, {2, 2}, 30});
    r.reader.lose("first.");
    r.reader.lose("second.");
    for (int i = 0; i < 2; ++i) {
        try {
            (void)r.reader.read({});
            ADD_FAILURE();
        } catch (const Error& error) {
            EXPECT_STREQ(error.what(), "first.");
        }
    }
    EXPECT_THROW(r.reader.waitUntilReady(1s, {}), Error);
}

TEST(CameraReader, WaitsForTheFirstPicture) {
    Reader r({Encoding::yuyv, {2, 2}, 30});
    EXPECT_THROW(r.reader.waitUntilReady(50ms, {}), Error);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(r.reader.waitUntilReady(1s, stop.get_token()), Cancelled);
    const std::jthread camera([&] { r.deliver(Bytes(8, 1)); });
    EXPECT_NO_THROW(r.reader.waitUntilReady(10s, {}));
}

Bytes jpegOf(Size size) {
    return test::encode(test::testCard(size, 3, 8), ".jpg");
}

/// Many cameras leave out the Huffman tables, which are the same in each picture.
Bytes withoutTables(const Bytes& jpeg) {
    Bytes out(jpeg.begin(), jpeg.begin() + 2);
    std::size_t at = 2;
    while (at + 4 <= jpeg.size() && jpeg[at + 1] != 0xda) {
        const std::size_t length = 2 + std::size_t(jpeg[at + 2]) * 256 + jpeg[at + 3];
        if (jpeg[at + 1] != 0xc4) out.insert(out.end(), jpeg.begin() + long(at), jpeg.begin() + long(at + length));
        at += length;
    }
    out.insert(out.end(), jpeg.begin() + long(at), jpeg.end());
    return out;
}

TEST(CameraReader, DecodesMjpgWithAndWithoutItsTables) {
    const Size size{64, 48};
    const Bytes jpeg = jpegOf(size), bare = withoutTables(jpeg);
    ASSERT_LT(bare.size(), jpeg.size());
    Reader r({Encoding::mjpg, size, 30});
    r.deliver(jpeg);
    const auto whole = r.reader.read({});
    ASSERT_TRUE(whole);
    ASSERT_EQ(whole->image->format(), PixelFormat::rgba8);
    ASSERT_EQ(whole->image->size(), size);
    r.deliver(bare);
    const auto again = r.reader.read({});
    ASSERT_TRUE(again);
    EXPECT_EQ(std::memcmp(whole->image->row(0), again->image->row(0), whole->image->bytes()), 0);
}

TEST(CameraReader, TakesJpegsWithoutAnEndMarker) {
    const Bytes jpeg = jpegOf({64, 48});
    Reader r({Encoding::mjpg, {64, 48}, 30});
    for (int i = 0; i < 3; ++i) {
        r.deliver(Bytes(jpeg.begin(), jpeg.end() - (i % 2 == 0 ? 2 : 0)));
        const auto frame = r.reader.read({});
        ASSERT_TRUE(frame);
        EXPECT_EQ(frame->number, std::uint64_t(i));
    }
}

/// Every size that a picture may break off at, without and with a good one behind it.
TEST(CameraReader, LeavesOutJpegsThatAreDamaged) {
    const Bytes jpeg = jpegOf({64, 48});
    std::atomic<bool> isPatient = false;
    Reader r({Encoding::mjpg, {64, 48}, 30}, [&](double) { return isPatient ? 1h : 0h; });
    r.deliver(jpeg);
    ASSERT_TRUE(r.reader.read({}));
    for (const std::size_t size : {std::size_t(0), std::size_t(1), std::size_t(3), jpeg.size() / 3, jpeg.size() - 40}) {
        const Bytes damaged(jpeg.begin(), jpeg.begin() + long(size));
        isPatient = false;
        r.deliver(damaged);
        EXPECT_NE(lossOf(r).find("come damaged"), std::string::npos) << size << ": what arrived is looked at";
        isPatient = true;
        r.deliver(damaged);
        const std::jthread camera = test::every(5ms, [&, n = 0]() mutable { r.deliver(n++ < 4 ? damaged : jpeg); });
        const auto frame = r.reader.read({});
        ASSERT_TRUE(frame);
        EXPECT_EQ(frame->image->size(), (Size{64, 48})) << size;
    }
}

}  // namespace
}  // namespace matte
