// SPDX-License-Identifier: Apache-2.0
// Atomic file writes: a temporary file beside the target replaces it by rename once its bytes are on disk. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace matte {

/// Throws Error(output) when `path` is a folder or its parent folder doesn't exist. For an early check before long
/// work.
void checkTarget(const std::filesystem::path& path);

/// Throws Error(usage) when `path` is one of the input files in `read`, under any spelling or link: writing to it would
/// destroy the input. Ignores empty names and devices.
void refuseReplacing(const std::filesystem::path& path, std::span<const std::filesystem::path> read);

/// Throws Error(output) when the folder is missing, not writable or the disk is full; an existing file is then
/// unchanged. Writes through symbolic links, keeps an existing file's permissions, and writes devices and pipes
/// directly.
void writeFile(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);

}  // namespace matte
