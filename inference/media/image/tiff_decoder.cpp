// SPDX-License-Identifier: Apache-2.0
#include "inference/media/image/tiff_decoder.h"

#include <tiffio.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "inference/core/error.h"
#include "inference/media/image/bytes.h"
#include "inference/media/image/tiff_strips.h"

namespace matte {
namespace {

// libtiff packs a pixel into 32 bits, red lowest.
static_assert(std::endian::native == std::endian::little, "a packed pixel is not R, G, B, A in memory");

/// The file in memory, as libtiff reads it, and whether a part of the picture was lost.
struct Source {
    std::span<const std::uint8_t> bytes;
    std::uint64_t at = 0;
    bool damaged = false;
};

Source& sourceOf(thandle_t handle) {
    return *static_cast<Source*>(handle);
}

tmsize_t readBytes(thandle_t handle, void* to, tmsize_t count) {
    Source& source = sourceOf(handle);
    const std::uint64_t left = source.bytes.size() - std::min<std::uint64_t>(source.at, source.bytes.size());
    const std::uint64_t taken = std::min(std::uint64_t(count), left);
    if (taken > 0) std::memcpy(to, source.bytes.data() + source.at, taken);
    source.at += taken;
    return tmsize_t(taken);
}

tmsize_t writeNothing(thandle_t, void*, tmsize_t) {
    return 0;
}

toff_t seekTo(thandle_t handle, toff_t offset, int whence) {
    Source& source = sourceOf(handle);
    const std::uint64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? source.at : source.bytes.size();
    return source.at = from + offset;
}

int keepOpen(thandle_t) {
    return 0;
}

toff_t sizeOf(thandle_t handle) {
    return sourceOf(handle).bytes.size();
}

/// Not an error for libtiff, and yet a part of the picture is missing or made up. Its other warnings are about fields.
bool meansLostPixels(std::string_view module, std::string_view message) {
    return module == "JPEGLib" || module == "LibJpeg" || module == "PackBitsDecode" ||
           message.starts_with("Improper JPEG");
}

// A handler that returns 1 keeps the message from libtiff's own, which prints it.
int onError(TIFF*, void* source, const char*, const char*, va_list) {
    static_cast<Source*>(source)->damaged = true;
    return 1;
}
int onWarning(TIFF*, void* source, const char* module, const char* message, va_list) {
    if (meansLostPixels(module ? module : "", message)) static_cast<Source*>(source)->damaged = true;
    return 1;
}

struct Close {
    void operator()(TIFF* tiff) const { TIFFClose(tiff); }
    void operator()(TIFFOpenOptions* options) const { TIFFOpenOptionsFree(options); }
};
using Tiff = std::unique_ptr<TIFF, Close>;

Tiff open(Source& source) {
    const std::unique_ptr<TIFFOpenOptions, Close> options(TIFFOpenOptionsAlloc());
    if (!options) return nullptr;
    TIFFOpenOptionsSetErrorHandlerExtR(options.get(), onError, &source);
    TIFFOpenOptionsSetWarningHandlerExtR(options.get(), onWarning, &source);
    // The largest strip that there can be: every pixel, four channels, 16 bits.
    TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), tmsize_t(Image::kMaxPixels) * 8);
    return Tiff(TIFFClientOpenExt("", "rm", &source, readBytes, writeNothing, seekTo, keepOpen, sizeOf, nullptr,
                                  nullptr, options.get()));
}

/// Whether the data of each strip or tile is as long as its pixels.
bool hasWholeStrips(TIFF* tiff, std::span<const std::uint8_t> file, const DecodeBudget& budget) {
    std::uint16_t compression = 0, bitOrder = 0;
    std::uint32_t rowsPerStrip = 0, height = 0;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_FILLORDER, &bitOrder);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &rowsPerStrip);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
    rowsPerStrip = std::clamp<std::uint32_t>(rowsPerStrip, 1, height);
    const bool tiled = TIFFIsTiled(tiff) != 0;
    const std::uint32_t count = tiled ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
    const std::uint32_t perPlane = (height - 1) / rowsPerStrip + 1;
    std::vector<std::uint8_t> turned;
    for (std::uint32_t i = 0; i < count; ++i) {
        budget.check();
        auto data = Bytes(file).part(TIFFGetStrileOffset(tiff, i), TIFFGetStrileByteCount(tiff, i));
        if (bitOrder == FILLORDER_LSB2MSB) {
            turned.assign(data.begin(), data.end());
            TIFFReverseBits(turned.data(), tmsize_t(turned.size()));
            data = turned;
        }
        const std::uint32_t rows = std::min(rowsPerStrip, height - i % perPlane * rowsPerStrip);
        const std::uint64_t most = tiled ? TIFFTileSize64(tiff) : TIFFVStripSize64(tiff, rowsPerStrip);
        const std::uint64_t least = tiled ? most : TIFFVStripSize64(tiff, rows);
        if (!unpacksTo(compression, data, least, most)) return false;
    }
    return true;
}

