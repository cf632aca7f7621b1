// SPDX-License-Identifier: Apache-2.0
// A photo comes out upright, once, whichever way the camera was held and whichever format it is in.
#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/media/image/image_file.h"
#include "tests/support/files/picture_file.h"

namespace matte {
namespace {

using test::Samples;

/// Where the stored picture's first row and first column belong, from EXIF 2.3, section 4.6.4 A, "Orientation".
struct Sides {
    char firstRow, firstColumn;
};
constexpr Sides kSides[9] = {{},         {'t', 'l'}, {'t', 'r'}, {'b', 'r'}, {'b', 'l'},
                             {'l', 't'}, {'r', 't'}, {'r', 'b'}, {'l', 'b'}};

/// How far from the start of the side's axis something lies that is `index` away from that side.
int placed(char side, int index, Size upright) {
    if (side == 'r') return upright.width - 1 - index;
    if (side == 'b') return upright.height - 1 - index;
    return index;
}

/// What a camera held that way stores for a scene that looks like `upright`.
Samples storedAs(const Samples& upright, int orientation) {
    const Sides sides = kSides[orientation];
    const bool turned = orientation >= 5;
    Samples stored = upright;
    if (turned) std::swap(stored.size.width, stored.size.height);
    stored.values.clear();
    for (int row = 0; row < stored.size.height; ++row) {
        for (int column = 0; column < stored.size.width; ++column) {
            const int alongRows = placed(sides.firstRow, row, upright.size);
            const int alongColumns = placed(sides.firstColumn, column, upright.size);
            const int x = turned ? alongRows : alongColumns, y = turned ? alongColumns : alongRows;
            for (int c = 0; c < upright.channels; ++c) stored.values.push_back(upright.at(x, y, c));
        }
    }
    return stored;
}

struct Format {
    const char* extension;
    int bits;
};

class Upright : public testing::TestWithParam<std::tuple<Format, int>> {};

TEST_P(Upright, Once) {
    const auto [format, orientation] = GetParam();
    Samples scene = test::sixAreas({48, 32});
    const auto file = test::withOrientation(test::encode(storedAs(scene, orientation), format.extension), orientation);
    const auto picture = decodeImage(file, "photo");
    ASSERT_EQ(picture->size(), scene.size);
    for (int y = 0; y < 32; ++y) {
        for (int x = 0; x < 48; ++x) {
            // JPEG smears colour over the edges of the areas.
            if (std::string(format.extension) == ".jpg" && (x % 16 < 2 || x % 16 > 13 || y % 16 < 2 || y % 16 > 13)) {
                continue;
            }
            for (int c = 0; c < 3; ++c) ASSERT_NEAR(picture->row(y)[x * 4 + c], scene.at(x, y, c), 3) << x << "," << y;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Formats,
    Upright,
    testing::Combine(testing::Values(Format{".jpg", 8}, Format{".png", 8}, Format{".webp", 8}, Format{".tif", 8}),
                     testing::Range(1, 9)),
    [](const auto& instance) {
        return std::string(std::get<0>(instance.param).extension + 1) + std::to_string(std::get<1>(instance.param));
    });

// OpenCV turns 16-bit TIFFs in another way than 8-bit ones.
TEST(Orientation, HoldsForDeepTiff) {
    for (int orientation = 1; orientation <= 8; ++orientation) {
        const Samples scene = test::testCard({5, 3}, 3, 16);
        const auto picture =
            decodeImage(test::withOrientation(test::encode(storedAs(scene, orientation), ".tif"), orientation), "deep");
        ASSERT_EQ(picture->size(), scene.size) << orientation;
        for (int y = 0; y < 3; ++y) {
            for (int x = 0; x < 5; ++x) {
                ASSERT_EQ(picture->row(y)[x * 4], (scene.at(x, y, 0) + 128) / 257) << orientation;
            }
        }
    }
}

TEST(Orientation, IsUprightWhenThereIsNone) {
    for (const char* extension : {".jpg", ".png", ".webp", ".tif", ".bmp"}) {
        EXPECT_EQ(decodeImage(test::encode(test::sixAreas({6, 4}), extension), "photo")->size(), (Size{6, 4}));
    }
}

TEST(Orientation, IsUprightWhenTheFieldMakesNoSense) {
    for (const char* extension : {".jpg", ".png", ".webp", ".tif"}) {
        for (const int nonsense : {0, 9, 255, 65535}) {
            const auto file = test::withOrientation(test::encode(test::sixAreas({6, 4}), extension), nonsense);
            EXPECT_EQ(decodeImage(file, "photo")->size(), (Size{6, 4})) << extension << ", " << nonsense;
        }
    }
}

TEST(Orientation, SurvivesAnyDamage) {
    const auto refuses = [](std::span<const std::uint8_t> file) {
        try {
            decodeImage(file, "photo");
            return false;
        } catch (const Error& error) {
            EXPECT_EQ(error.category, ErrorCategory::input);
            return true;
        }
    };
    for (const char* extension : {".jpg", ".png", ".webp", ".tif"}) {
        const auto file = test::withOrientation(test::encode(test::sixAreas({6, 4}), extension), 6);
        for (std::size_t at = 0; at < file.size(); ++at) {
            auto flipped = file;
            flipped[at] ^= 0xFF;
            refuses(flipped);
        }
        for (std::size_t size = 0; size < file.size() / 2; ++size) {
            EXPECT_TRUE(refuses(std::span(file).first(size))) << extension << " cut at " << size;
        }
    }
}

// Larger than the strips and tiles in which it is done, and no multiple of them.
TEST(Orientation, TurnsALargePictureByAQuarterClockwise) {
    Samples stored{{70, 33}, 4, 8, {}};
    for (int y = 0; y < 33; ++y) {
        for (int x = 0; x < 70; ++x) {
            for (const int value : {x, y, 0, x + y + 1}) stored.values.push_back(std::uint16_t(value));
        }
    }
    const auto upright = decodeImage(test::withOrientation(test::encode(stored, ".png"), 6), "photo");
    ASSERT_EQ(upright->size(), (Size{33, 70}));
    for (int y = 0; y < 70; ++y) {
        for (int x = 0; x < 33; ++x) {
            const std::uint8_t* pixel = upright->row(y) + std::ptrdiff_t(x) * 4;
            ASSERT_EQ(pixel[0], y);
            ASSERT_EQ(pixel[1], 32 - x);
            ASSERT_EQ(pixel[3], y + 32 - x + 1);
        }
    }
}

}  // namespace
}  // namespace matte
