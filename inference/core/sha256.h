// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), without a dependency for one function. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace matte {

/// The digest of `bytes` as 64 lower-case hexadecimal digits.
std::string sha256(std::span<const std::uint8_t> bytes);

}  // namespace matte
