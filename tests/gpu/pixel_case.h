// SPDX-License-Identifier: Apache-2.0
// Pictures, mattes and device memory for the tests and timings of the picture's kernels. Any thread.
#pragma once

#include <string>
#include <vector>

#include "inference/cuda/pixels/pixels.h"

namespace matte::test {

template <typename T>
DeviceBuffer upload(const std::vector<T>& values) {
    DeviceBuffer buffer(values.size() * sizeof(T));
    CUDA_CHECK(cudaMemcpy(buffer.data(), values.data(), buffer.bytes(), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaDeviceSynchronize());  // no other stream waits for what is still on its way
    return buffer;
}
/// What lies at `data` on the device; waits for everything before.
template <typename T>
std::vector<T> download(const void* data, std::size_t count) {
    std::vector<T> values(count);
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(values.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

/// A picture as a camera or a file gives it: on the device in its own format, and on the host as an Image of the same
/// pixels (of YUV formats: converted by the standard's formula in double).
struct PictureCase {
    PictureCase(PixelFormat format, Size size, unsigned seed);
    [[nodiscard]] device::Source source() const;

    PixelFormat format;
    Size size;
    Image image;         ///< rgba8 or bgr8
    DeviceBuffer bytes;  ///< rows with some padding
    std::size_t strideBytes = 0;
};
std::string nameOf(PixelFormat format);

/// Colours in smooth waves with noise on them, and a round person of 0 to 1 with a soft rim, from 1x1 on.
Image wavyImage(Size size, PixelFormat format, unsigned seed);
Planes roundMatte(Size size);

/// Coefficients and scratch memory for a grid.
class GridCase {
public:
    explicit GridCase(Size size);
    [[nodiscard]] const device::GuidedCoefficients& guided() const { return guided_; }
    [[nodiscard]] const device::Scratch& scratch() const { return scratch_; }
    /// Puts the CPU's coefficients [H, W, guided::kChannels], its linear picture and its alpha into the planes.
    void set(const Planes& guided, const Planes& linear, const Planes& alpha);
    void setGuide(const Planes& guide, const Planes& target);
    /// Channels [first, first + 3) of the CPU's coefficients, as they lie in a plane of float4.
    [[nodiscard]] static std::vector<float> channels(const Planes& planes, int first);
    [[nodiscard]] std::vector<float> channelsOf(const float4* plane) const;
    [[nodiscard]] std::vector<float> alpha() const;

private:
    DeviceBuffer planes_, memory_;
    device::GuidedCoefficients guided_;
    device::Scratch scratch_;
};

}  // namespace matte::test
