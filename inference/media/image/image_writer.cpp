// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <vector>

#include <vips/vips8>

#include "inference/core/atomic_file.h"
#include "inference/core/error.h"
#include "inference/media/image/image_file.h"
#include "inference/media/image/vips_library.h"

namespace matte {
namespace {

using FileBytes = std::vector<std::uint8_t>;
using vips::VImage;

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& what) {
    throw Error(ErrorCategory::output, path.string() + what);
}

/// How a format is written, in libvips's words; empty for BMP. JPEG and WebP at a quality that keeps edges clean. PNG
/// as quickly as it can be, because any higher level is slower and hardly smaller.
struct Encoding {
    const char* extension;
    bool hasAlpha;
    const char* format;
};

const Encoding* findEncoding(const std::filesystem::path& path) {
    static constexpr std::array<Encoding, 7> kEncodings{
        {{".jpg", false, ".jpg[Q=95,strip]"},
         {".jpeg", false, ".jpg[Q=95,strip]"},
         {".png", true, ".png[compression=1,filter=sub,strip]"},
         {".webp", true, ".webp[Q=95,strip]"},
         {".tif", true, ".tif[compression=lzw,predictor=horizontal,strip]"},
         {".tiff", true, ".tif[compression=lzw,predictor=horizontal,strip]"},
         {".bmp", false, ""}}};
    std::string extension = path.extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char c) { return char(std::tolower(c)); });
    const auto found = std::find_if(kEncodings.begin(), kEncodings.end(),
                                    [&](const Encoding& encoding) { return extension == encoding.extension; });
    return found == kEncodings.end() ? nullptr : &*found;
}

/// Rows without gaps of grey | R, G, B | R, G, B, A.
struct Samples {
    Size size;
    int channels = 3;
    FileBytes values;
};

bool isOpaque(const ImageView& image) {
    if (image.format != PixelFormat::rgba8) return true;
    for (int y = 0; y < image.size.height; ++y) {
        const std::uint8_t* row = image.row(y);
        std::uint8_t all = 255;
        for (int x = 0; x < image.size.width; ++x) all &= row[x * 4 + 3];
        if (all != 255) return false;
    }
    return true;
}

/// With the alpha only when there is some: it would cost a quarter of the file. Where the format has none, blended over
/// white as a viewer without alpha would show it: on sRGB values.
Samples samplesOf(const ImageView& image, bool formatHasAlpha) {
    const int from = bytesPerPixel(image.format);
    const bool bgr = image.format == PixelFormat::bgr8, keepsAlpha = formatHasAlpha && !isOpaque(image);
    const int to = from == 4 && !keepsAlpha ? 3 : from;
    Samples samples{image.size, to, FileBytes(image.size.pixels() * std::size_t(to))};
    std::uint8_t* out = samples.values.data();
    for (int y = 0; y < image.size.height; ++y) {
        const std::uint8_t* in = image.row(y);
        for (int x = 0; x < image.size.width; ++x, in += from, out += to) {
            for (int c = 0; c < to; ++c) out[c] = in[bgr ? 2 - c : c];
            if (from == to || in[3] == 255) continue;
            for (int c = 0; c < to; ++c) out[c] = std::uint8_t((in[c] * in[3] + 255 * (255 - in[3]) + 127) / 255);
        }
    }
    return samples;
}

FileBytes encodeByVips(const Samples& samples, const char* format) {
    startVips();
    // libvips 8.14 takes no const data, and the encoders change none.
    const auto [width, height] = samples.size;
    const VImage image =
        VImage::new_from_memory(const_cast<std::uint8_t*>(samples.values.data()), samples.values.size(), width, height,
                                samples.channels, VIPS_FORMAT_UCHAR)
            .copy(
                VImage::option()
                    ->set("interpretation", samples.channels == 1 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB)
                    ->set("xres", 72 / 25.4)  // pixels a millimetre, as if nothing were said
                    ->set("yres", 72 / 25.4));
    void* data = nullptr;
    std::size_t bytes = 0;
    image.write_to_buffer(format, &data, &bytes);
    const std::unique_ptr<void, decltype(&g_free)> owner(data, g_free);
    return {static_cast<std::uint8_t*>(data), static_cast<std::uint8_t*>(data) + bytes};
}

/// 24 bits a pixel, rows from bottom to top, each a multiple of four bytes; empty when it would have more than 4 GB.
FileBytes encodeBmp(const Samples& samples) {
    constexpr std::size_t kHeader = 54;
    const auto [width, height] = samples.size;
    const std::size_t rowBytes = (std::size_t(width) * 3 + 3) / 4 * 4, total = kHeader + rowBytes * std::size_t(height);
    if (total > UINT32_MAX) return {};
    FileBytes file(total);
    const auto put = [&](std::size_t at, std::uint32_t value) {
        for (std::size_t i = 0; i < 4; ++i) file[at + i] = std::uint8_t(value >> (8 * i));
    };
    put(0, 'B' | 'M' << 8 | std::uint32_t(total) << 16);
    put(4, std::uint32_t(total) >> 16);
    put(10, kHeader);
    put(14, 40);  // bytes of what follows
    put(18, std::uint32_t(width));
    put(22, std::uint32_t(height));
    put(26, 1 | 24U << 16);  // planes, bits
    const std::uint8_t* in = samples.values.data();
    for (int y = 0; y < height; ++y) {
        std::uint8_t* out = file.data() + kHeader + rowBytes * std::size_t(height - 1 - y);
        for (int x = 0; x < width; ++x, in += samples.channels, out += 3) {
            for (int c = 0; c < 3; ++c) out[2 - c] = in[samples.channels == 1 ? 0 : c];
        }
    }
    return file;
}

FileBytes encode(const std::filesystem::path& path, const ImageView& image) {
    const Encoding* encoding = findEncoding(path);
    if (!encoding) {
        refuse(path, " has an extension that can't be written: use png, jpg, jpeg, webp, tif, tiff or bmp.");
    }
    const Samples samples = samplesOf(image, encoding->hasAlpha);
    FileBytes file;
    try {
        file = *encoding->format ? encodeByVips(samples, encoding->format) : encodeBmp(samples);
    } catch (const vips::VError&) {
        vips_error_clear();
    }
    if (file.empty()) {
        refuse(path, " can't hold a picture of " + std::to_string(image.size.width) + "x" +
                         std::to_string(image.size.height) + " pixels in its format: use png.");
    }
    return file;
}

}  // namespace

bool hasImageExtension(const std::filesystem::path& path) {
    return findEncoding(path) != nullptr;
}

void writeImage(const std::filesystem::path& path, const ImageView& image) {
    checkTarget(path);
    writeFile(path, encode(path, image));
}

}  // namespace matte
