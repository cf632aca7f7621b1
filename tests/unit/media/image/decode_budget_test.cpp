// SPDX-License-Identifier: Apache-2.0
// A few bytes that stand for a huge picture, or for hours of work, are refused; a real picture never is, however plain
// it is; and decoding ends when nobody waits for it any more.
#include <functional>

#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/media/image/bmp_decoder.h"
#include "inference/media/image/decode_budget.h"
#include "inference/media/image/image_file.h"
#include "inference/media/image/picture_decoder.h"
#include "tests/support/files/absurd_picture.h"
#include "tests/support/files/picture_file.h"

namespace matte {
namespace {

using test::FileBytes;

std::string refusal(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::input);
        return error.what();
    }
    return "";
}
std::string decodeRefusal(const FileBytes& file) {
    return refusal([&] { decodeImage(file, "bomb"); });
}

/// As libwebp writes it: the codes of a single colour have no bits, and nothing follows them however large it is.
FileBytes plainWebp(std::uint32_t width, std::uint32_t height) {
    constexpr std::size_t kSides = 21;  // 14 bits each, less one, and what else there is
    FileBytes file = test::encode({{1, 1}, 3, 8, {10, 20, 30}}, ".webp");
    std::uint32_t sides = 0;
    for (std::size_t i = 4; i-- > 0;) sides = sides << 8 | file.at(kSides + i);
    sides = (sides & 0xF0000000U) | (height - 1) << 14 | (width - 1);
    const FileBytes stored = test::littleEndian(sides, 4);
    std::copy(stored.begin(), stored.end(), file.begin() + kSides);
    return file;
}

TEST(PictureBomb, OfOneColourIsRefusedByItsSize) {
    const auto plain = decodeImage(plainWebp(900, 700), "plain");
    ASSERT_EQ(plain->size(), (Size{900, 700}));
    EXPECT_EQ(plain->row(699)[899 * 4 + 2], 30);
    const FileBytes bomb = plainWebp(14'000, 14'000);
    EXPECT_EQ(decodeRefusal(bomb), "bomb claims to be 14000x14000 pixels and has " + std::to_string(bomb.size()) +
                                       " bytes, too few for a photo: copy or download it again, or scale it down.");
}

TEST(PictureBomb, OfEmptyScansIsRefusedByItsSize) {
    const std::vector<FileBytes> scans(90, test::emptyScan(1, 0, 0));
    EXPECT_EQ(decodeRefusal(test::progressiveJpeg({8, 8}, scans)), "");
    const std::string said = decodeRefusal(test::progressiveJpeg({14'000, 14'000}, scans));
    EXPECT_NE(said.find("too few for a photo"), std::string::npos) << said;
}

// Neither libpng's own line nor "damaged".
TEST(PictureBomb, WithALongSideIsToldAsOne) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(decodeRefusal(test::pngClaiming(190, 1'048'576)),
              "bomb claims to be 190x1048576 pixels, which is too large: scale it to at most 1000000 pixels a side.");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// Deflate packs at most 1032 bytes into one, and a pixel may be a bit; libwebp's single colour is the plainest.
TEST(DecodeBudget, GrantsTheLargestPictureOfEachFormat) {
    const Size largest{20'000, 10'000};
    const auto begin = [](std::size_t fileBytes, Size size) {
        return DecodeBudget(std::string(), fileBytes, {}).begin(std::uint64_t(size.width), std::uint64_t(size.height));
    };
    EXPECT_EQ(begin(largest.pixels() / 8 / 1032, largest), largest);
    EXPECT_EQ(begin(7'692, {16'383, 12'200}), (Size{16'383, 12'200}));
    EXPECT_NE(refusal([&] { begin(100, largest); }), "");
}

// Each format, with a budget that may be spent before it begins.
void eachFormat(DecodeBudget& budget, const std::function<void(const char*, const std::function<Image()>&)>& visit) {
    const test::Samples card = test::testCard({61, 43}, 3, 8);
    for (const char* extension : {".jpg", ".png", ".webp", ".tif"}) {
        const FileBytes file = test::encode(card, extension);
        visit(extension, [&] { return decodePicture(file, budget); });
    }
    const FileBytes bmp = test::encode(card, ".bmp");
    visit(".bmp", [&] { return decodeBmp(bmp, budget); });
}

TEST(DecodeBudget, StopsEachFormat) {
    std::stop_source work;
    DecodeBudget budget("photo", 10'000, work.get_token());
    eachFormat(budget, [](const char* format, const auto& decode) { EXPECT_NO_THROW(decode()) << format; });
    work.request_stop();
    eachFormat(budget, [](const char* format, const auto& decode) { EXPECT_THROW(decode(), Cancelled) << format; });
    const FileBytes bmp = test::encode(test::testCard({61, 43}, 3, 8), ".bmp");
    EXPECT_THROW(decodeImage(bmp, "photo", work.get_token()), Cancelled);
}

TEST(DecodeBudget, EndsWithTheTimeThatAPictureMayTake) {
    DecodeBudget budget("photo", 10'000, {}, -1);
    eachFormat(budget, [](const char* format, const auto& decode) {
        EXPECT_EQ(refusal([&] { decode(); }), "photo takes too long to decode: save it again as PNG, or scale it down.")
            << format;
    });
}

}  // namespace
}  // namespace matte
