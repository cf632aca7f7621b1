// SPDX-License-Identifier: Apache-2.0
#include "tests/support/files/picture_file.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <opencv2/imgcodecs.hpp>

#include "tests/support/files/tiff_directory.h"

namespace matte::test {
namespace {

std::uint32_t crc32(const FileBytes& bytes) {
    std::uint32_t value = ~0U;
    for (const std::uint8_t byte : bytes) {
        value ^= byte;
        for (int bit = 0; bit < 8; ++bit) value = value & 1 ? 0xEDB88320U ^ value >> 1 : value >> 1;
    }
    return ~value;
}

/// A zlib stream of stored blocks: RFC 1950 and 1951.
FileBytes stored(const FileBytes& data) {
    FileBytes stream{0x78, 0x01};
    for (std::size_t at = 0; at < data.size() || at == 0; at += 65535) {
        const auto count = std::uint32_t(std::min<std::size_t>(65535, data.size() - at));
        const std::uint8_t last = at + count == data.size() ? 1 : 0;
        stream = joined({stream, {last}, littleEndian(count, 2), littleEndian(~count & 0xFFFF, 2)});
        stream.insert(stream.end(), data.begin() + std::ptrdiff_t(at), data.begin() + std::ptrdiff_t(at + count));
    }
    std::uint32_t low = 1, high = 0;
    for (const std::uint8_t byte : data) low = (low + byte) % 65521, high = (high + low) % 65521;
    return joined({stream, bigEndian(high << 16 | low, 4)});
}

/// EXIF data with one field, big-endian: TIFF 6.0 section 2.
FileBytes exif(int orientation) {
    return joined({bytesOf(std::string_view("MM\0\x2a", 4)), bigEndian(8, 4), bigEndian(1, 2), bigEndian(274, 2),
                   bigEndian(3, 2), bigEndian(1, 4), bigEndian(std::uint32_t(orientation), 2), bigEndian(0, 2),
                   bigEndian(0, 4)});
}

std::uint32_t little(const FileBytes& file, std::size_t at, int count) {
    std::uint32_t value = 0;
    for (int i = count - 1; i >= 0; --i) value = value << 8 | file.at(at + std::size_t(i));
    return value;
}

FileBytes slice(const FileBytes& file, std::size_t begin, std::size_t end) {
    return {file.begin() + std::ptrdiff_t(begin), file.begin() + std::ptrdiff_t(end)};
}

/// The extended container: a VP8X chunk that announces what else there is, then the chunks in their order.
FileBytes extendedWebp(const FileBytes& file, std::uint8_t flags, const FileBytes& before, const FileBytes& after) {
    constexpr std::uint8_t kAlpha = 0x10;
    const std::uint32_t sides = little(file, 21, 4);  // VP8L: 14 bits each, less one
    const FileBytes body = joined({bytesOf("WEBPVP8X"),
                                   littleEndian(10, 4),
                                   {std::uint8_t(flags | kAlpha), 0, 0, 0},
                                   littleEndian(sides & 0x3FFF, 3),
                                   littleEndian(sides >> 14 & 0x3FFF, 3),
                                   before,
                                   slice(file, 12, file.size()),
                                   after});
    return joined({bytesOf("RIFF"), littleEndian(std::uint32_t(body.size()), 4), body});
}

FileBytes webpChunk(std::string_view type, const FileBytes& data) {
    const FileBytes padding(data.size() % 2);
    return joined({bytesOf(type), littleEndian(std::uint32_t(data.size()), 4), data, padding});
}

FileBytes segment(std::uint8_t marker, const FileBytes& content) {
    return joined({{0xFF, marker}, bigEndian(std::uint32_t(2 + content.size()), 2), content});
}

FileBytes jpegWithProfile(const FileBytes& file, const FileBytes& profile, std::size_t partBytes) {
    const std::size_t count = (profile.size() + partBytes - 1) / partBytes;
    FileBytes segments;
    for (std::size_t i = 0; i < count; ++i) {
        const FileBytes part = slice(profile, i * partBytes, std::min((i + 1) * partBytes, profile.size()));
        const FileBytes number{std::uint8_t(i + 1), std::uint8_t(count)};
        const FileBytes name = bytesOf(std::string_view("ICC_PROFILE\0", 12));
        segments = joined({segment(0xE2, joined({name, number, part})), segments});
    }
    return joined({slice(file, 0, 2), segments, slice(file, 2, file.size())});
}

/// A field of bytes (type 7) at the end of the file.
FileBytes tiffWithProfile(const FileBytes& file, const FileBytes& profile) {
    constexpr int kTag = 34675;
    FileBytes longer = withTiffField(file, kTag, 0);
    const std::size_t value = TiffDirectory::open(longer)->field(kTag).valueOffset;
    const FileBytes entry = joined({littleEndian(7, 2), littleEndian(std::uint32_t(profile.size()), 4),
                                    littleEndian(std::uint32_t(longer.size()), 4)});
    std::copy(entry.begin(), entry.end(), longer.begin() + std::ptrdiff_t(value - 6));
    return joined({longer, profile});
}

FileBytes encodeAs(const Samples& samples, const std::string& extension, const std::vector<int>& parameters) {
    cv::Mat pixels(samples.size.height, samples.size.width,
                   CV_MAKETYPE(samples.bits == 16 ? CV_16U : CV_8U, samples.channels));
    for (int y = 0; y < samples.size.height; ++y) {
        for (int x = 0; x < samples.size.width; ++x) {
            for (int c = 0; c < samples.channels; ++c) {
                const int stored = samples.channels >= 3 && c < 3 ? 2 - c : c;  // OpenCV keeps blue first
                const int index = x * samples.channels + stored;
                if (samples.bits == 16) {
                    pixels.ptr<std::uint16_t>(y)[index] = samples.at(x, y, c);
                } else {
                    pixels.ptr<std::uint8_t>(y)[index] = std::uint8_t(samples.at(x, y, c));
                }
            }
        }
    }
    FileBytes file;
    if (!cv::imencode(extension, pixels, file, parameters)) throw std::runtime_error("can't encode " + extension);
    return file;
}

}  // namespace

FileBytes joined(std::initializer_list<FileBytes> parts) {
    FileBytes all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

FileBytes bytesOf(std::string_view text) {
    return {text.begin(), text.end()};
}

FileBytes bigEndian(std::uint32_t value, int count) {
    FileBytes bytes = littleEndian(value, count);
    std::reverse(bytes.begin(), bytes.end());
    return bytes;
}

FileBytes littleEndian(std::uint32_t value, int count) {
    FileBytes bytes;
    for (int i = 0; i < count; ++i) bytes.push_back(std::uint8_t(value >> (8 * i)));
    return bytes;
}

Samples testCard(Size size, int channels, int bits) {
    Samples card{size, channels, bits, std::vector<std::uint16_t>(size.pixels() * std::size_t(channels))};
    // A step coprime to every power of two visits every value once before it repeats.
    const std::uint32_t step = bits == 8 ? 37 : 24571;
    std::uint32_t value = 0;
    for (auto& sample : card.values) sample = std::uint16_t((value += step) & ((1U << bits) - 1));
    return card;
}

Samples sixAreas(Size size) {
    constexpr std::array<std::array<int, 3>, 6> kColors{
        {{220, 30, 30}, {30, 200, 40}, {40, 40, 220}, {230, 220, 40}, {200, 50, 210}, {240, 240, 240}}};
    Samples areas{size, 3, 8, {}};
    for (int y = 0; y < size.height; ++y) {
        for (int x = 0; x < size.width; ++x) {
            const int area = x * 3 / size.width + 3 * (y * 2 / size.height);
            for (const int channel : kColors[std::size_t(area)]) areas.values.push_back(std::uint16_t(channel));
        }
    }
    return areas;
}

FileBytes encode(const Samples& samples, const std::string& extension) {
    // Beyond 100, WebP is lossless.
    return encodeAs(samples, extension, {cv::IMWRITE_JPEG_QUALITY, 100, cv::IMWRITE_WEBP_QUALITY, 101});
}

FileBytes encodeTiff(const Samples& samples, int compression, int rowsPerStrip) {
    constexpr int kRowsPerStrip = 278;  // OpenCV takes a tag's own number
    return encodeAs(samples, ".tif", {cv::IMWRITE_TIFF_COMPRESSION, compression, kRowsPerStrip, rowsPerStrip});
}

FileBytes withOrientation(const FileBytes& file, int orientation) {
    const FileBytes data = exif(orientation);
    switch (file.at(0)) {
        case 0xFF: {
            const FileBytes prefix = bytesOf(std::string_view("Exif\0\0", 6));
            return joined({slice(file, 0, 2), segment(0xE1, joined({prefix, data})), slice(file, 2, file.size())});
        }
        case 0x89: return joined({slice(file, 0, 33), pngChunk("eXIf", data), slice(file, 33, file.size())});
        case 'R': return extendedWebp(file, 0x08, {}, webpChunk("EXIF", data));
        case 'I': return withTiffField(file, 274, orientation);
        default: throw std::runtime_error("this format has no orientation");
    }
}

FileBytes withColorProfile(const FileBytes& file, const FileBytes& profile, std::size_t partBytes) {
    switch (file.at(0)) {
        case 0xFF: return jpegWithProfile(file, profile, partBytes);
        case 0x89: {
            const FileBytes name = bytesOf(std::string_view("a name\0\0", 8));  // and the method, 0
            const FileBytes chunk = pngChunk("iCCP", joined({name, stored(profile)}));
            return joined({slice(file, 0, 33), chunk, slice(file, 33, file.size())});
        }
        case 'R': return extendedWebp(file, 0x20, webpChunk("ICCP", profile), {});
        case 'I': return tiffWithProfile(file, profile);
        default: throw std::runtime_error("this format has no colour profile");
    }
}

FileBytes cmykJpeg() {
    return {0xFF, 0xD8, 0xFF, 0xEE, 0x00, 0x0E, 0x41, 0x64, 0x6F, 0x62, 0x65, 0x00, 0x64, 0x00, 0x00, 0x00, 0x00, 0x00,
            0xFF, 0xDB, 0x00, 0x43, 0x00, 0x02, 0x01, 0x01, 0x01, 0x01, 0x01, 0x02, 0x01, 0x01, 0x01, 0x02, 0x02, 0x02,
            0x02, 0x02, 0x04, 0x03, 0x02, 0x02, 0x02, 0x02, 0x05, 0x04, 0x04, 0x03, 0x04, 0x06, 0x05, 0x06, 0x06, 0x06,
            0x05, 0x06, 0x06, 0x06, 0x07, 0x09, 0x08, 0x06, 0x07, 0x09, 0x07, 0x06, 0x06, 0x08, 0x0B, 0x08, 0x09, 0x0A,
            0x0A, 0x0A, 0x0A, 0x0A, 0x06, 0x08, 0x0B, 0x0C, 0x0B, 0x0A, 0x0C, 0x09, 0x0A, 0x0A, 0x0A, 0xFF, 0xC0, 0x00,
            0x14, 0x08, 0x00, 0x08, 0x00, 0x08, 0x04, 0x43, 0x11, 0x00, 0x4D, 0x11, 0x00, 0x59, 0x11, 0x00, 0x4B, 0x11,
            0x00, 0xFF, 0xC4, 0x00, 0x15, 0x00, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
            0x00, 0x00, 0x00, 0x00, 0x09, 0x07, 0xFF, 0xC4, 0x00, 0x14, 0x10, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
            0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xDA, 0x00, 0x0E, 0x04, 0x43, 0x00, 0x4D,
            0x00, 0x59, 0x00, 0x4B, 0x00, 0x00, 0x3F, 0x00, 0x18, 0xD6, 0x43, 0xF8, 0x48, 0x1F, 0xFF, 0xD9};
}

FileBytes withTiffField(const FileBytes& file, int tag, int value) {
    const auto directory = TiffDirectory::open(file);
    if (!directory) throw std::runtime_error("this is not a TIFF");
    return directory->withField(std::uint16_t(tag), std::uint16_t(value));
}

FileBytes pngChunk(std::string_view type, const FileBytes& data) {
    const FileBytes checked = joined({bytesOf(type), data});
    return joined({bigEndian(std::uint32_t(data.size()), 4), checked, bigEndian(crc32(checked), 4)});
}

FileBytes rawPng(Size size, int bitDepth, int colorType, const FileBytes& rows, const FileBytes& extra) {
    const FileBytes header = joined({bigEndian(std::uint32_t(size.width), 4),
                                     bigEndian(std::uint32_t(size.height), 4),
                                     {std::uint8_t(bitDepth), std::uint8_t(colorType), 0, 0, 0}});
    return joined({bytesOf("\x89PNG\r\n\x1A\n"), pngChunk("IHDR", header), extra, pngChunk("IDAT", stored(rows)),
                   pngChunk("IEND", {})});
}

}  // namespace matte::test
