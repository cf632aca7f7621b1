// SPDX-License-Identifier: Apache-2.0
#include "inference/io/atomic_file.h"

#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "inference/error.h"
#include "inference/io/part_file.h"

namespace matte {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& what) {
    throw Error(Area::output, path.string() + what);
}

std::string systemReason() {
    return std::string(std::strerror(errno));
}

/// Into a device or a pipe, which a file in its place would end.
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
