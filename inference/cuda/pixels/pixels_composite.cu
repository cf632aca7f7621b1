// SPDX-License-Identifier: Apache-2.0
// The last step on the GPU, as matting/composite.cpp does it: a thread for each pixel, alpha and colours from the
// coefficients, mixed in linear light.
#include "inference/cuda/pixels/pixels.h"
#include "inference/cuda/pixels/pixels_source.cuh"

namespace matte::device {
namespace {

constexpr int kBlockWidth = 32, kBlockHeight = 8;
constexpr unsigned kMaxGridHeight = 65535;

/// The coefficients as the kernels take them, with their points for each pixel of a picture.
struct GuidedGrid {
    const float4 *coefficients, *foreground, *background, *blurred, *wrap;
    const int* nonFinite;
    int width, height;
    float perPixelX, perPixelY;
    GuidedGrid(const GuidedCoefficients& f, Size picture)
        : coefficients(f.coefficients),
          foreground(f.foreground),
          background(f.background),
          blurred(f.blurred),
          wrap(f.wrap),
          nonFinite(f.nonFinite),
          width(f.size.width),
          height(f.size.height),
          perPixelX(float(f.size.width) / float(picture.width)),
          perPixelY(float(f.size.height) / float(picture.height)) {}
};

/// Samples planes at one pixel, linearly between the coefficients' points; beyond the coefficients' edge the edge goes
/// on.
class GuidedSampler {
public:
    __device__ GuidedSampler(const GuidedGrid& grid, float x, float y) {
        const float atX = clampTo(grid.width, fmaf(x + 0.5F, grid.perPixelX, -0.5F));
        const float atY = clampTo(grid.height, fmaf(y + 0.5F, grid.perPixelY, -0.5F));
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

__device__ float alphaAt(const GuidedGrid& grid, const GuidedSampler& sampler, uchar4 pixel) {
    if (grid.nonFinite && *grid.nonFinite != 0) return 0;  // a matte that can't be trusted would show the room
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
__device__ float3 personColor(const GuidedGrid& grid, const GuidedSampler& sampler, float3 mixed, float alpha) {
    const float4 person = sampler.sample(grid.foreground), behind = sampler.sample(grid.background);
    return {foregroundColor(mixed.x, alpha, person.x, behind.x), foregroundColor(mixed.y, alpha, person.y, behind.y),
            foregroundColor(mixed.z, alpha, person.z, behind.z)};
}

/// What stands behind a pixel, in linear light; `room` samples there as the camera saw it.
__device__ float3 behindAt(const GuidedGrid& grid, const GuidedSampler& room, const ParamsBlock& params, uchar4 plate) {
    if (params.kind == Background::Kind::blur) {
        const float4 blurred = room.sample(grid.blurred);
        return {blurred.x, blurred.y, blurred.z};
    }
    if (params.kind == Background::Kind::image) return toLinear(plate);
    return {params.color[0], params.color[1], params.color[2]};
}

/// The light of the background on the person; false where there is next to none.
__device__ bool lightAt(const GuidedGrid& grid, const GuidedSampler& sampler, float3* light) {
    const float4 found = sampler.sample(grid.wrap);
    *light = {found.x, found.y, found.z};
    return found.x + found.y + found.z > kNoLight;
}

__device__ uchar4 compositePixel(const GuidedGrid& grid,
                                 const GuidedSampler& sampler,
                                 const GuidedSampler& room,
                                 const ParamsBlock& params,
                                 uchar4 pixel,
                                 uchar4 plate) {
    const bool transparent = params.kind == Background::Kind::transparent;
    const float found = alphaAt(grid, sampler, pixel);
    const float shown = shapeAlpha(found, params.edge), alpha = shown * float(pixel.w) * (1.0F / 255);
    const std::uint8_t opacity = transparent ? std::uint8_t(alpha * 255 + 0.5F) : 255;
    float3 light;
    const bool lit = params.lightWrap > 0 && alpha > 0 && lightAt(grid, sampler, &light);
    if (alpha >= 1 && !lit) return {pixel.x, pixel.y, pixel.z, opacity};
    float3 behind{};
    if (!transparent) behind = behindAt(grid, room, params, plate);
    float3 color = behind;
    if (alpha > 0) {
        color = toLinear(pixel);
        if (params.decontaminate && shown < 1) color = personColor(grid, sampler, color, ownShare(found, shown));
        if (lit) {
            color = {wrapped(color.x, light.x, params.lightWrap), wrapped(color.y, light.y, params.lightWrap),
                     wrapped(color.z, light.z, params.lightWrap)};
        }
    }
    if (!transparent) {
        color = {mix(behind.x, color.x, alpha), mix(behind.y, color.y, alpha), mix(behind.z, color.z, alpha)};
    }
    return {encode(color.x), encode(color.y), encode(color.z), opacity};
}

/// Premultiplied.
__device__ float4 weightedPixel(uchar4 pixel) {
    const float weight = float(pixel.w) * (1.0F / 255);
    return {float(pixel.x) * weight, float(pixel.y) * weight, float(pixel.z) * weight, float(pixel.w)};
}

/// What was seen between pixels, as matting/source_rows.h samples it; transparent where nothing was.
template <PixelFormat format>
__device__ uchar4 placedPixel(const SourceRows& source, int width, float x, float y) {
    if (!isSeen(x, width) || !isSeen(y, source.height)) return {0, 0, 0, 0};
    const float atX = fminf(fmaxf(x, 0.0F), float(width - 1));
    const float atY = fminf(fmaxf(y, 0.0F), float(source.height - 1));
    const int left = int(atX), top = int(atY);
    const int right = min(left + 1, width - 1), below = min(top + 1, source.height - 1);
    const float amountX = atX - float(left), amountY = atY - float(top);
    const float4 sum = mix(mix(weightedPixel(loadPixel<format>(source, left, top)),
                               weightedPixel(loadPixel<format>(source, left, below)), amountY),
                           mix(weightedPixel(loadPixel<format>(source, right, top)),
                               weightedPixel(loadPixel<format>(source, right, below)), amountY),
                           amountX);
    const float scale = sum.w > 0 ? 255 / sum.w : 0.0F;
    return {toByte(sum.x * scale), toByte(sum.y * scale), toByte(sum.z * scale), toByte(sum.w)};
}

template <PixelFormat format>
__global__ void __launch_bounds__(kBlockWidth* kBlockHeight) compositeKernel(
    SourceRows source, int width, GuidedGrid grid, const ParamsBlock* shared, const uchar4* plate, uchar4* out) {
    const int x = int(blockIdx.x) * kBlockWidth + int(threadIdx.x);
    if (x >= width) return;
    const ParamsBlock params = *shared;
    for (int y = int(blockIdx.y) * kBlockHeight + int(threadIdx.y); y < source.height;
         y += int(gridDim.y) * kBlockHeight) {
        const std::size_t i = std::size_t(y) * width + x;
        const uchar4 behind = params.kind == Background::Kind::image && plate ? plate[i] : uchar4{};
        if (params.asSeen) {
            const GuidedSampler sampler(grid, float(x), float(y));
            out[i] = compositePixel(grid, sampler, sampler, params, loadPixel<format>(source, x, y), behind);
            continue;
        }
        const float seenX = seenAt(params.mapping.perX, params.mapping.fromX, x, width);
        const float seenY = seenAt(params.mapping.perY, params.mapping.fromY, y, source.height);
        const uchar4 pixel = placedPixel<format>(source, width, seenX, seenY);
        const GuidedSampler room(grid, float(params.mapping.perX < 0 ? width - 1 - x : x), float(y));
        out[i] = compositePixel(grid, GuidedSampler(grid, seenX, seenY), room, params, pixel, behind);
    }
}

template <PixelFormat format>
__global__ void __launch_bounds__(kBlockWidth* kBlockHeight)
    matteKernel(SourceRows source, int width, GuidedGrid grid, const ParamsBlock* params, std::uint8_t* out) {
    const int x = int(blockIdx.x) * kBlockWidth + int(threadIdx.x);
    if (x >= width) return;
    const Edge edge = params->edge;
    for (int y = int(blockIdx.y) * kBlockHeight + int(threadIdx.y); y < source.height;
         y += int(gridDim.y) * kBlockHeight) {
        const uchar4 pixel = loadPixel<format>(source, x, y);
        const float alpha = shapeAlpha(alphaAt(grid, GuidedSampler(grid, float(x), float(y)), pixel), edge);
        out[std::size_t(y) * width + x] = std::uint8_t(alpha * float(pixel.w) + 0.5F);
    }
}

dim3 blocksFor(Size size) {
    return {unsigned(size.width + kBlockWidth - 1) / kBlockWidth,
            std::min(unsigned(size.height + kBlockHeight - 1) / kBlockHeight, kMaxGridHeight)};
}

}  // namespace

void compositeOver(const Source& source,
                   const GuidedCoefficients& guided,
                   const ParamsBlock* params,
                   const std::uint8_t* plate,
                   std::uint8_t* rgba,
                   cudaStream_t stream) {
    withFormat(source.format, [&]<PixelFormat format>() {
        compositeKernel<format><<<blocksFor(source.size), dim3(kBlockWidth, kBlockHeight), 0, stream>>>(
            SourceRows(source), source.size.width, GuidedGrid(guided, source.size), params,
            reinterpret_cast<const uchar4*>(plate), reinterpret_cast<uchar4*>(rgba));
    });
    CUDA_CHECK(cudaGetLastError());
}

void renderMatte(const Source& source,
                 const GuidedCoefficients& guided,
                 const ParamsBlock* params,
                 std::uint8_t* gray,
                 cudaStream_t stream) {
    withFormat(source.format, [&]<PixelFormat format>() {
        matteKernel<format><<<blocksFor(source.size), dim3(kBlockWidth, kBlockHeight), 0, stream>>>(
            SourceRows(source), source.size.width, GuidedGrid(guided, source.size), params, gray);
    });
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace matte::device
