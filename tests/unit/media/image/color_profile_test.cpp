// SPDX-License-Identifier: Apache-2.0
// Pictures with a colour profile come out in sRGB, whichever format carries it; a profile that is damaged or not the
// picture's changes nothing.
#include <array>
#include <cmath>
#include <cstring>
#include <memory>

#include <gtest/gtest.h>
#include <lcms2.h>

#include "inference/media/image/image_file.h"
#include "tests/support/files/picture_file.h"

namespace matte {
namespace {

using test::FileBytes;
using test::Samples;

/// The bytes of a profile that Little CMS made, which is closed.
FileBytes saved(cmsHPROFILE profile) {
    cmsUInt32Number bytes = 0;
    cmsSaveProfileToMem(profile, nullptr, &bytes);
    FileBytes file(bytes);
    cmsSaveProfileToMem(profile, file.data(), &bytes);
    cmsCloseProfile(profile);
    return file;
}

/// Of the photos that most telephones take: the primaries of SMPTE RP 431-2, the white and the curve of sRGB.
FileBytes displayP3() {
    const cmsCIExyY white{0.3127, 0.3290, 1};
    const cmsCIExyYTRIPLE primaries{{0.680, 0.320, 1}, {0.265, 0.690, 1}, {0.150, 0.060, 1}};
    const std::array<cmsFloat64Number, 5> curve{2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    cmsToneCurve* tone = cmsBuildParametricToneCurve(nullptr, 4, curve.data());
    const std::array<cmsToneCurve*, 3> tones{tone, tone, tone};
    const cmsHPROFILE profile = cmsCreateRGBProfile(&white, &primaries, tones.data());
    cmsFreeToneCurve(tone);
    return saved(profile);
}

double decoded(double value) {
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}
double encoded(double light) {
    light = std::min(std::max(light, 0.0), 1.0);
    return light <= 0.0031308 ? light * 12.92 : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
}

/// The oracle: both matrices of the primaries above and of ITU-R BT.709, by SMPTE RP 177, multiplied.
std::array<int, 3> srgbOfP3(const std::array<int, 3>& color) {
    constexpr double kMatrix[3][3] = {{1.2249401763, -0.2249401763, 0},
                                      {-0.0420569547, 1.0420569547, 0},
                                      {-0.0196375546, -0.0786360456, 1.0982736001}};
    std::array<int, 3> result{};
    for (std::size_t row = 0; row < 3; ++row) {
        double light = 0;
        for (std::size_t c = 0; c < 3; ++c) light += kMatrix[row][c] * decoded(color[c] / 255.0);
        result[row] = int(std::lround(encoded(light) * 255));
    }
    return result;
}

struct Kind {
    const char* extension;
    int channels, bits;
};

/// Every mixture of six steps, 8x27 pixels of it for JPEG, which smears from one pixel to the next.
Samples mixtures(const Kind& kind) {
    const bool smears = std::string(kind.extension) == ".jpg";
    const int side = smears ? 16 : 1;
    Samples card{{18 * side, 12 * side}, kind.channels, kind.bits, {}};
    for (int y = 0; y < card.size.height; ++y) {
        for (int x = 0; x < card.size.width; ++x) {
            const int color = y / side * 18 + x / side;
            for (const int step : {color % 6, color / 6 % 6, color / 36}) {
                card.values.push_back(std::uint16_t(step * (kind.bits == 16 ? 13107 : 51)));
            }
            if (kind.channels == 4) card.values.push_back(std::uint16_t(color + 1));
        }
    }
    return card;
}

class WideGamut : public testing::TestWithParam<Kind> {};

TEST_P(WideGamut, BecomesSrgb) {
    const Kind kind = GetParam();
    const Samples card = mixtures(kind);
    const int side = card.size.width / 18;
    const auto picture = decodeImage(test::withColorProfile(test::encode(card, kind.extension), displayP3()), "photo");
    ASSERT_EQ(picture->size(), card.size);
    for (int y = side / 2; y < card.size.height; y += side) {
        for (int x = side / 2; x < card.size.width; x += side) {
            std::array<int, 3> color{};
            for (int c = 0; c < 3; ++c) color[std::size_t(c)] = card.at(x, y, c) / (kind.bits == 16 ? 257 : 1);
            const auto wanted = srgbOfP3(color);
            const std::uint8_t* pixel = picture->row(y) + std::ptrdiff_t(x) * 4;
            for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(pixel[c], wanted[c], side > 1 ? 4 : 1) << x << "," << y;
            EXPECT_EQ(pixel[3], kind.channels == 4 ? card.at(x, y, 3) : 255);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Formats,
                         WideGamut,
                         testing::Values(Kind{".jpg", 3, 8},
                                         Kind{".png", 3, 8},
                                         Kind{".png", 4, 8},
                                         Kind{".png", 3, 16},
                                         Kind{".tif", 3, 8},
                                         Kind{".tif", 3, 16},
                                         Kind{".webp", 3, 8}),
                         [](const auto& instance) {
                             return std::string(instance.param.extension + 1) +
                                    std::to_string(instance.param.channels) + "x" + std::to_string(instance.param.bits);
                         });

bool isSame(const Image& a, const Image& b) {
    return a.size() == b.size() && std::memcmp(a.row(0), b.row(0), a.bytes()) == 0;
}

/// `file` looks as `plain` does, which has no profile.
void expectAsStored(const FileBytes& file, const FileBytes& plain, const std::string& what) {
    EXPECT_TRUE(isSame(*decodeImage(file, "photo"), *decodeImage(plain, "photo"))) << what;
}

void expectNoUse(const FileBytes& profile, const std::string& what) {
    const FileBytes plain = test::encode(test::testCard({61, 83}, 3, 8), ".png");
    expectAsStored(test::withColorProfile(plain, profile), plain, what);
}

TEST(ColorProfile, OfSrgbItselfLeavesEveryPixel) {
    expectNoUse(saved(cmsCreate_sRGBProfile()), "sRGB");
}

TEST(ColorProfile, ThatIsNoUseChangesNothing) {
    FileBytes cut = displayP3();
    cut.resize(cut.size() / 2);
    expectNoUse(cut, "cut off");
    expectNoUse(test::bytesOf("not a profile"), "text");
    expectNoUse({}, "empty");
    cmsToneCurve* tone = cmsBuildGamma(nullptr, 1.0);
    expectNoUse(saved(cmsCreateGrayProfile(cmsD50_xyY(), tone)), "grey");
    cmsFreeToneCurve(tone);
    expectNoUse(saved(cmsCreateLab4Profile(nullptr)), "Lab");
}

// An APP2 segment holds 64 kB, and profiles of presses are larger.
TEST(ColorProfile, SpreadOverSegmentsIsJoined) {
    const FileBytes jpeg = test::encode(test::sixAreas({48, 32}), ".jpg");
    const auto whole = decodeImage(test::withColorProfile(jpeg, displayP3()), "photo");
    EXPECT_FALSE(isSame(*whole, *decodeImage(jpeg, "photo")));
    EXPECT_TRUE(isSame(*whole, *decodeImage(test::withColorProfile(jpeg, displayP3(), 100), "photo")));
}

// Editors that know APP2 only as something to skip cut such files in two.
TEST(ColorProfile, WithAPartMissingIsNone) {
    const FileBytes profile = displayP3(), plain = test::encode(test::sixAreas({48, 32}), ".jpg");
    FileBytes file = test::withColorProfile(plain, profile, 100);
    const std::uint32_t first = 2 + 2 + 14 + std::uint32_t((profile.size() - 1) % 100 + 1);  // of the last part
    file.erase(file.begin() + 2, file.begin() + 2 + std::ptrdiff_t(first));
    expectAsStored(file, plain, "cut");
}

TEST(ColorProfile, TooLargeToBeOneIsNone) {
    FileBytes huge = displayP3();
    huge.resize(5 << 20);
    const FileBytes size = test::bigEndian(5 << 20, 4);  // which a profile begins with
    std::copy(size.begin(), size.end(), huge.begin());
    for (const char* extension : {".png", ".tif", ".webp"}) {
        const FileBytes plain = test::encode(test::testCard({5, 4}, 3, 8), extension);
        expectAsStored(test::withColorProfile(plain, huge), plain, extension);
    }
}

FileBytes linearGrey() {
    cmsToneCurve* tone = cmsBuildGamma(nullptr, 1.0);
    const cmsHPROFILE profile = cmsCreateGrayProfile(cmsD50_xyY(), tone);
    cmsFreeToneCurve(tone);
    return saved(profile);
}

TEST(ColorProfile, OfGreyIsFollowedInEachDepth) {
    for (const auto& [extension, bits] : {std::pair{".png", 8}, {".png", 16}, {".tif", 8}, {".tif", 16}}) {
        const Samples card = test::testCard({61, 83}, 1, bits);
        const auto picture = decodeImage(test::withColorProfile(test::encode(card, extension), linearGrey()), "photo");
        for (int y = 0; y < card.size.height; ++y) {
            for (int x = 0; x < card.size.width; ++x) {
                const double wanted = encoded(card.at(x, y, 0) / (bits == 16 ? 65535.0 : 255.0)) * 255;
                for (int c = 0; c < 3; ++c) ASSERT_NEAR(picture->row(y)[x * 4 + c], wanted, 1) << extension << bits;
            }
        }
    }
}

// 16 bits hold shadows that eight bits of light do not: they are shown, each darker than the next.
TEST(ColorProfile, IsFollowedBeforeTheDepthIsCut) {
    Samples ramp{{64, 1}, 1, 16, {}};
    for (int i = 0; i < 64; ++i) {
        ramp.values.push_back(std::uint16_t(std::lround(decoded(i / 255.0) * 65535)));
    }
    const auto picture = decodeImage(test::withColorProfile(test::encode(ramp, ".png"), linearGrey()), "ramp");
    for (int i = 0; i < 64; ++i) EXPECT_NEAR(picture->row(0)[i * 4], i, 1);
    EXPECT_GT(picture->row(0)[20 * 4], picture->row(0)[18 * 4]);
}

/// Of a press whose four inks each take a quarter of the lightness away, whatever the eye sees.
FileBytes greyPress() {
    const cmsHPROFILE profile = cmsCreateProfilePlaceholder(nullptr);
    cmsSetProfileVersion(profile, 2.1);
    cmsSetDeviceClass(profile, cmsSigOutputClass);
    cmsSetColorSpace(profile, cmsSigCmykData);
    cmsSetPCS(profile, cmsSigLabData);
    cmsPipeline* pipeline = cmsPipelineAlloc(nullptr, 4, 3);
    cmsStage* table = cmsStageAllocCLut16bit(nullptr, 2, 4, 3, nullptr);
    const auto fill = [](const cmsUInt16Number inks[], cmsUInt16Number lab[], void*) -> cmsInt32Number {
        double free = 4;
        for (int i = 0; i < 4; ++i) free -= inks[i] / 65535.0;
        lab[0] = cmsUInt16Number(std::lround(free / 4 * 0xFF00));  // the second version's scale: FF00 is 100
        lab[1] = lab[2] = 0x8000;
        return 1;
    };
    cmsStageSampleCLut16bit(table, fill, nullptr, 0);
    cmsPipelineInsertStage(pipeline, cmsAT_END, table);
    cmsWriteTag(profile, cmsSigAToB0Tag, pipeline);
    cmsPipelineFree(pipeline);
    return saved(profile);
}

TEST(ColorProfile, OfAPressTakesInksForLight) {
    const auto picture = decodeImage(test::withColorProfile(test::cmykJpeg(), greyPress()), "print");
    const double lightness = (25 + 150 + 250 + 204) / 4.0 / 255 * 100;
    const double grey = encoded(std::pow((lightness + 16) / 116, 3)) * 255;  // CIE 15:2004, 8.2.1.1
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(picture->row(4)[4 * 4 + c], grey, 3);
    EXPECT_EQ(picture->row(4)[4 * 4 + 3], 255);
}

TEST(ColorProfile, OfColoursIsNoUseToInks) {
    const FileBytes plain = test::cmykJpeg();
    expectAsStored(test::withColorProfile(plain, displayP3()), plain, "inks");
}

}  // namespace
}  // namespace matte
