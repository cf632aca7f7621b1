// SPDX-License-Identifier: Apache-2.0
#include "inference/media/image/tiff_strips.h"

#include <algorithm>
#include <array>
#include <optional>

#include <zlib.h>

namespace matte {
namespace {

using Data = std::span<const std::uint8_t>;
/// Bytes that data unpacks to, counted no further than just above the most that is allowed; nothing when it
/// contradicts itself.
using Count = std::optional<std::uint64_t>;

constexpr std::uint64_t kPadding = 16;

Count countPackBits(Data data, std::uint64_t most) {
    constexpr std::uint8_t kNothing = 128;
    std::uint64_t count = 0;
    for (std::size_t at = 0; at < data.size() && count <= most;) {
        const std::uint8_t head = data[at++];
        if (head == kNothing) continue;
        const std::size_t left = data.size() - at;
        if (head < kNothing) {
            const std::size_t literal = std::min<std::size_t>(head + 1U, left);
            count += literal;
            at += literal;
        } else if (left > 0) {
            count += 257U - head;
            ++at;
        }
    }
    return count;
}

/// Only the lengths of the strings that the codes stand for. The codes grow by a bit one code early, as TIFF has it.
Count countLzw(Data data, std::uint64_t most) {
    constexpr std::uint32_t kClear = 256, kEnd = 257, kFirst = 258, kCodes = 4096;
    constexpr int kLeastBits = 9, kMostBits = 12;
    std::array<std::uint32_t, kCodes> lengths{};
    std::uint32_t next = kFirst, previous = 0;  // the code that comes next; the length of the last string
    std::uint64_t count = 0, held = 0;
    int bits = kLeastBits, heldBits = 0;
    for (std::size_t at = 0; count <= most;) {
        for (; heldBits < bits && at < data.size(); heldBits += 8) held = held << 8 | data[at++];
        if (heldBits < bits) break;  // some programs write no end
        heldBits -= bits;
        const auto code = std::uint32_t(held >> heldBits) & ((1U << bits) - 1);
        if (code == kEnd) break;
        if (code == kClear) {
            next = kFirst, bits = kLeastBits, previous = 0;
            continue;
        }
        if (code > next || (code == next && previous == 0)) return {};
        const std::uint32_t length = code < kClear ? 1 : code < next ? lengths[code] : previous + 1;
        count += length;
        if (previous > 0 && next < kCodes) lengths[next++] = previous + 1;
        if (next >= (1U << bits) - 1 && bits < kMostBits) ++bits;
        previous = length;
    }
    return count;
}

Count countDeflate(Data data, std::uint64_t most) {
    z_stream stream{};
    if (inflateInit(&stream) != Z_OK) return {};
    std::array<std::uint8_t, 1 << 15> out;  // what is written there is not looked at
    std::uint64_t count = 0;
    int result = Z_OK;
    while (result == Z_OK && count <= most) {
        if (stream.avail_in == 0) {  // what is left may be more than zlib counts
            const std::size_t part = std::min<std::size_t>(data.size(), 1U << 30);
            stream.next_in = const_cast<std::uint8_t*>(data.data());  // which zlib does not change
            stream.avail_in = uInt(part);
            data = data.subspan(part);
        }
        stream.next_out = out.data();
        stream.avail_out = uInt(out.size());
        result = inflate(&stream, Z_NO_FLUSH);
        count += out.size() - stream.avail_out;
    }
    inflateEnd(&stream);
    // A stream without its end and checksum runs out of data; how much there was decides.
    if (result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR) return count;
    return {};
}

/// Before TIFF 5.0 the bits of codes came in another order, and so the first one, which clears.
bool isOldLzw(Data data) {
    return data.size() >= 2 && data[0] == 0 && (data[1] & 1) != 0;
}

}  // namespace

bool unpacksTo(std::uint32_t compression, Data data, std::uint64_t least, std::uint64_t most) {
    constexpr std::uint32_t kLzw = 5, kDeflate = 8, kOldDeflate = 32946, kPackBits = 32773;
    const std::uint64_t allowed = most + kPadding;
    Count count;
    switch (compression) {
        case kLzw:
            if (isOldLzw(data)) return true;
            count = countLzw(data, allowed);
            break;
        case kDeflate:
        case kOldDeflate: count = countDeflate(data, allowed); break;
        case kPackBits: count = countPackBits(data, allowed); break;
        default: return true;
    }
    return count && *count >= least && *count <= allowed;
}

}  // namespace matte
