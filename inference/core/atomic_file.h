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

/// A temporary file beside its target that replaces the target when it is complete, and is deleted otherwise. Where the
/// file system supports it, the file has no name until then, so that even a killed program leaves nothing. One thread
/// at a time.
class PartFile {
public:
    /// If the target is a symbolic link, replaces the file that it points to. Throws Error(output).
    explicit PartFile(const std::filesystem::path& target);
    ~PartFile();
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;

    /// False when writing fails, mostly because the disk is full; fail() then throws the reason.
    bool write(std::span<const std::uint8_t> bytes);
    /// As lseek(2): -1 and errno on failure.
    std::int64_t seek(std::int64_t offset, int whence);
    [[nodiscard]] bool hasFailed() const { return reason_ != 0; }
    /// Throws Error(output) with the reason why writing failed.
    [[noreturn]] void fail() const;
    /// Replaces the target once the bytes are on disk: after a power failure either the old or the new file exists.
    /// Keeps the old file's permissions. Throws Error(output).
    void moveOverTarget();

private:
    void nextName();

    std::filesystem::path target_;
    std::filesystem::path path_;  ///< empty: it has no name
    int file_ = -1, reason_ = 0;
    bool renamed_ = false;
};

}  // namespace matte
