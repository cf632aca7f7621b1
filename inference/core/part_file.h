// SPDX-License-Identifier: Apache-2.0
// PartFile: a new file beside its target, which takes the target's place once it is whole and is gone otherwise; where
// the disk's format allows it without a name until then, so that not even a program that is killed leaves it. One
// thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace matte {

/// Writes to an open file until all is written; false: errno says why not.
bool writeAll(int file, std::span<const std::uint8_t> bytes);

class PartFile {
public:
    /// A target that is a symbolic link stays one: what it names is replaced. Throws Error(output).
    explicit PartFile(const std::filesystem::path& target);
    ~PartFile();
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;

    /// False when it can't be done, for want of space above all; fail() tells then.
    bool write(std::span<const std::uint8_t> bytes);
    /// The next bytes go to this place; -1 with errno when they can't. As lseek(2).
    std::int64_t seek(std::int64_t offset, int whence);
    [[nodiscard]] bool hasFailed() const { return reason_ != 0; }
    /// Throws Error(output) with why writing failed.
    [[noreturn]] void fail() const;
    /// The target's name appears only once the bytes are on the disk: after a power cut there is the old file or the
    /// new one. It keeps the old one's permissions. Throws Error(output).
    void moveOverTarget();

private:
    void nextName();

    std::filesystem::path target_;
    std::filesystem::path path_;  ///< empty: it has no name
    int file_ = -1, reason_ = 0;
    bool renamed_ = false;
};

}  // namespace matte
