// SPDX-License-Identifier: Apache-2.0
// PartFile: a temporary file beside its target that replaces the target when it is complete, and is deleted otherwise.
// Where the file system supports it, the file has no name until then, so that even a killed program leaves nothing. One
// thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace matte {

/// Writes all bytes to an open file; on failure returns false and sets errno.
bool writeAll(int file, std::span<const std::uint8_t> bytes);

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
