// SPDX-License-Identifier: Apache-2.0
#include "inference/io/atomic_file.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inference/error.h"

namespace matte {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& what) {
    throw Error(Area::output, path.string() + what);
}

std::string systemReason() {
    return std::string(std::strerror(errno));
}

/// Whether all was written; errno says why not.
bool writeAll(int file, std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(file, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        bytes = bytes.subspan(std::size_t(written));
    }
    return true;
}

/// Into a device or a pipe, which a file in its place would end.
void writeThrough(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) refuse(path, " can't be written (" + systemReason() + "): choose another file.");
    const bool written = writeAll(file, bytes);
    const std::string reason = systemReason();
    if (::close(file) != 0 || !written) refuse(path, " can't be written (" + reason + "): choose another file.");
}

/// A new file beside the target, gone again unless it was renamed over the target.
class PartFile {
public:
    explicit PartFile(const std::filesystem::path& target) : target_(target) {
        static std::atomic<unsigned> counter = 0;
        // A short name of its own: the target's may already be as long as a name can be.
        const std::string begin = ".matte-" + std::to_string(::getpid()) + "-";
        // Where process numbers come again, in containers above all, an interrupted one's file may be in the way.
        for (int tries = 0; tries < 1000; ++tries) {
            path_ = target.parent_path() / (begin + std::to_string(counter++) + ".part");
            file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
            if (file_ >= 0 || errno != EEXIST) break;
        }
        if (file_ < 0) refuse(target_, " can't be written (" + systemReason() + "): choose another folder.");
    }
    ~PartFile() {
        if (file_ >= 0) ::close(file_);
        if (!renamed_) ::unlink(path_.c_str());
    }
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;

    void write(std::span<const std::uint8_t> bytes) {
        if (!writeAll(file_, bytes)) fail();
    }
    /// The name appears only once the bytes are on the disk: after a power cut there is the old file or the new one.
    void moveOverTarget() {
        struct stat old {};
        if (::stat(target_.c_str(), &old) == 0) ::fchmod(file_, old.st_mode & 07777);
        if (::fsync(file_) != 0) fail();
        const int file = file_;
        file_ = -1;
        if (::close(file) != 0) fail();
        if (::rename(path_.c_str(), target_.c_str()) != 0) fail();
        renamed_ = true;
    }

private:
    [[noreturn]] void fail() const {
        refuse(target_, " can't be written (" + systemReason() + "): free some space or choose another folder.");
    }

    std::filesystem::path target_, path_;
    int file_ = -1;
    bool renamed_ = false;
};

/// The file behind a symbolic link, so that the link stays one.
std::filesystem::path behindLinks(const std::filesystem::path& path) {
    std::error_code error;
    const auto real = std::filesystem::canonical(path, error);
    return error ? path : real;
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
    PartFile part(behindLinks(path));
    part.write(bytes);
    part.moveOverTarget();
}

}  // namespace matte
