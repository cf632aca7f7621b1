// SPDX-License-Identifier: Apache-2.0
#include "interop/cuda_gl_texture.h"

#include <GL/glew.h>

#include <algorithm>
#include <array>

#include <cuda_gl_interop.h>

#include "inference/cuda/device/cuda.h"
#include "inference/cuda/device_picture.h"
#include "inference/cuda/pixels/pixels.h"

namespace matte {
namespace {

/// Registering would fail too, with a reason that nobody understands.
void requireDeviceOfContext(int device) {
    std::array<int, 16> devices{};
    unsigned count = 0;
    const cudaError_t error = cudaGLGetDevices(&count, devices.data(), unsigned(devices.size()), cudaGLDeviceListAll);
    cudaGetLastError();
    if (error != cudaSuccess || count == 0) {
        throw Error(ErrorCategory::engine, "The window is not drawn by an NVIDIA GPU");
    }
    const auto end = devices.begin() + std::ptrdiff_t(count);
    if (std::find(devices.begin(), end, device) == end) {
        throw Error(ErrorCategory::engine, "The window is drawn by another GPU than the network's");
    }
}

/// The texture's memory is CUDA's while this lives.
class ScopedMap {
public:
    ScopedMap(cudaGraphicsResource_t resource, cudaStream_t stream) : resource_(resource), stream_(stream) {
        CUDA_CHECK(cudaGraphicsMapResources(1, &resource_, stream_));
    }
    ~ScopedMap() { cudaGraphicsUnmapResources(1, &resource_, stream_); }
    ScopedMap(const ScopedMap&) = delete;
    ScopedMap& operator=(const ScopedMap&) = delete;
    [[nodiscard]] cudaArray_t array() const {
        cudaArray_t array = nullptr;
        CUDA_CHECK(cudaGraphicsSubResourceGetMappedArray(&array, resource_, 0, 0));
        return array;
    }

private:
    cudaGraphicsResource_t resource_;
    cudaStream_t stream_;
};

}  // namespace

/// What CUDA holds of one texture. The stream is the texture's own: the engine's streams never wait for drawing.
struct CudaGlTexture::Sharing {
    Sharing(unsigned texture, int cudaDevice) : device(cudaDevice) {
        CUDA_CHECK(
            cudaGraphicsGLRegisterImage(resource.put(), texture, GL_TEXTURE_2D, cudaGraphicsRegisterFlagsWriteDiscard));
    }

    int device;
    Stream stream;
    DeviceBuffer premultiplied;  ///< pictures with alpha only
    CudaHandle<cudaGraphicsResource_t, cudaGraphicsUnregisterResource> resource;
};

CudaGlTexture::CudaGlTexture(const GlFacts& facts) : texture_(facts) {}

CudaGlTexture::~CudaGlTexture() = default;

void CudaGlTexture::release() {
    sharing_.reset();  // before the texture that it has registered
    texture_.release();
}

void CudaGlTexture::copyFrom(const DevicePicture& picture) {
    CUDA_CHECK(cudaSetDevice(picture.device));
    if (!sharing_ || sharing_->device != picture.device || !(texture_.size() == picture.size)) {
        requireDeviceOfContext(picture.device);
        sharing_.reset();
        texture_.allocate(picture.size, PixelFormat::rgba8);
        sharing_ = std::make_unique<Sharing>(texture_.id(), picture.device);
    }
    const cudaStream_t stream = sharing_->stream.get();
    CUDA_CHECK(cudaStreamWaitEvent(stream, picture.ready));
    const std::byte* pixels = picture.rgba;
    if (!picture.opaque) {
        DeviceBuffer& premultiplied = sharing_->premultiplied;
        if (premultiplied.bytes() != picture.size.pixels() * 4) premultiplied = DeviceBuffer(picture.size.pixels() * 4);
        device::premultiply(pixels, picture.size, premultiplied.data(), stream);
        pixels = premultiplied.data();
    }
    {
        const ScopedMap map(sharing_->resource.get(), stream);
        const auto rowBytes = std::size_t(picture.size.width) * 4;
        CUDA_CHECK(cudaMemcpy2DToArrayAsync(map.array(), 0, 0, pixels, rowBytes, rowBytes,
                                            std::size_t(picture.size.height), cudaMemcpyDeviceToDevice, stream));
    }
    CUDA_CHECK(cudaEventRecord(picture.read, stream));
    texture_.changed();
}

}  // namespace matte
