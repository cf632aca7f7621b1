// SPDX-License-Identifier: Apache-2.0
#include "inference/media/image/picture_header.h"

#include <cstdlib>
#include <string_view>

#include <zlib.h>

#include "inference/core/error.h"
#include "inference/media/image/bytes.h"
#include "inference/media/image/tiff_directory.h"

namespace matte {
namespace {

/// libpng takes nothing longer, neither reading nor writing.
constexpr std::uint64_t kMaxSide = 1'000'000;

/// CRC-32 of ISO 3309, as PNG's annex D defines it.
std::uint32_t crc(std::span<const std::uint8_t> bytes) {
    return std::uint32_t(crc32_z(0, bytes.data(), bytes.size()));
}

/// Every chunk is whole and has the checksum that it claims, and the last one is IEND. PNG specification, section 5.
PictureHeader inspectPng(const Bytes& file, const std::string& name) {
    if (!file.has(0, 33)) refuseCutOff(name);
    if (!file.is(12, "IHDR")) refuseDamaged(name);
    const Size size = checkedSize(file.big(16, 4), file.big(20, 4), name);
    for (std::uint64_t at = 8;;) {
        const std::uint64_t length = file.big(at, 4);
        if (!file.has(at, 12 + length)) refuseCutOff(name);
        if (crc(file.part(at + 4, 4 + length)) != file.big(at + 8 + length, 4)) refuseDamaged(name);
        if (file.is(at + 4, "IEND")) return {PictureFormat::png, size};
        at += 12 + length;
    }
}

/// RIFF container and the headers of its first chunk: WebP container specification; RFC 6386 section 9.1; WebP lossless
/// bitstream specification, section 3.
PictureHeader inspectWebp(const Bytes& file, const std::string& name) {
    constexpr std::uint64_t kData = 20;  // of the first chunk
    if (!file.has(0, kData + 10) || !file.has(8, file.little(4, 4))) refuseCutOff(name);
    PictureHeader header{PictureFormat::webp, {}};
    if (file.is(12, "VP8X")) {
        if (file.little(kData, 1) & 2) {
            throw Error(ErrorCategory::input,
                        name + " is an animation, not a photo: save one of its frames as a picture.");
        }
        header.size = checkedSize(file.little(kData + 4, 3) + 1, file.little(kData + 7, 3) + 1, name);
    } else if (file.is(12, "VP8L") && file.little(kData, 1) == 0x2F) {
        const std::uint32_t sides = file.little(kData + 1, 4);
        header.size = checkedSize((sides & 0x3FFF) + 1, (sides >> 14 & 0x3FFF) + 1, name);
    } else if (file.is(12, "VP8 ") && file.is(kData + 3, "\x9D\x01\x2A")) {
        header.size = checkedSize(file.little(kData + 6, 2) & 0x3FFF, file.little(kData + 8, 2) & 0x3FFF, name);
    } else {
        refuseDamaged(name);
    }
    return header;
}

/// All the strips or tiles of the first page lie within the file, and hold every row when they are not compressed.
void checkTiffData(const TiffDirectory& directory, Size size, std::uint64_t fileBytes, const std::string& name) {
    constexpr std::uint32_t kUncompressed = 1, kYCbCr = 6;
    TiffField offsets = directory.field(273), counts = directory.field(279);               // strips
    if (!offsets.exists()) offsets = directory.field(324), counts = directory.field(325);  // tiles
    if (!offsets.exists() || !counts.exists() || counts.count < offsets.count) refuseCutOff(name);
    std::uint64_t held = 0;
    for (std::uint32_t i = 0; i < offsets.count; ++i) {
        const std::uint64_t count = directory.value(counts, i);
        if (directory.value(offsets, i) + count > fileBytes) refuseCutOff(name);
        held += count;
    }
    const std::uint64_t needed = size.pixels() * directory.valueOf(277, 1) * directory.valueOf(258, 1) / 8;
    const bool packed = directory.valueOf(259, 1) != kUncompressed || directory.valueOf(262, 0) == kYCbCr;
    if (!packed && held < needed) refuseCutOff(name);
}

/// libtiff turns no others to red, green and blue.
void checkTiffChannels(std::uint32_t channels, std::uint32_t bits, std::uint32_t photometric, const std::string& name) {
    constexpr std::uint32_t kMost = 4, kInks = 5;
    if (channels > kMost) {
        throw Error(ErrorCategory::input,
                    name + " holds " + std::to_string(channels) +
                        " channels a pixel, which is not supported: save it as RGB or as RGB with alpha.");
    }
    if (photometric == kInks && bits != 8) {
        throw Error(ErrorCategory::input, name + " holds the colours of inks (CMYK) with " + std::to_string(bits) +
                                              " bits a channel, which is not supported: save it as RGB.");
    }
}

/// TIFF 6.0, sections 8 and 18.
PictureHeader inspectTiff(const Bytes& file, const std::string& name) {
    const auto directory = TiffDirectory::open(file.part(0));
    const auto width = directory->field(256), height = directory->field(257);
    if (!width.exists() || !height.exists()) refuseCutOff(name);
    const Size size = checkedSize(directory->value(width), directory->value(height), name);
    constexpr std::uint16_t kBits = 258, kCompression = 259, kPhotometric = 262, kSamplesPerPixel = 277, kPlanar = 284,
                            kExtraSamples = 338, kSampleFormat = 339;
    // libtiff also reads numbers of types that don't belong into these fields: what it sees has to be what is checked.
    for (const auto tag :
         {kBits, kCompression, kPhotometric, kSamplesPerPixel, kPlanar, kExtraSamples, kSampleFormat}) {
        if (directory->mentions(tag) && !directory->field(tag).exists()) refuseDamaged(name);
    }
    const std::uint32_t bits = directory->valueOf(kBits, 1);
    const std::uint32_t sampleFormat = directory->valueOf(kSampleFormat, 1);
    if ((bits != 8 && bits != 16) || sampleFormat != 1) {
        throw Error(ErrorCategory::input,
                    name + " holds " + std::to_string(bits) + "-bit " +
                        (sampleFormat == 3 ? "floating-point" : "whole-number") +
                        " samples, which are not supported: save it with 8 or 16 bits a channel.");
    }
    checkTiffChannels(directory->valueOf(kSamplesPerPixel, 1), bits, directory->valueOf(kPhotometric, 1), name);
    checkTiffData(*directory, size, file.size(), name);
    PictureHeader header{PictureFormat::tiff, size};
    header.premultiplied = directory->valueOf(kExtraSamples, 0) == 1;
    return header;
}

/// Whether each colour of a 32-bit BMP is one byte of its pixel. The masks lie behind the first 40 bytes of a header,
/// in a longer one as well as after one of just 40.
bool masksAreBytes(const Bytes& file) {
    constexpr std::uint64_t kMasks = 14 + 40;
    for (const std::uint64_t at : {kMasks, kMasks + 4, kMasks + 8}) {
        const std::uint32_t mask = file.little(at, 4);
        if (mask != 0xFFU && mask != 0xFF00U && mask != 0xFF0000U && mask != 0xFF000000U) return false;
    }
    return true;
}

/// The old OS/2 header has 16-bit sides; in the others a negative height means that rows go from top to bottom.
PictureHeader inspectBmp(const Bytes& file, const std::string& name) {
    constexpr std::uint32_t kUncompressed = 0, kBitFields = 3;
    constexpr std::uint32_t kBytesWithAlphaMask = 56;  // of a header that is long enough for four masks
    const std::uint32_t headerBytes = file.little(14, 4);
    const bool old = headerBytes == 12;
    if (!file.has(14, headerBytes) || (!old && headerBytes < 36)) refuseCutOff(name);
    // 64 bits on both sides of the colon: next to an unsigned number a negative one would become a huge one.
    const auto storedWidth = old ? std::int64_t(file.little(18, 2)) : std::int64_t(std::int32_t(file.little(18, 4)));
    const auto storedHeight = old ? std::int64_t(file.little(20, 2)) : std::int64_t(std::int32_t(file.little(22, 4)));
    const std::uint64_t bits = file.little(old ? 24 : 28, 2);
    const std::uint32_t compression = old ? kUncompressed : file.little(30, 4);
    if (storedWidth < 0) refuseDamaged(name);
    const Size size = checkedSize(std::uint64_t(storedWidth), std::uint64_t(std::abs(storedHeight)), name);
    if (compression != kUncompressed && compression != kBitFields) {
        throw Error(ErrorCategory::input, name + " is a compressed BMP, which is not supported: save it as PNG.");
    }
    const std::uint64_t rowBytes = (std::uint64_t(size.width) * bits + 31) / 32 * 4;
    if (!file.has(file.little(10, 4), rowBytes * std::uint64_t(size.height))) refuseCutOff(name);
    const bool masked = bits == 32 && compression == kBitFields;
    if (masked && !masksAreBytes(file)) {
        throw Error(ErrorCategory::input,
                    name +
                        " is a BMP whose colours are not whole bytes, which is not supported: save it "
                        "as PNG.");
    }
    PictureHeader header{PictureFormat::bmp, size};
    header.masksWithoutAlpha = masked && headerBytes < kBytesWithAlphaMask;
    return header;
}

}  // namespace

Size checkedSize(std::uint64_t width, std::uint64_t height, const std::string& name) {
    if (width == 0 || height == 0) throw Error(ErrorCategory::input, name + " has no pixels: open another picture.");
    const bool tooMany = width > Image::kMaxPixels || height > Image::kMaxPixels || width * height > Image::kMaxPixels;
    if (tooMany || width > kMaxSide || height > kMaxSide) {
        throw Error(ErrorCategory::input,
                    name + " claims to be " + std::to_string(width) + "x" + std::to_string(height) +
                        " pixels, which is too large: scale it to at most " +
                        (tooMany ? "200 megapixels." : std::to_string(kMaxSide) + " pixels a side."));
    }
    return {int(width), int(height)};
}

void refuseCutOff(const std::string& name) {
    throw Error(ErrorCategory::input, name + " ends before its picture does: copy or download it again.");
}

void refuseForMemory(const std::string& name) {
    throw Error(ErrorCategory::input,
                "There is not enough memory for " + name + ": close other programs or scale the picture down.");
}

void refuseDamaged(const std::string& name) {
    throw Error(ErrorCategory::input, name + " is damaged and can't be decoded: copy or download it again.");
}

bool beginsAsPicture(std::span<const std::uint8_t> bytes) {
    const Bytes file(bytes);
    return file.is(0, "\xFF\xD8\xFF") || file.is(0, "\x89PNG\r\n\x1A\n") ||
           (file.is(0, "RIFF") && file.is(8, "WEBP")) || TiffDirectory::open(bytes) || file.is(0, "BM");
}

PictureHeader inspectPicture(std::span<const std::uint8_t> bytes, const std::string& name) {
    const Bytes file(bytes);
    if (file.is(0, "\xFF\xD8\xFF")) return {PictureFormat::jpeg, {}};
    if (file.is(0, "\x89PNG\r\n\x1A\n")) return inspectPng(file, name);
    if (file.is(0, "RIFF") && file.is(8, "WEBP")) return inspectWebp(file, name);
    if (TiffDirectory::open(bytes)) return inspectTiff(file, name);
    if (file.is(0, "BM")) return inspectBmp(file, name);
    if (file.is(0, std::string_view("II\x2B\0", 4)) || file.is(0, std::string_view("MM\0\x2B", 4))) {
        throw Error(ErrorCategory::input,
                    name + " is a BigTIFF, which is not supported: save it as a plain TIFF or as PNG.");
    }
    throw Error(ErrorCategory::input,
                name + " is not a JPEG, PNG, WebP, TIFF or BMP picture: convert it to one of these.");
}

}  // namespace matte
