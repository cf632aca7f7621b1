// SPDX-License-Identifier: Apache-2.0
#include "inference/core/sha256.h"

#include <array>
#include <memory>
#include <new>

extern "C" {
#include <libavutil/mem.h>
#include <libavutil/sha.h>
}

namespace matte {

std::string sha256(std::span<const std::uint8_t> bytes) {
    struct Free {
        void operator()(AVSHA* context) const { av_free(context); }
    };
    const std::unique_ptr<AVSHA, Free> context(av_sha_alloc());
    if (!context) throw std::bad_alloc();
    std::array<std::uint8_t, 32> digest{};
    av_sha_init(context.get(), 256);
    av_sha_update(context.get(), bytes.data(), bytes.size());
    av_sha_final(context.get(), digest.data());
    std::string text;
    for (const std::uint8_t byte : digest) {
        for (const int digit : {byte >> 4, byte & 15}) text += "0123456789abcdef"[digit];
    }
    return text;
}

}  // namespace matte
