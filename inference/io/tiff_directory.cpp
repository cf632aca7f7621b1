// SPDX-License-Identifier: Apache-2.0
#include "inference/io/tiff_directory.h"

namespace matte {
namespace {

/// Bytes of one value of a TIFF type; 0 for types that are not whole numbers.
int bytesOfType(std::uint32_t type) {
    switch (type) {
        case 1: return 1;  // BYTE
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

TiffField TiffDirectory::field(std::uint16_t tag) const {
    const std::uint64_t directory = number(4, 4);
    const std::uint32_t entries = number(directory, 2);
    for (std::uint32_t i = 0; i < entries; ++i) {
        const std::uint64_t entry = directory + 2 + i * kEntryBytes;
        if (!bytes_.has(entry, kEntryBytes)) return {};
        if (number(entry, 2) != tag) continue;
        TiffField found{bytesOfType(number(entry + 2, 2)), number(entry + 4, 4), entry + 8};
        const std::uint64_t bytes = std::uint64_t(found.count) * std::uint64_t(found.valueBytes);
        if (bytes > 4) found.valueOffset = number(entry + 8, 4);
        return bytes > 0 && bytes_.has(found.valueOffset, bytes) ? found : TiffField{};
    }
    return {};
}

std::uint32_t TiffDirectory::value(const TiffField& field, std::uint32_t index) const {
    return number(field.valueOffset + std::uint64_t(index) * std::uint64_t(field.valueBytes), field.valueBytes);
}

std::uint32_t TiffDirectory::valueOf(std::uint16_t tag, std::uint32_t missing) const {
    const TiffField found = field(tag);
    return found.exists() ? value(found) : missing;
}

}  // namespace matte