/// libtiff would multiply the colours by the alpha: it leaves them alone when it is told that they already are.
void leaveColors(TIFF* tiff) {
    std::uint16_t count = 0;
    std::uint16_t* kinds = nullptr;
    if (!TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) || count != 1) return;
    const std::uint16_t kind = EXTRASAMPLE_ASSOCALPHA;
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &kind);
}

/// Grey, with or without alpha. libtiff's own cuts 16 bits off instead of rounding, and loses its way in tiles that
/// have an alpha and reach over the picture's edge. Skews are in pixels.
void putGrey(TIFFRGBAImage* picture,
             std::uint32_t* to,
             std::uint32_t,
             std::uint32_t,
             std::uint32_t width,
             std::uint32_t height,
             std::int32_t fromSkew,
             std::int32_t toSkew,
             unsigned char* from) {
    const bool deep = picture->bitspersample == 16, inverted = picture->photometric == PHOTOMETRIC_MINISWHITE;
    const bool clear = picture->alpha != 0 && picture->samplesperpixel > 1;
    const std::ptrdiff_t pixelBytes = picture->samplesperpixel * (deep ? 2 : 1);
    const auto sample = [&](std::ptrdiff_t index) {
        if (!deep) return std::uint32_t(from[index]);
        std::uint16_t value = 0;
        std::memcpy(&value, from + index * 2, 2);
        return std::uint32_t(value + 128) / 257;
    };
    for (; height > 0; --height, to += toSkew, from += fromSkew * pixelBytes) {
        for (std::uint32_t x = 0; x < width; ++x, from += pixelBytes) {
            const std::uint32_t grey = inverted ? 255 - sample(0) : sample(0);
            *to++ = (clear ? sample(1) : 255) << 24 | grey << 16 | grey << 8 | grey;
        }
    }
}

/// libtiff's reader of whole pictures.
class Reader {
public:
    Reader(TIFF* tiff, const std::string& name) : tiff_(tiff) {
        std::array<char, 1024> reason{};
        constexpr int kStopOnError = 1;
        if (!TIFFRGBAImageBegin(&picture_, tiff, kStopOnError, reason.data())) {
            throw Error(ErrorCategory::input,
                        name + " is a kind of TIFF that is not supported: save it as RGB or as PNG.");
        }
        picture_.orientation = picture_.req_orientation = ORIENTATION_TOPLEFT;  // rows as they are stored
        const bool grey =
            picture_.photometric == PHOTOMETRIC_MINISBLACK || picture_.photometric == PHOTOMETRIC_MINISWHITE;
        if (grey && picture_.isContig) picture_.put.contig = putGrey;
    }
    ~Reader() { TIFFRGBAImageEnd(&picture_); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    [[nodiscard]] Size size() const { return {int(picture_.width), int(picture_.height)}; }
    /// Rows that are decoded as cheaply together as apart: whole strips or tiles, enough of them to be worth a call.
    [[nodiscard]] int bandRows() const {
        constexpr std::uint32_t kWorthwhile = 64;
        std::uint32_t rows = 0;
        TIFFGetFieldDefaulted(tiff_, TIFFIsTiled(tiff_) ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, &rows);
        rows = std::clamp<std::uint32_t>(rows, 1, picture_.height);
        return int(rows * std::max(kWorthwhile / rows, 1U));
    }
    bool read(Image& image, int y, int rows) {
        picture_.row_offset = y;
        return TIFFRGBAImageGet(&picture_, reinterpret_cast<std::uint32_t*>(image.row(y)), picture_.width,
                                std::uint32_t(rows)) != 0;
    }

private:
    TIFF* tiff_;
    TIFFRGBAImage picture_{};
};

/// The colours of a picture that was stored as colour times alpha.
void divideByAlpha(Image& image) {
    for (int y = 0; y < image.size().height; ++y) {
        std::uint8_t* pixel = image.row(y);
        for (int x = 0; x < image.size().width; ++x, pixel += 4) {
            const int alpha = std::max<int>(pixel[3], 1);
            for (int c = 0; c < 3; ++c) pixel[c] = std::uint8_t(std::min(255, (pixel[c] * 255 + alpha / 2) / alpha));
        }
    }
}

}  // namespace

Image decodeTiff(std::span<const std::uint8_t> bytes, const PictureHeader& header, DecodeBudget& budget) {
    const std::string& name = budget.name();
    budget.begin(header.size);
    Source source{bytes};
    const Tiff tiff = open(source);
    if (!tiff || !hasWholeStrips(tiff.get(), bytes, budget)) refuseDamaged(name);
    leaveColors(tiff.get());
    Reader reader(tiff.get(), name);
    if (reader.size() != header.size) refuseDamaged(name);
    Image image(header.size, PixelFormat::rgba8);
    const int bandRows = reader.bandRows();
    for (int y = 0; y < header.size.height; y += bandRows) {
        budget.check();
        const int rows = std::min(bandRows, header.size.height - y);
        if (!reader.read(image, y, rows) || source.damaged) refuseDamaged(name);
    }
    if (header.premultiplied) divideByAlpha(image);
    return image;
}

}  // namespace matte
