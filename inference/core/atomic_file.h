// SPDX-License-Identifier: Apache-2.0
// Files that are written whole or not at all: a temporary file beside the target is renamed over it once its bytes are
// on the disk. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace matte {

/// Throws Error(output) when `path` is a folder or its folder doesn't exist; for asking before the work is done.
void checkTarget(const std::filesystem::path& path);

/// Throws Error(usage) when `path` is one of the files that are `read`, however it is spelled or linked: what is
/// written there would be lost to both. Empty names count for nothing, and neither does a device.
void refuseReplacing(const std::filesystem::path& path, std::span<const std::filesystem::path> read);

/// Throws Error(output): no such folder, not writable, disk full; an existing file is then as it was. A symbolic link
/// stays one, an existing file keeps its permissions, and a device or a pipe takes the bytes itself.
void writeFile(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);

}  // namespace matte
