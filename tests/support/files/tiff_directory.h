// SPDX-License-Identifier: Apache-2.0
// The first directory of a TIFF file, which is also the form of EXIF data. Format: TIFF revision 6.0, section 2. Any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "inference/media/image/bytes.h"

namespace matte {

/// One field: `count` whole numbers, in the directory itself when they fit into its four bytes and elsewhere otherwise.
struct TiffField {
    int valueBytes = 0;  ///< of one value: 1, 2 or 4
    std::uint32_t count = 0;
    std::uint64_t valueOffset = 0;  ///< of the first value, from the start of the TIFF data
    [[nodiscard]] bool exists() const { return count > 0; }
};

class TiffDirectory {
public:
    /// Nothing when the bytes don't begin as classic TIFF does. A damaged directory simply lacks fields.
    static std::optional<TiffDirectory> open(std::span<const std::uint8_t> tiff);

    /// The field with this tag; one without values when it is missing, not of whole numbers, or beyond the file's end.
    [[nodiscard]] TiffField field(std::uint16_t tag) const;
    /// Whether there is an entry with this tag, even one that field() can't read.
    [[nodiscard]] bool mentions(std::uint16_t tag) const { return entry(tag).has_value(); }
    [[nodiscard]] std::uint32_t value(const TiffField& field, std::uint32_t index = 0) const;
    [[nodiscard]] std::uint32_t valueOf(std::uint16_t tag, std::uint32_t missing) const;

    /// A copy of the file in which this field is one 16-bit number: a new directory at its end, sorted by tag as the
    /// format asks if the old one is, and the header pointing there. Files below 4 GB.
    [[nodiscard]] std::vector<std::uint8_t> withField(std::uint16_t tag, std::uint16_t value) const;

private:
    /// Where the first entry with this tag begins.
    [[nodiscard]] std::optional<std::uint64_t> entry(std::uint16_t tag) const;
    TiffDirectory(Bytes bytes, bool bigEndian) : bytes_(bytes), bigEndian_(bigEndian) {}
    [[nodiscard]] std::uint32_t number(std::uint64_t offset, int count) const {
        return bigEndian_ ? bytes_.big(offset, count) : bytes_.little(offset, count);
    }
    /// `value` in `count` bytes, in the file's order.
    [[nodiscard]] std::vector<std::uint8_t> stored(std::uint64_t value, int count) const;

    Bytes bytes_;
    bool bigEndian_;
};

}  // namespace matte
