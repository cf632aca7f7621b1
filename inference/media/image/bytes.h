// SPDX-License-Identifier: Apache-2.0
// Numbers out of an untrusted file, never beyond its end. Any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace matte {

/// A read past the end gives 0; callers for whom that is not good enough ask has() first. Offsets are 64 bit, so that
/// the sum of two 32-bit fields of a file can't wrap.
class Bytes {
public:
    explicit Bytes(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    [[nodiscard]] std::uint64_t size() const { return bytes_.size(); }
    [[nodiscard]] bool has(std::uint64_t offset, std::uint64_t count) const {
        return offset <= bytes_.size() && count <= bytes_.size() - offset;
    }
    /// What lies from `offset` on, at most `count` bytes of it.
    [[nodiscard]] std::span<const std::uint8_t> part(std::uint64_t offset, std::uint64_t count = UINT64_MAX) const {
        const std::uint64_t begin = std::min<std::uint64_t>(offset, bytes_.size());
        return bytes_.subspan(begin, std::min<std::uint64_t>(count, bytes_.size() - begin));
    }
    [[nodiscard]] bool is(std::uint64_t offset, std::string_view text) const {
        return has(offset, text.size()) && std::memcmp(bytes_.data() + offset, text.data(), text.size()) == 0;
    }
    [[nodiscard]] std::uint32_t little(std::uint64_t offset, int count) const {
        std::uint32_t value = 0;
        for (int i = count - 1; i >= 0; --i) value = value << 8 | at(offset + std::uint64_t(i));
        return value;
    }
    [[nodiscard]] std::uint32_t big(std::uint64_t offset, int count) const {
        std::uint32_t value = 0;
        for (int i = 0; i < count; ++i) value = value << 8 | at(offset + std::uint64_t(i));
        return value;
    }

private:
    [[nodiscard]] std::uint8_t at(std::uint64_t offset) const { return has(offset, 1) ? bytes_[offset] : 0; }

    std::span<const std::uint8_t> bytes_;
};

}  // namespace matte
