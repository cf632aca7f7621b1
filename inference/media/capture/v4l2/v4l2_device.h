// SPDX-License-Identifier: Apache-2.0
// What V4L2 devices say about themselves. Any thread. Drivers answer oddly at times: nothing is trusted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inference/media/capture/camera.h"
#include "inference/media/capture/v4l2/v4l2_calls.h"

namespace matte {

/// An open device, closed at the end.
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

}  // namespace matte
