// SPDX-License-Identifier: Apache-2.0
// The last step on the GPU, as cpu/composite.cpp does it: a thread for each pixel, alpha and colours from the field,
// mixed in linear light.
#include "inference/cuda/pixels.h"
#include "inference/cuda/pixels_source.cuh"

namespace matte::device {
namespace {

constexpr int kBlockWidth = 32, kBlockHeight = 8;
constexpr unsigned kMaxGridHeight = 65535;

/// Fields as the kernels take them, with the field's points for each pixel of a picture.
struct FieldGrid {
    const float4 *coefficients, *foreground, *background, *blurred;
    int width, height;
    float perPixelX, perPixelY;
    FieldGrid(const Fields& f, Size picture)
        : coefficients(f.coefficients),
          foreground(f.foreground),
          background(f.background),
          blurred(f.blurred),
          width(f.size.width),
          height(f.size.height),
          perPixelX(float(f.size.width) / float(picture.width)),
          perPixelY(float(f.size.height) / float(picture.height)) {}
};

/// Samples planes at one pixel, linearly between the field's points.
class FieldSampler {
public:
    __device__ FieldSampler(const FieldGrid& grid, int x, int y) {
        const float atX = clampTo(grid.width, fmaf(float(x) + 0.5F, grid.perPixelX, -0.5F));
        const float atY = clampTo(grid.height, fmaf(float(y) + 0.5F, grid.perPixelY, -0.5F));
        const int left = int(atX), top = int(atY);
        right_ = min(left + 1, grid.width - 1) - left;
        below_ = (min(top + 1, grid.height - 1) - top) * grid.width;
        first_ = top * grid.width + left;
        amountX_ = atX - float(left);
        amountY_ = atY - float(top);
    }
    __device__ float4 sample(const float4* plane) const {
        const float4* p = plane + first_;
        return mix(mix(p[0], p[below_], amountY_), mix(p[right_], p[below_ + right_], amountY_), amountX_);
    }

private:
    __device__ static float clampTo(int points, float at) { return fminf(fmaxf(at, 0.0F), float(points - 1)); }
    int first_, right_, below_;
    float amountX_, amountY_;
};

__device__ float alphaAt(const FieldGrid& grid, const FieldSampler& sampler, uchar4 pixel) {
    const float4 c = sampler.sample(grid.coefficients);
    constexpr float kScale = 1.0F / 255;
    return clampUnit(c.x * kScale * float(pixel.x) + c.y * kScale * float(pixel.y) + c.z * kScale * float(pixel.z) +
                     c.w);
}

__device__ float3 toLinear(uchar4 pixel) {
    constexpr float kScale = 1.0F / 255;
    return {srgbToLinear(float(pixel.x) * kScale), srgbToLinear(float(pixel.y) * kScale),
            srgbToLinear(float(pixel.z) * kScale)};
}

__device__ std::uint8_t encode(float linear) {
    return toByte(linearToSrgb(clampUnit(linear)) * 255);
}

/// The person's colour at a pixel, in linear light.
__device__ float3 personColor(const FieldGrid& grid, const FieldSampler& sampler, float3 mixed, float alpha) {
    const float4 person = sampler.sample(grid.foreground), behind = sampler.sample(grid.background);
    return {foregroundColor(mixed.x, alpha, person.x, behind.x), foregroundColor(mixed.y, alpha, person.y, behind.y),
            foregroundColor(mixed.z, alpha, person.z, behind.z)};
}

/// What stands behind a pixel, in linear light.
__device__ float3 behindAt(const FieldGrid& grid, const FieldSampler& sampler, const LookBlock& look, uchar4 plate) {
    if (look.kind == Background::Kind::blur) {
        const float4 blurred = sampler.sample(grid.blurred);
        return {blurred.x, blurred.y, blurred.z};
    }
    if (look.kind == Background::Kind::image) return toLinear(plate);
    return {look.color[0], look.color[1], look.color[2]};
}

__device__ uchar4
compositePixel(const FieldGrid& grid, const FieldSampler& sampler, const LookBlock& look, uchar4 pixel, uchar4 plate) {
    const bool transparent = look.kind == Background::Kind::transparent;
    const float found = alphaAt(grid, sampler, pixel);
    const float alpha = shapeAlpha(found, look.edge) * float(pixel.w) * (1.0F / 255);
    const std::uint8_t opacity = transparent ? std::uint8_t(alpha * 255 + 0.5F) : 255;
    if (alpha >= 1) return {pixel.x, pixel.y, pixel.z, opacity};
    float3 behind{};
    if (!transparent) behind = behindAt(grid, sampler, look, plate);
    float3 color = behind;
    if (alpha > 0) {
        color = toLinear(pixel);
        if (look.decontaminate && found < 1) color = personColor(grid, sampler, color, found);
    }
    if (!transparent) {
        color = {mix(behind.x, color.x, alpha), mix(behind.y, color.y, alpha), mix(behind.z, color.z, alpha)};
    }
    return {encode(color.x), encode(color.y), encode(color.z), opacity};
}

template <SourceFormat format>
__global__ void __launch_bounds__(kBlockWidth* kBlockHeight) compositeKernel(
    SourceRows source, int width, FieldGrid grid, const LookBlock* shared, const uchar4* plate, uchar4* out) {
    const int x = int(blockIdx.x) * kBlockWidth + int(threadIdx.x);
    if (x >= width) return;
    const LookBlock look = *shared;
    for (int y = int(blockIdx.y) * kBlockHeight + int(threadIdx.y); y < source.height;
         y += int(gridDim.y) * kBlockHeight) {
        const std::size_t i = std::size_t(y) * width + x;
        const uchar4 behind = look.kind == Background::Kind::image && plate ? plate[i] : uchar4{};
        out[i] = compositePixel(grid, FieldSampler(grid, x, y), look, loadPixel<format>(source, x, y), behind);
    }
}

template <SourceFormat format>
__global__ void __launch_bounds__(kBlockWidth* kBlockHeight)
    matteKernel(SourceRows source, int width, FieldGrid grid, const LookBlock* look, std::uint8_t* out) {
    const int x = int(blockIdx.x) * kBlockWidth + int(threadIdx.x);
    if (x >= width) return;
    const Edge edge = look->edge;
    for (int y = int(blockIdx.y) * kBlockHeight + int(threadIdx.y); y < source.height;
         y += int(gridDim.y) * kBlockHeight) {
        const uchar4 pixel = loadPixel<format>(source, x, y);
        const float alpha = shapeAlpha(alphaAt(grid, FieldSampler(grid, x, y), pixel), edge);
        out[std::size_t(y) * width + x] = std::uint8_t(alpha * float(pixel.w) + 0.5F);
    }
}

dim3 blocksFor(Size size) {
    return {unsigned(size.width + kBlockWidth - 1) / kBlockWidth,
            std::min(unsigned(size.height + kBlockHeight - 1) / kBlockHeight, kMaxGridHeight)};
}

}  // namespace

void compositeOver(const Source& source,
                   const Fields& fields,
                   const LookBlock* look,
                   const std::uint8_t* plate,
                   std::uint8_t* rgba,
                   cudaStream_t stream) {
    withFormat(source.format, [&]<SourceFormat format>() {
        compositeKernel<format><<<blocksFor(source.size), dim3(kBlockWidth, kBlockHeight), 0, stream>>>(
            SourceRows(source), source.size.width, FieldGrid(fields, source.size), look,
            reinterpret_cast<const uchar4*>(plate), reinterpret_cast<uchar4*>(rgba));
    });
    CUDA_CHECK(cudaGetLastError());
}

void renderMatte(
    const Source& source, const Fields& fields, const LookBlock* look, std::uint8_t* gray, cudaStream_t stream) {
    withFormat(source.format, [&]<SourceFormat format>() {
        matteKernel<format><<<blocksFor(source.size), dim3(kBlockWidth, kBlockHeight), 0, stream>>>(
            SourceRows(source), source.size.width, FieldGrid(fields, source.size), look, gray);
    });
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace matte::device
