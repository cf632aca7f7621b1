// SPDX-License-Identifier: Apache-2.0
#include "inference/core/atomic_file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inference/core/error.h"

namespace matte {
namespace {

/// Gives a name to each open file, also to one without a name on disk.
constexpr char kOpenFiles[] = "/proc/self/fd/";
constexpr int kMostTries = 1000;

/// Resolves symbolic links, whether or not the target exists, so that links are kept.
std::filesystem::path behindLinks(std::filesystem::path path) {
    constexpr int kMostLinks = 40;  // as Linux follows
    std::error_code error;
    for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(path, error); ++i) {
        path = path.parent_path() / std::filesystem::read_symlink(path, error);
    }
    return path;
}

/// False on failure, with errno.
bool writeAll(int file, std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(file, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        bytes = bytes.subspan(std::size_t(written));
    }
    return true;
}

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& what) {
    throw Error(ErrorCategory::output, path.string() + what);
}

std::string systemReason() {
    return std::string(std::strerror(errno));
}

/// Writes to a device or a pipe, which a renamed file would replace.
void writeThrough(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    const bool written = file >= 0 && writeAll(file, bytes);
    const std::string reason = systemReason();
    if (::close(file) != 0 || !written) refuse(path, " can't be written (" + reason + "): choose another file.");
}

}  // namespace

/// A short name of its own: the target's may already be as long as a name can be.
void PartFile::nextName() {
    static std::atomic<unsigned> counter = 0;
    const std::string name = ".matte-" + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".part";
    path_ = target_.parent_path() / name;
}

PartFile::PartFile(const std::filesystem::path& target) : target_(behindLinks(target)) {
    const auto folder = target_.has_parent_path() ? target_.parent_path() : std::filesystem::path(".");
    if (::access(kOpenFiles, X_OK) == 0) file_ = ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    // Process ids repeat, above all in containers, so an interrupted process's file may have the name.
    for (int tries = 0; file_ < 0 && tries < kMostTries; ++tries) {
        nextName();
        file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file_ < 0 && errno != EEXIST) break;
    }
    if (file_ < 0) refuse(target_, " can't be written (" + systemReason() + "): choose another folder.");
}

PartFile::~PartFile() {
    if (file_ >= 0) ::close(file_);
    if (!renamed_ && !path_.empty()) ::unlink(path_.c_str());
}

bool PartFile::write(std::span<const std::uint8_t> bytes) {
    if (writeAll(file_, bytes)) return true;
    reason_ = errno;
    return false;
}

std::int64_t PartFile::seek(std::int64_t offset, int whence) {
    return ::lseek(file_, offset, whence);
}

void PartFile::fail() const {
    refuse(target_, std::string(" can't be written (") + std::strerror(reason_) +
                        "): free some space or choose another folder.");
}

void PartFile::moveOverTarget() {
    const auto check = [this](int result) {
        if (result == 0) return;
        reason_ = errno;
        fail();
    };
    struct stat old {};
    if (::stat(target_.c_str(), &old) == 0) ::fchmod(file_, old.st_mode & 07777);
    check(::fsync(file_));
    if (path_.empty()) {
        const std::string open = kOpenFiles + std::to_string(file_);
        int linked = -1;
        for (int tries = 0; linked != 0 && tries < kMostTries; ++tries) {
            nextName();
            linked = ::linkat(AT_FDCWD, open.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW);
            if (linked != 0 && errno != EEXIST) break;
        }
        if (linked != 0) path_.clear();
        check(linked);
    }
    const int file = file_;
    file_ = -1;
    check(::close(file));
    check(::rename(path_.c_str(), target_.c_str()));
    renamed_ = true;
}

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
