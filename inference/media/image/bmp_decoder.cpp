// SPDX-License-Identifier: Apache-2.0
#include "inference/media/image/bmp_decoder.h"

#include <array>
#include <bit>
#include <cstdlib>
#include <string>

#include "inference/core/error.h"
#include "inference/media/image/bytes.h"

namespace matte {
namespace {

constexpr std::uint64_t kFileHeader = 14;

/// What follows the file's own header. A header below 16 bytes has 16-bit sides, and fields beyond its end are 0.
class Header {
public:
    explicit Header(const Bytes& file) : file_(file), bytes_(file.little(kFileHeader, 4)) {}

    [[nodiscard]] bool isOld() const { return bytes_ < 16; }
    [[nodiscard]] std::int64_t width() const { return isOld() ? std::int64_t(field(4, 2)) : std::int32_t(field(4, 4)); }
    /// Negative: rows go from top to bottom.
    [[nodiscard]] std::int64_t height() const {
        return isOld() ? std::int64_t(field(6, 2)) : std::int32_t(field(8, 4));
    }
    [[nodiscard]] std::uint32_t bits() const { return field(isOld() ? 10 : 14, 2); }
    [[nodiscard]] bool isPacked() const { return compression() != 0 && !hasMasks(); }
    /// Of red, green, blue and alpha within a pixel's number. They lie in a header with room for them, and behind one
    /// of 40 bytes; without a mask for it there is no alpha.
    [[nodiscard]] std::array<std::uint32_t, 4> masks() const {
        if (hasMasks()) {
            const auto mask = [&](std::uint64_t i) { return file_.little(kFileHeader + 40 + 4 * i, 4); };
            return {mask(0), mask(1), mask(2), bytes_ >= 56 || compression() == 6 ? mask(3) : 0};
        }
        if (bits() == 16) return {0x7C00, 0x3E0, 0x1F, 0};
        return {0xFF0000, 0xFF00, 0xFF, 0};
    }
    /// B, G, R, and a fourth byte but in old files.
    [[nodiscard]] std::uint32_t paletteColor(std::uint64_t index) const {
        return file_.little(kFileHeader + bytes_ + index * (isOld() ? 3 : 4), 3);
    }

private:
    [[nodiscard]] std::uint32_t field(std::uint32_t at, int count) const {
        return at < bytes_ ? file_.little(kFileHeader + at, count) : 0;
    }
    [[nodiscard]] std::uint32_t compression() const { return field(16, 4); }
    [[nodiscard]] bool hasMasks() const {
        return (compression() == 3 || compression() == 6) && (bits() == 16 || bits() == 32);
    }

    Bytes file_;
    std::uint32_t bytes_;
};

/// The part of `number` that is under the mask, as 8 bits.
std::uint8_t under(std::uint32_t mask, std::uint32_t number) {
    if (mask == 0) return 0;
    const std::uint64_t most = mask >> std::countr_zero(mask), value = (number & mask) >> std::countr_zero(mask);
    return std::uint8_t((value * 255 + most / 2) / most);
}

[[noreturn]] void refuse(const DecodeBudget& budget, const char* what) {
    throw Error(ErrorCategory::input, budget.name() + what);
}

}  // namespace

bool beginsAsBmp(std::span<const std::uint8_t> bytes) {
    return bytes.size() >= 16 && Bytes(bytes).is(0, "BM");
}

Image decodeBmp(std::span<const std::uint8_t> bytes, DecodeBudget& budget) {
    const Bytes file(bytes);
    const Header header(file);
    const std::uint32_t bits = header.bits();
    if (header.width() < 0 || (bits != 1 && bits != 4 && bits != 8 && bits != 16 && bits != 24 && bits != 32)) {
        refuse(budget, " is damaged and can't be decoded: copy or download it again.");
    }
    const Size size = budget.begin(std::uint64_t(header.width()), std::uint64_t(std::abs(header.height())));
    if (header.isPacked()) refuse(budget, " is a compressed BMP, which is not supported: save it as PNG.");
    const std::uint64_t rowBytes = (std::uint64_t(size.width) * bits + 31) / 32 * 4, begin = file.little(10, 4);
    if (!file.has(begin, rowBytes * std::uint64_t(size.height))) {
        refuse(budget, " ends before its picture does: copy or download it again.");
    }
    const auto masks = header.masks();
    std::array<std::uint32_t, 256> palette{};
    for (std::uint32_t i = 0; bits <= 8 && i < 1U << bits; ++i) palette[i] = header.paletteColor(i);
    Image image(size, PixelFormat::rgba8);
    for (int y = 0; y < size.height; ++y) {
        budget.check();
        const auto row = std::uint64_t(header.height() < 0 ? y : size.height - 1 - y);
        const Bytes in(file.part(begin + row * rowBytes, rowBytes));
        std::uint8_t* out = image.row(y);
        for (std::uint64_t x = 0; x < std::uint64_t(size.width); ++x, out += 4) {
            const std::uint64_t bit = x * bits;
            const std::uint32_t number =
                bits >= 8 ? in.little(bit / 8, int(bits / 8)) : in.little(bit / 8, 1) >> (8 - bits - bit % 8);
            const std::uint32_t pixel = bits <= 8 ? palette[number & ((1U << bits) - 1)] : number;
            for (std::size_t c = 0; c < 3; ++c) out[c] = under(masks[c], pixel);
            out[3] = masks[3] != 0 ? under(masks[3], pixel) : std::uint8_t(255);
        }
    }
    return image;
}

}  // namespace matte
