// SPDX-License-Identifier: Apache-2.0
// Resampling on the GPU. A thread makes one output: it reads the few inputs that its two taps name, so that
// neighbouring threads share their cache lines and each input comes from memory about once.
#include <cuda_fp16.h>

#include "inference/cuda/pixels/pixels.h"
#include "inference/cuda/pixels/pixels_source.cuh"

namespace matte::device {
namespace {

/// Premultiplied R, G, B and A, 0 to 255.
template <PixelFormat format>
struct LoadPixel {
    using Value = float4;
    SourceRows source;
    __device__ float4 operator()(int x, int y) const {
        const uchar4 pixel = loadPixel<format>(source, x, y);
        const float weight = format == PixelFormat::rgba8 ? float(pixel.w) * (1.0F / 255) : 1.0F;
        return {float(pixel.x) * weight, float(pixel.y) * weight, float(pixel.z) * weight, float(pixel.w)};
    }
};

struct LoadMatte {
    using Value = float;
    const float* data;
    int width;
    NonFiniteFlag nonFinite;
    __device__ float operator()(int x, int y) const {
        const float alpha = data[std::size_t(y) * width + x];
        if (isfinite(alpha)) return alpha;
        if (nonFinite.onDevice) *nonFinite.onDevice = 1;
        if (nonFinite.onHost) *nonFinite.onHost = 1;
        return 0;
    }
};

__device__ float weightOf(const AxisTap& tap, int i, float inner) {
    return i == 0 ? tap.head : i == tap.count - 1 ? tap.tail : inner;
}

template <typename Load, typename Store>
__global__ void __launch_bounds__(kBlockWidth* kBlockHeight)
    resampleKernel(Load load, Axis across, Axis down, int width, int height, Store store) {
    const int x = int(blockIdx.x) * kBlockWidth + int(threadIdx.x);
    if (x >= width) return;
    const AxisTap tapX = across.taps[x];
    for (int y = int(blockIdx.y) * kBlockHeight + int(threadIdx.y); y < height; y += int(gridDim.y) * kBlockHeight) {
        const AxisTap tapY = down.taps[y];
        typename Load::Value sum{};
        for (int j = 0; j < tapY.count; ++j) {
            typename Load::Value row{};
            for (int i = 0; i < tapX.count; ++i) {
                accumulate(row, weightOf(tapX, i, across.inner), load(tapX.first + i, tapY.first + j));
            }
            accumulate(sum, weightOf(tapY, j, down.inner), row);
        }
        store(x, y, sum);
    }
}

template <typename Load, typename Store>
void resample(const Load& load, const Resampling& resampling, const Store& store, cudaStream_t stream) {
    const auto [width, height] = resampling.to();
    resampleKernel<<<blocksFor(resampling.to()), dim3(kBlockWidth, kBlockHeight), 0, stream>>>(
        load, resampling.across(), resampling.down(), width, height, store);
    CUDA_CHECK(cudaGetLastError());
}

template <typename Store>
void resampleSource(const Source& source, const Resampling& resampling, const Store& store, cudaStream_t stream) {
    withFormat(source.format, [&]<PixelFormat format>() {
        resample(LoadPixel<format>{SourceRows(source)}, resampling, store, stream);
    });
}

/// R, G, B of 0 to 1 over white.
__device__ float3 overWhite(float4 v) {
    const float white = 255 - v.w;
    return {(v.x + white) * (1.0F / 255), (v.y + white) * (1.0F / 255), (v.z + white) * (1.0F / 255)};
}

struct StoreGuide {
    float4* guide;
    int width;
    __device__ void operator()(int x, int y, float4 v) const {
        const float3 rgb = overWhite(v);
        guide[std::size_t(y) * width + x] = {rgb.x, rgb.y, rgb.z, 0};
    }
};

__device__ void storeNormalised(uint4* pixel, float r, float g, float b) {
    const __half2 first = __floats2half2_rn(r, g), second = __floats2half2_rn(b, 0);
    *pixel = {*reinterpret_cast<const unsigned*>(&first), *reinterpret_cast<const unsigned*>(&second), 0, 0};
}
struct FloatPixel {
    float4 color, padding;
};
__device__ void storeNormalised(FloatPixel* pixel, float r, float g, float b) {
    *pixel = {{r, g, b, 0}, {0, 0, 0, 0}};
}

/// Pixel: uint4 for eight halves, FloatPixel for eight floats.
template <typename Pixel>
struct StoreInput {
    Pixel* input;
    int width;
    float3 mean, scale;
    __device__ void operator()(int x, int y, float4 v) const {
        const float3 rgb = overWhite(v);
        storeNormalised(input + std::size_t(y) * width + x, (rgb.x - mean.x) * scale.x, (rgb.y - mean.y) * scale.y,
                        (rgb.z - mean.z) * scale.z);
    }
};

struct StoreFloat {
    float* out;
    int width;
    __device__ void operator()(int x, int y, float v) const { out[std::size_t(y) * width + x] = v; }
};

struct StorePicture {
    uchar4* out;
    int width;
    __device__ void operator()(int x, int y, float4 v) const { out[std::size_t(y) * width + x] = straight(v); }
};

struct StorePlate {
    uchar4* out;
    int width, left, top;
    float3 behind;
    __device__ void operator()(int x, int y, float4 v) const {
        const uchar4 pixel = straight(v);
        const float alpha = float(pixel.w) / 255;
        out[std::size_t(y + top) * width + x + left] = {toByte(behind.x + (float(pixel.x) - behind.x) * alpha),
                                                        toByte(behind.y + (float(pixel.y) - behind.y) * alpha),
                                                        toByte(behind.z + (float(pixel.z) - behind.z) * alpha), 255};
    }
};

__global__ void fillKernel(uchar4* out, std::size_t count, uchar4 color) {
    for (std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += std::size_t(gridDim.x) * blockDim.x) {
        out[i] = color;
    }
}

}  // namespace

void shrinkToGuide(const Source& source, const Resampling& resampling, float4* guide, cudaStream_t stream) {
    resampleSource(source, resampling, StoreGuide{guide, resampling.to().width}, stream);
}

void shrinkToInput(const Source& source, const Resampling& resampling, const NetworkInput& input, cudaStream_t stream) {
    const int width = resampling.to().width;
    const auto& [data, inFloats, mean, deviation] = input;
    const float3 center{mean[0], mean[1], mean[2]}, scale{1 / deviation[0], 1 / deviation[1], 1 / deviation[2]};
    if (inFloats) {
        const StoreInput<FloatPixel> store{static_cast<FloatPixel*>(data), width, center, scale};
        resampleSource(source, resampling, store, stream);
    } else {
        const StoreInput<uint4> store{static_cast<uint4*>(data), width, center, scale};
        resampleSource(source, resampling, store, stream);
    }
}

void resampleMatte(const float* matte,
                   const Resampling& resampling,
                   const NonFiniteFlag& nonFinite,
                   float* target,
                   cudaStream_t stream) {
    resample(LoadMatte{matte, resampling.from().width, nonFinite}, resampling,
             StoreFloat{target, resampling.to().width}, stream);
}

void resamplePicture(const Source& source, const Resampling& resampling, std::uint8_t* rgba, cudaStream_t stream) {
    resampleSource(source, resampling, StorePicture{reinterpret_cast<uchar4*>(rgba), resampling.to().width}, stream);
}

void layPlate(const Source& picture,
              const Layout& layout,
              const Resampling& resampling,
              Size frame,
              Rgb color,
              std::uint8_t* rgba,
              cudaStream_t stream) {
    auto* out = reinterpret_cast<uchar4*>(rgba);
    if (!(layout.scaled == frame)) {
        fillKernel<<<1024, 256, 0, stream>>>(out, frame.pixels(), uchar4{color.r, color.g, color.b, 255});
        CUDA_CHECK(cudaGetLastError());
    }
    Source seen = picture;
    seen.size = layout.seen;
    seen.data += layout.seenY * picture.strideBytes + std::ptrdiff_t(packedStride(picture.format, layout.seenX));
    resampleSource(
        seen, resampling,
        StorePlate{out, frame.width, layout.left, layout.top, {float(color.r), float(color.g), float(color.b)}},
        stream);
}

}  // namespace matte::device
