// SPDX-License-Identifier: Apache-2.0
#include "inference/media/capture/v4l2/v4l2_device.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace matte {
namespace {

/// The number in "video12", -1 for other names.
int numberOf(const std::string& name) {
    int number = -1;
    if (!name.starts_with("video")) return -1;
    const auto [end, fault] = std::from_chars(name.data() + 5, name.data() + name.size(), number);
    return fault == std::errc() && end == name.data() + name.size() ? number : -1;
}

int result(int value) {
    return value < 0 ? -errno : value;
}

class SystemCalls : public V4l2Calls {
public:
    std::vector<std::filesystem::path> devices() override {
        std::vector<std::pair<int, std::filesystem::path>> found;
        std::error_code error;
        for (std::filesystem::directory_iterator entry("/dev", error), end; !error && entry != end;
             entry.increment(error)) {
            if (const int number = numberOf(entry->path().filename().string()); number >= 0) {
                found.emplace_back(number, entry->path());
            }
        }
        std::sort(found.begin(), found.end());
        std::vector<std::filesystem::path> devices;
        devices.reserve(found.size());
        for (auto& [number, path] : found) devices.push_back(std::move(path));
        return devices;
    }
    int open(const std::filesystem::path& device) override {
        return result(::open(device.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    }
    void close(int file) override { ::close(file); }
    int control(int file, unsigned long request, void* argument) override {
        int answer = 0;
        do answer = result(::ioctl(file, request, argument));
        while (answer == -EINTR);
        return answer;
    }
    long write(int file, std::span<const std::uint8_t> bytes) override {
        const ssize_t written = ::write(file, bytes.data(), bytes.size());
        return written < 0 ? -errno : long(written);
    }
    void* map(int file, std::size_t length, std::size_t offset) override {
        void* memory = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, off_t(offset));
        return memory == MAP_FAILED ? nullptr : memory;
    }
    void unmap(void* memory, std::size_t length) override { ::munmap(memory, length); }
    int wait(int file, int milliseconds) override {
        pollfd events{file, POLLIN, 0};
        const int answer = result(::poll(&events, 1, milliseconds));
        if (answer > 0 && (events.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return -ENODEV;
        return answer == -EINTR ? 0 : answer;
    }
};

}  // namespace

V4l2Calls& systemCalls() {
    static SystemCalls calls;
    return calls;
}

}  // namespace matte
