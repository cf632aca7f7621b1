// SPDX-License-Identifier: Apache-2.0
// The system calls that talk to a V4L2 camera, so that tests can answer them as real cameras did. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace matte {

/// Each returns what the system call does, errors as -errno.
class V4l2Calls {
public:
    virtual ~V4l2Calls() = default;
    /// /dev/video0 and so on, sorted by number.
    virtual std::vector<std::filesystem::path> devices() = 0;
    virtual int open(const std::filesystem::path& device) = 0;
    virtual void close(int file) = 0;
    virtual int control(int file, unsigned long request, void* argument) = 0;
    virtual long write(int file, std::span<const std::uint8_t> bytes) = 0;
    /// Null when it fails.
    virtual void* map(int file, std::size_t length, std::size_t offset) = 0;
    virtual void unmap(void* memory, std::size_t length) = 0;
    /// Waits at most so long for a picture: 1, 0 when there is none, -errno.
    virtual int wait(int file, int milliseconds) = 0;
};

/// The real ones.
V4l2Calls& systemCalls();

}  // namespace matte
