// SPDX-License-Identifier: Apache-2.0
#include "inference/core/atomic_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "inference/core/error.h"
#include "inference/core/part_file.h"

namespace matte {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& what) {
    throw Error(ErrorCategory::output, path.string() + what);
}

std::string systemReason() {
    return std::string(std::strerror(errno));
}

/// Writes to a device or a pipe, which a renamed file would replace.
void writeThrough(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) refuse(path, " can't be written (" + systemReason() + "): choose another file.");
    const bool written = writeAll(file, bytes);
    const std::string reason = systemReason();
    if (::close(file) != 0 || !written) refuse(path, " can't be written (" + reason + "): choose another file.");
}

}  // namespace

void checkTarget(const std::filesystem::path& path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) refuse(path, " is a folder: name a file in it.");
    const auto folder = path.parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
        refuse(path, " can't be written because its folder doesn't exist: create it first.");
    }
}

void refuseReplacing(const std::filesystem::path& path, std::span<const std::filesystem::path> read) {
    std::error_code none;
    const auto status = std::filesystem::status(path, none);
    if (path.empty() || (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))) return;
    const auto isSame = [&path, &none](const std::filesystem::path& other) {
        if (other.empty()) return false;
        // By device and inode; by name if neither file exists yet.
        if (std::filesystem::equivalent(path, other, none)) return true;
        const auto name = std::filesystem::weakly_canonical(path, none);
        return !none && name == std::filesystem::weakly_canonical(other, none) && !none;
    };
    if (std::ranges::none_of(read, isSame)) return;
    throw Error(ErrorCategory::usage,
                path.string() + " would replace a file that is read: give the result another name.");
}

void writeFile(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
    checkTarget(path);
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return writeThrough(path, bytes);
    PartFile part(path);
    if (!part.write(bytes)) part.fail();
    part.moveOverTarget();
}

}  // namespace matte
