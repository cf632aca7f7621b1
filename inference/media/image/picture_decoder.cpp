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
            // Within a scan, or between two segments.
            at = std::uint64_t(std::find(bytes.begin() + std::ptrdiff_t(at) + 1, bytes.end(), 0xFF) - bytes.begin());
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

/// Empty when there is none.
std::span<const std::uint8_t> profileOf(const VImage& image) {
    if (image.get_typeof(VIPS_META_ICC_NAME) == 0) return {};
    std::size_t length = 0;
    const void* profile = image.get_blob(VIPS_META_ICC_NAME, &length);
    return {static_cast<const std::uint8_t*>(profile), length};
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
        const auto convert = [&](int y) {
            converter.convert(VIPS_REGION_ADDR(region.get(), 0, top + y), pixels.row(top + y), rows.width);
        };
        if (converter.isSlow()) {
            parallelEach(rows.height, convert);
        } else {
            for (int y = 0; y < rows.height; ++y) convert(y);
        }
    }
    return pixels;
}

Image decodeStored(VImage image, const DecodeBudget& budget) {
    const auto interpretation = image.interpretation();
    if (image.coding() == VIPS_CODING_LABQ || interpretation == VIPS_INTERPRETATION_LAB ||
        interpretation == VIPS_INTERPRETATION_LABS) {
        image = image.colourspace(VIPS_INTERPRETATION_sRGB);
        image.remove(VIPS_META_ICC_NAME);
    }
    const SampleLayout layout = layoutOf(image, budget.name());
    return pixelsOf(image, ColorConverter(layout, profileOf(image)), budget);
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
bool tellOfLostPixels(const std::string& warnings) {
    const auto mention = [&](const char* words) { return warnings.find(words) != std::string::npos; };
    return mention("error in tile") || mention("Discarding") || mention("Improper JPEG") ||
           ((mention("Corrupt JPEG") || mention("Premature end")) && !mention("extraneous bytes"));
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
    takeVipsWarnings();
    try {
        Image picture = [&] {
            const VImage image = reader == kTiffReader ? openLargest(bytes) : open(bytes);
            budget.begin(std::uint64_t(image.width()), std::uint64_t(image.height()));
            if (reader == kJpegReader && !hasFitScans(bytes)) {
                refuseDamaged(name, "parts of it are missing or repeated");
            }
            return turnedUpright(decodeStored(image, budget), vips_image_get_orientation(image.get_image()), budget);
        }();  // some warnings come when the reader is closed
        if (tellOfLostPixels(takeVipsWarnings())) refuseDamaged(name, "a part of it is damaged");
        return picture;
    } catch (const vips::VError& error) {
        const std::string warnings = takeVipsWarnings();  // which hold libpng's reasons
        refuseDamaged(name, reader != kPngReader || warnings.empty() ? error.what() : warnings);
    }
}

}  // namespace matte
