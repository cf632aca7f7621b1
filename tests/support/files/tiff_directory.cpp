// SPDX-License-Identifier: Apache-2.0
#include "tests/support/files/tiff_directory.h"

#include <algorithm>

namespace matte {
namespace {

/// Bytes of one value of a TIFF type; 0 for types that are not whole numbers.
int bytesOfType(std::uint32_t type) {
    switch (type) {
        case 1:            // BYTE
        case 7: return 1;  // UNDEFINED: bytes, too
        case 3: return 2;  // SHORT
        case 4: return 4;  // LONG
        default: return 0;
    }
}

constexpr std::uint64_t kEntryBytes = 12;

}  // namespace

std::optional<TiffDirectory> TiffDirectory::open(std::span<const std::uint8_t> tiff) {
    const Bytes bytes(tiff);
    if (bytes.is(0, std::string_view("II\x2a\0", 4))) return TiffDirectory(bytes, false);
    if (bytes.is(0, std::string_view("MM\0\x2a", 4))) return TiffDirectory(bytes, true);
    return std::nullopt;
}

std::optional<std::uint64_t> TiffDirectory::entry(std::uint16_t tag) const {
    const std::uint64_t directory = number(4, 4);
    const std::uint64_t end = directory + 2 + number(directory, 2) * kEntryBytes;
    for (std::uint64_t at = directory + 2; at < end && bytes_.has(at, kEntryBytes); at += kEntryBytes) {
        if (number(at, 2) == tag) return at;
    }
    return std::nullopt;
}

TiffField TiffDirectory::field(std::uint16_t tag) const {
    const auto at = entry(tag);
    if (!at) return {};
    TiffField found{bytesOfType(number(*at + 2, 2)), number(*at + 4, 4), *at + 8};
    const std::uint64_t bytes = std::uint64_t(found.count) * std::uint64_t(found.valueBytes);
    if (bytes > 4) found.valueOffset = number(*at + 8, 4);
    return bytes > 0 && bytes_.has(found.valueOffset, bytes) ? found : TiffField{};
}

std::uint32_t TiffDirectory::value(const TiffField& field, std::uint32_t index) const {
    return number(field.valueOffset + std::uint64_t(index) * std::uint64_t(field.valueBytes), field.valueBytes);
}

std::uint32_t TiffDirectory::valueOf(std::uint16_t tag, std::uint32_t missing) const {
    const TiffField found = field(tag);
    return found.exists() ? value(found) : missing;
}

std::vector<std::uint8_t> TiffDirectory::stored(std::uint64_t value, int count) const {
    std::vector<std::uint8_t> bytes(std::size_t(count), 0);
    for (std::uint8_t& byte : bytes) byte = std::uint8_t(value), value >>= 8;
    if (bigEndian_) std::reverse(bytes.begin(), bytes.end());
    return bytes;
}

std::vector<std::uint8_t> TiffDirectory::withField(std::uint16_t tag, std::uint16_t value) const {
    constexpr std::uint16_t kShort = 3;
    const auto append = [](std::vector<std::uint8_t>& to, std::span<const std::uint8_t> bytes) {
        to.insert(to.end(), bytes.begin(), bytes.end());
    };
    const std::uint64_t directory = number(4, 4);
    const std::uint64_t end = directory + 2 + number(directory, 2) * kEntryBytes;
    std::vector<std::uint8_t> lower, higher;  // the fields before and after the new one
    for (std::uint64_t at = directory + 2; at < end && bytes_.has(at, kEntryBytes); at += kEntryBytes) {
        const std::uint32_t other = number(at, 2);
        if (other != tag) append(other < tag ? lower : higher, bytes_.part(at, kEntryBytes));
    }
    const std::uint64_t kept = (lower.size() + higher.size()) / kEntryBytes;

    const auto original = bytes_.part(0);
    std::vector<std::uint8_t> file;
    file.reserve(original.size() + 1 + 2 + lower.size() + kEntryBytes + higher.size() + 4);
    append(file, original);
    if (file.size() % 2 != 0) file.push_back(0);  // directories begin at even offsets
    const auto offset = stored(file.size(), 4);
    std::copy(offset.begin(), offset.end(), file.begin() + 4);
    append(file, stored(kept + 1, 2));
    append(file, lower);
    append(file, stored(tag, 2));
    append(file, stored(kShort, 2));
    append(file, stored(1, 4));
    append(file, stored(value, 2));
    append(file, stored(0, 2));
    append(file, higher);
    append(file, stored(number(end, 4), 4));  // where the next page's directory is
    return file;
}

}  // namespace matte
