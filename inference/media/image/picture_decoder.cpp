// SPDX-License-Identifier: Apache-2.0
#include "inference/media/image/picture_decoder.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <vips/vips8>

#include "inference/core/error.h"
#include "inference/core/parallel.h"
#include "inference/media/image/bytes.h"
#include "inference/media/image/color_converter.h"
#include "inference/media/image/vips_library.h"

namespace matte {
namespace {

using vips::VImage;

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
    throw Error(ErrorCategory::input, name + what);
}

/// How a file of a format begins, and the operation of libvips that reads it.
struct Format {
    std::size_t at;
    std::string_view magic;
    const char* reader;
};
constexpr char kJpegReader[] = "jpegload_buffer", kPngReader[] = "pngload_buffer", kTiffReader[] = "tiffload_buffer";
constexpr std::array<Format, 13> kFormats{{{0, "\xFF\xD8\xFF", kJpegReader},
                                           {0, "\x89PNG\r\n\x1A\n", kPngReader},
                                           {8, "WEBPVP8", "webpload_buffer"},
                                           {0, {"II\x2A\0", 4}, kTiffReader},
                                           {0, {"MM\0\x2A", 4}, kTiffReader},
                                           {0, {"II\x2B\0", 4}, kTiffReader},
                                           {0, {"MM\0\x2B", 4}, kTiffReader},
                                           {4, "ftypheic", "heifload_buffer"},
                                           {4, "ftypheix", "heifload_buffer"},
                                           {4, "ftypmif1", "heifload_buffer"},
                                           {4, "ftypavif", "heifload_buffer"},
                                           {0, "GIF87a", "gifload_buffer"},
                                           {0, "GIF89a", "gifload_buffer"}}};

/// Empty when the bytes are of none of the formats.
std::string_view readerOf(std::span<const std::uint8_t> bytes) {
    const auto format = std::find_if(kFormats.begin(), kFormats.end(),
                                     [&](const Format& its) { return Bytes(bytes).is(its.at, its.magic); });
    return format == kFormats.end() ? std::string_view() : format->reader;
}

/// libjpeg shows grey where a component has no scan, or a progressive one not the scan of its blocks' means, and says
/// nothing; and a file that repeats its scans can keep it busy for hours, where real ones have about ten. ITU-T T.81,
/// annex B.
bool hasFitScans(std::span<const std::uint8_t> bytes) {
    constexpr int kMaxScans = 100;
    const Bytes file(bytes);
    std::array<bool, 256> isMissing{};
    int scans = 0;
    for (std::uint64_t at = 2; file.has(at, 2) && !file.is(at, "\xFF\xD9");) {
        const std::uint32_t marker = file.big(at + 1, 1);
        if (file.big(at, 1) != 0xFF || marker < 0xC0 || marker == 0xFF || (marker >= 0xD0 && marker <= 0xD8)) {
            ++at;  // within a scan, or between two segments
            continue;
        }
        const bool isFrame = marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
        if (isFrame) {
            for (std::uint32_t i = 0; i < file.big(at + 9, 1); ++i) isMissing[file.big(at + 10 + 3 * i, 1)] = true;
        } else if (marker == 0xDA) {
            const std::uint32_t count = file.big(at + 4, 1);
            const bool hasMeans = file.big(at + 5 + 2 * count, 1) == 0;
            for (std::uint32_t i = 0; hasMeans && i < count; ++i) isMissing[file.big(at + 5 + 2 * i, 1)] = false;
            if (++scans > kMaxScans) return false;
        }
        at += 2 + std::max<std::uint32_t>(file.big(at + 2, 2), 2);
    }
    return std::find(isMissing.begin(), isMissing.end(), true) == isMissing.end();
}

VImage open(std::span<const std::uint8_t> bytes, const char* part = nullptr, int number = 0) {
    VImage image;
    // libvips takes no const data, and changes none.
    VipsBlob* blob = vips_blob_new(nullptr, const_cast<std::uint8_t*>(bytes.data()), bytes.size());
    vips::VOption* options = VImage::option();
    options->set("buffer", blob)->set("out", &image);
    options->set("access", VIPS_ACCESS_SEQUENTIAL)->set("fail_on", VIPS_FAIL_ON_ERROR);
    if (part) options->set(part, number);
    vips_area_unref(VIPS_AREA(blob));  // which the options hold
    VImage::call(readerOf(bytes).data(), options);
    return image;
}

int countOf(const VImage& image, const char* field) {
    return image.get_typeof(field) != 0 ? image.get_int(field) : 0;
}

/// A TIFF, which a raw photo is, too, may begin with a preview of its picture.
VImage openLargest(std::span<const std::uint8_t> bytes) {
    constexpr int kMostParts = 32;  // those beyond are a document's
    const VImage first = open(bytes);
    VImage largest = first;
    const auto look = [&](const char* part, int begin, int end) {
        for (int i = begin; i < std::min(end, kMostParts); ++i) {
            const VImage other = open(bytes, part, i);
            const auto pixels = [](const VImage& image) { return std::int64_t(image.width()) * image.height(); };
            if (pixels(other) > pixels(largest)) largest = other;
        }
    };
    look("page", 1, countOf(first, VIPS_META_N_PAGES));
    look("subifd", 0, countOf(first, VIPS_META_N_SUBIFDS));
    return largest;
}

/// Throws Error(input) for what is not a picture's.
SampleLayout layoutOf(const VImage& image, const std::string& name) {
    SampleLayout layout;
    layout.isDeep = image.format() == VIPS_FORMAT_USHORT;
    if (image.format() != VIPS_FORMAT_UCHAR && !layout.isDeep) {
        refuse(name,
               " holds signed, 32-bit or floating-point samples, which are not supported: save it with 8 or 16 bits a "
               "channel.");
    }
    switch (image.interpretation()) {
        case VIPS_INTERPRETATION_B_W:
        case VIPS_INTERPRETATION_GREY16: layout.colors = 1; break;
        case VIPS_INTERPRETATION_sRGB:
        case VIPS_INTERPRETATION_RGB:
        case VIPS_INTERPRETATION_RGB16: layout.colors = 3; break;
        case VIPS_INTERPRETATION_CMYK: layout.colors = 4; break;
        default: layout.colors = 0;
    }
    layout.hasAlpha = image.bands() == layout.colors + 1;
    if (layout.colors == 0 || image.bands() != layout.channels()) {
        refuse(name, " holds " + std::to_string(image.bands()) +
                         " channels a pixel, which is not supported: save it as RGB or as RGB with alpha.");
    }
    return layout;
}

/// What a PNG says of its colours without a profile: PNG specification, third edition, section 11.3.2.
std::vector<std::uint8_t> profileOfPng(const Bytes& file, int colors) {
    ColorSpace space;
    bool says = false;
    const auto value = [&](std::uint64_t at) { return file.big(at, 4) / 100'000.0; };
    for (std::uint64_t at = 8; file.has(at, 12) && !file.is(at + 4, "IDAT");
         at += 12 + std::uint64_t(file.big(at, 4))) {
        const std::uint64_t data = at + 8;
        if (file.is(at + 4, "sRGB")) return {};
        if (file.is(at + 4, std::string_view("cICP\x0C\x0D\0\x01", 8))) {  // the primaries of Display P3, sRGB's curve
            return profileOf({{0.3127, 0.3290, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060}, 0}, colors);
        }
        if (file.is(at + 4, "cHRM")) {
            for (std::size_t i = 0; i < 8; ++i) space.chromaticities[i] = value(data + 4 * i);
            says = true;
        } else if (file.is(at + 4, "gAMA") && value(data) > 0) {
            space.gamma = 1 / value(data);
        }
    }
    // Without primaries, 1/2.2 is an old way to say sRGB.
    const bool isUsual = space.gamma > 2.15 && space.gamma < 2.25;
    return space.gamma > 0 && (says || !isUsual) ? profileOf(space, colors) : std::vector<std::uint8_t>();
}

/// The picture's profile; empty when it has none.
std::vector<std::uint8_t> profileOfPicture(const VImage& image, std::span<const std::uint8_t> bytes, int colors) {
    if (image.get_typeof(VIPS_META_ICC_NAME) == 0) {
        return readerOf(bytes) == kPngReader ? profileOfPng(Bytes(bytes), colors) : std::vector<std::uint8_t>();
    }
    std::size_t length = 0;
    const auto* profile = static_cast<const std::uint8_t*>(image.get_blob(VIPS_META_ICC_NAME, &length));
    return {profile, profile + length};
}

struct Unref {
    void operator()(VipsRegion* region) const { g_object_unref(region); }
};

/// Has libvips calculate the image on this thread, from the top to the bottom, as readers ask for.
Image pixelsOf(const VImage& image, const ColorConverter& converter, const DecodeBudget& budget) {
    constexpr int kRows = 16;  // as many as readers decode at a time
    Image pixels({image.width(), image.height()}, PixelFormat::rgba8);
    const std::unique_ptr<VipsRegion, Unref> region(vips_region_new(image.get_image()));
    for (int top = 0; top < image.height(); top += kRows) {
        budget.check();
        const VipsRect rows{0, top, image.width(), std::min(kRows, image.height() - top)};
        if (!region || vips_region_prepare(region.get(), &rows) != 0) throw vips::VError();
        parallelEach(rows.height, [&](int y) {
            converter.convert(VIPS_REGION_ADDR(region.get(), 0, top + y), pixels.row(top + y), rows.width);
        });
    }
    return pixels;
}

Image decodeStored(VImage image, std::span<const std::uint8_t> bytes, const DecodeBudget& budget) {
    const auto interpretation = image.interpretation();
    if (image.coding() == VIPS_CODING_LABQ || interpretation == VIPS_INTERPRETATION_LAB ||
        interpretation == VIPS_INTERPRETATION_LABS) {
        image = image.colourspace(VIPS_INTERPRETATION_sRGB);
        image.remove(VIPS_META_ICC_NAME);
    }
    const SampleLayout layout = layoutOf(image, budget.name());
    const ColorConverter converter(layout, profileOfPicture(image, bytes, layout.colors));
    return pixelsOf(image, converter, budget);
}

Image turnedUpright(Image stored, int orientation, const DecodeBudget& budget) {
    if (orientation <= 1 || orientation > 8) return stored;
    const Size size = stored.size();
    VImage image =
        VImage::new_from_memory(stored.row(0), stored.bytes(), size.width, size.height, 4, VIPS_FORMAT_UCHAR);
    image.set(VIPS_META_ORIENTATION, orientation);
    return pixelsOf(image.autorot(), ColorConverter({3, true, false}, {}), budget);
}

/// What libvips goes on after, although a part of the picture is missing or made up. Its other warnings are about
/// fields, and about bytes between segments, which some cameras write.
bool tellOfLostPixels(const VipsWarnings& warnings) {
    const bool harmless = warnings.mention("extraneous bytes");
    return warnings.mention("error in tile") || warnings.mention("Discarding") || warnings.mention("Improper JPEG") ||
           (!harmless && (warnings.mention("Corrupt JPEG") || warnings.mention("Premature end")));
}

[[noreturn]] void refuseDamaged(const std::string& name, std::string_view reason) {
    refuse(name, " can't be decoded (" + std::string(reason.substr(0, reason.find('\n'))) +
                     "): copy or download it again, or save it as PNG in another program.");
}

}  // namespace

bool isDecodable(std::span<const std::uint8_t> begin) {
    return !readerOf(begin).empty();
}

Image decodePicture(std::span<const std::uint8_t> bytes, DecodeBudget& budget) {
    const std::string& name = budget.name();
    const std::string_view reader = readerOf(bytes);
    if (reader.empty()) {
        refuse(name, " is not a JPEG, PNG, WebP, TIFF, HEIF, AVIF, GIF or BMP picture: convert it to one of these.");
    }
    startVips();
    vips_error_clear();
    const VipsWarnings warnings;
    try {
        Image picture = [&] {
            const VImage image = reader == kTiffReader ? openLargest(bytes) : open(bytes);
            budget.begin(std::uint64_t(image.width()), std::uint64_t(image.height()));
            if (reader == kJpegReader && !hasFitScans(bytes)) {
                refuseDamaged(name, "parts of it are missing or repeated");
            }
            return turnedUpright(decodeStored(image, bytes, budget), vips_image_get_orientation(image.get_image()),
                                 budget);
        }();  // some warnings come when the reader is closed
        if (tellOfLostPixels(warnings)) refuseDamaged(name, "a part of it is damaged");
        return picture;
    } catch (const vips::VError& error) {
        // libpng's reasons come as warnings.
        const bool isTold = reader != kPngReader || warnings.text().empty();
        refuseDamaged(name, isTold ? error.what() : warnings.text());
    }
}

}  // namespace matte
