// SPDX-License-Identifier: Apache-2.0
// The kernel's cameras, by V4L2, for computers without PipeWire: the system calls, what devices say about themselves,
// and a camera's frames. Drivers answer oddly at times: nothing is trusted. One program at a time may use a camera. Any
// thread; an opened camera as frame_source.h says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inference/media/capture/camera.h"

namespace matte {

/// The system calls that talk to a camera, so that tests can answer them as real cameras did. Each returns what the
/// system call does, errors as -errno.
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
    /// Waits for a picture: 1, 0 when none came in time, -errno.
    virtual int wait(int file, int milliseconds) = 0;
};

/// The real ones.
V4l2Calls& systemCalls();

/// An open device, closed with this object.
class V4l2File {
public:
    V4l2File(V4l2Calls& calls, const std::filesystem::path& device);
    ~V4l2File();
    V4l2File(const V4l2File&) = delete;
    V4l2File& operator=(const V4l2File&) = delete;

    /// Why it can't be used, as -errno; 0 when it can.
    [[nodiscard]] int fault() const { return file_ < 0 ? file_ : 0; }
    [[nodiscard]] int number() const { return file_; }
    int control(unsigned long request, void* argument) const { return calls_.control(file_, request, argument); }

private:
    V4l2Calls& calls_;
    int file_;
};

struct V4l2Device {
    std::filesystem::path path;
    CameraInfo camera;  ///< its id is the bus it is plugged into, or the path where the driver doesn't say
};

/// Null for what is no camera: metadata, outputs, encoders, and what can't be opened. A camera that may not be opened
/// is listed by its path, without modes, so that there is something to explain.
std::optional<V4l2Device> readDevice(V4l2Calls& calls, const std::filesystem::path& path);
/// All cameras, their names told apart.
std::vector<V4l2Device> listDevices(V4l2Calls& calls);

/// A fixed array of characters that a driver filled, with or without its end.
std::string v4l2Text(std::span<const std::uint8_t> characters);
/// What V4L2's code stands for; several may stand for one encoding.
Encoding encodingOfFourcc(std::uint32_t fourcc);
/// The code by which this device offers pictures of that encoding and size; in another size when it must be, 0 for
/// none.
std::uint32_t offeredFourcc(const V4l2File& file, Encoding encoding, Size size);

/// What to tell people about a camera that answers -errno: busy (and by whom, where that can be seen), forbidden, gone.
std::string v4l2Sentence(const std::string& camera, const std::filesystem::path& path, int fault);

/// Opens the camera with that name, id or path, the first for an empty name, and switches it on. Throws Error(source):
/// missing, busy, forbidden, or with no format that can be read. `calls` outlives the source.
std::unique_ptr<FrameSource> openV4l2Camera(V4l2Calls& calls,
                                            const std::string& name,
                                            const CaptureSettings& settings,
                                            const std::stop_token& stop = {});

}  // namespace matte
