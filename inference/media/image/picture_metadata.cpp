// SPDX-License-Identifier: Apache-2.0
#include "inference/media/image/picture_metadata.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <zlib.h>

#include "inference/media/image/bytes.h"
#include "inference/media/image/tiff_directory.h"

namespace matte {
namespace {

using ByteSpan = std::span<const std::uint8_t>;

/// Those of presses, the largest, have two or three megabytes. PNG packs them, so that a small file could hold a huge
/// one.
constexpr std::size_t kMaxProfileBytes = std::size_t(4) << 20;

/// Calls `take`(marker, content) for each segment of a JPEG before its first scan. ITU-T T.81 annex B.
template <typename Take>
void eachSegment(const Bytes& file, Take take) {
    std::uint64_t at = 2;
    while (file.has(at, 4) && file.big(at, 1) == 0xFF) {
        const std::uint32_t marker = file.big(at + 1, 1);
        if (marker == 0xDA || marker == 0xD9) return;
        if (marker == 0xFF) {  // fill byte
            ++at;
            continue;
        }
        const std::uint64_t length = std::max<std::uint32_t>(file.big(at + 2, 2), 2);
        take(marker, file.part(at + 4, length - 2));
        at += 2 + length;
    }
}

/// What follows `prefix` in the first segment that begins with it.
ByteSpan segmentOf(const Bytes& file, std::uint32_t marker, std::string_view prefix) {
    ByteSpan found;
    eachSegment(file, [&](std::uint32_t its, ByteSpan content) {
        if (found.empty() && its == marker && Bytes(content).is(0, prefix)) found = content.subspan(prefix.size());
    });
    return found;
}

/// PNG specification, section 5.
ByteSpan chunkOfPng(const Bytes& file, std::string_view type) {
    for (std::uint64_t at = 8; file.has(at, 12); at += 12 + std::uint64_t(file.big(at, 4))) {
        if (file.is(at + 4, type)) return file.part(at + 8, file.big(at, 4));
    }
    return {};
}

/// RIFF chunks are padded to even lengths.
ByteSpan chunkOfWebp(const Bytes& file, std::string_view type) {
    for (std::uint64_t at = 12; file.has(at, 8);) {
        const std::uint64_t length = file.little(at + 4, 4);
        if (file.is(at, type)) return file.part(at + 8, length);
        at += 8 + length + (length & 1);
    }
    return {};
}

/// A segment holds 64 kB, so a profile may be spread over several: each has its number, from 1, and how many there are.
/// ICC.1:2022, annex B.4.
std::vector<std::uint8_t> profileOfJpeg(const Bytes& file) {
    constexpr std::string_view kPrefix("ICC_PROFILE\0", 12);
    std::array<ByteSpan, 256> parts;
    std::size_t count = 0;
    eachSegment(file, [&](std::uint32_t marker, ByteSpan content) {
        if (marker != 0xE2 || !Bytes(content).is(0, kPrefix) || content.size() < kPrefix.size() + 2) return;
        parts[content[kPrefix.size()]] = content.subspan(kPrefix.size() + 2);
        count = content[kPrefix.size() + 1];
    });
    std::vector<std::uint8_t> profile;
    for (std::size_t i = 1; i <= count; ++i) {
        if (parts[i].empty()) return {};
        profile.insert(profile.end(), parts[i].begin(), parts[i].end());
    }
    return profile;
}

/// A name, which a zero ends, the number of the method (there is but one), and a zlib stream. PNG, section 11.3.2.3.
std::vector<std::uint8_t> profileOfPng(const Bytes& file) {
    const ByteSpan chunk = chunkOfPng(file, "iCCP");
    const auto name = std::find(chunk.begin(), chunk.end(), 0);
    if (chunk.end() - name <= 2) return {};
    const ByteSpan packed = chunk.subspan(std::size_t(name - chunk.begin()) + 2);
    std::vector<std::uint8_t> profile(kMaxProfileBytes);
    auto bytes = uLongf(profile.size());
    if (uncompress(profile.data(), &bytes, packed.data(), uLong(packed.size())) != Z_OK) return {};
    profile.resize(bytes);
    return profile;
}

ByteSpan profileOfTiff(const TiffDirectory& directory, const Bytes& file) {
    const TiffField field = directory.field(34675);
    return field.exists() ? file.part(field.valueOffset, field.count) : ByteSpan{};
}

bool isJpeg(const Bytes& file) {
    return file.is(0, "\xFF\xD8");
}
bool isPng(const Bytes& file) {
    return file.is(0, "\x89PNG");
}
bool isWebp(const Bytes& file) {
    return file.is(0, "RIFF");
}

}  // namespace

std::span<const std::uint8_t> exifOf(std::span<const std::uint8_t> picture) {
    constexpr std::string_view kPrefix("Exif\0\0", 6);
    const Bytes file(picture);
    if (isJpeg(file)) return segmentOf(file, 0xE1, kPrefix);
    if (isPng(file)) return chunkOfPng(file, "eXIf");
    if (!isWebp(file)) return picture;
    const ByteSpan chunk = chunkOfWebp(file, "EXIF");
    return Bytes(chunk).is(0, kPrefix) ? chunk.subspan(kPrefix.size()) : chunk;  // some writers keep JPEG's prefix
}

std::vector<std::uint8_t> colorProfileOf(std::span<const std::uint8_t> picture) {
    const Bytes file(picture);
    if (isJpeg(file)) return profileOfJpeg(file);
    if (isPng(file)) return profileOfPng(file);
    ByteSpan profile;
    if (isWebp(file)) {
        profile = chunkOfWebp(file, "ICCP");
    } else if (const auto directory = TiffDirectory::open(picture)) {
        profile = profileOfTiff(*directory, file);
    }
    if (profile.size() > kMaxProfileBytes) return {};
    return {profile.begin(), profile.end()};
}

}  // namespace matte
