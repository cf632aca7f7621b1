// SPDX-License-Identifier: Apache-2.0
// The last step on the GPU, as matting/composite.cpp does it: a thread for each pixel, alpha and colours from the
// coefficients, mixed in linear light.
#include "inference/cuda/pixels/pixels.h"
#include "inference/cuda/pixels/pixels_source.cuh"
#include "inference/matting/composite_pixel.h"

namespace matte::device {
namespace {

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

__device__ Rgba rgbaOf(uchar4 pixel) {
    return {pixel.x, pixel.y, pixel.z, pixel.w};
}

__device__ float alphaAt(const GuidedGrid& grid, const GuidedSampler& sampler, Rgba pixel) {
    if (grid.nonFinite && *grid.nonFinite != 0) return 0;  // a matte that can't be trusted would show the room
    return guidedAlpha(sampler.sample(grid.coefficients), pixel);
}

/// What matting/composite_pixel.h's compositePixel() asks for; `room` samples as the camera saw it.
struct DevicePixel {
    const GuidedGrid& grid;
    const GuidedSampler &sampler, &room;
    const ResolvedParams& params;
    uchar4 plate;

    __device__ static Color colorOf(float4 value) { return {value.x, value.y, value.z}; }
    __device__ float alpha(Rgba pixel) const { return alphaAt(grid, sampler, pixel); }
    __device__ Color foreground() const { return colorOf(sampler.sample(grid.foreground)); }
    __device__ Color background() const { return colorOf(sampler.sample(grid.background)); }
    __device__ Color wrap() const { return colorOf(sampler.sample(grid.wrap)); }
    __device__ Color behind() const {
        if (params.isBlurred()) return colorOf(room.sample(grid.blurred));
        if (params.kind == Background::Kind::image) return linear(rgbaOf(plate));
        return {params.color[0], params.color[1], params.color[2]};
    }
    __device__ static Color linear(Rgba pixel) {
        constexpr float kScale = 1.0F / 255;
        return {srgbToLinear(float(pixel.r) * kScale), srgbToLinear(float(pixel.g) * kScale),
                srgbToLinear(float(pixel.b) * kScale)};
    }
    __device__ static std::uint8_t encode(float linear) { return toByte(linearToSrgb(clampUnit(linear)) * 255); }
};

/// Premultiplied.
__device__ float4 weightedPixel(uchar4 pixel) {
    const float weight = float(pixel.w) * (1.0F / 255);
    return {float(pixel.x) * weight, float(pixel.y) * weight, float(pixel.z) * weight, float(pixel.w)};
}

/// What was seen between pixels, as matting/source_rows.h samples it; transparent where nothing was.
template <PixelFormat format>
__device__ Rgba placedPixel(const SourceRows& source, int width, float x, float y) {
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
    return rgbaOf(straight(sum));
}

template <PixelFormat format>
__global__ void __launch_bounds__(kBlockWidth* kBlockHeight) compositeKernel(
    SourceRows source, int width, GuidedGrid grid, const ResolvedParams* shared, const uchar4* plate, Rgba* out) {
    const int x = int(blockIdx.x) * kBlockWidth + int(threadIdx.x);
    if (x >= width) return;
    const ResolvedParams params = *shared;
    for (int y = int(blockIdx.y) * kBlockHeight + int(threadIdx.y); y < source.height;
         y += int(gridDim.y) * kBlockHeight) {
        const std::size_t i = std::size_t(y) * width + x;
        const uchar4 behind = params.kind == Background::Kind::image && plate ? plate[i] : uchar4{};
        if (params.asSeen) {
            const GuidedSampler sampler(grid, float(x), float(y));
            out[i] = compositePixel(DevicePixel{grid, sampler, sampler, params, behind}, params,
                                    rgbaOf(loadPixel<format>(source, x, y)));
            continue;
        }
        const float seenX = seenAt(params.mapping.perX, params.mapping.fromX, x, width);
        const float seenY = seenAt(params.mapping.perY, params.mapping.fromY, y, source.height);
        const Rgba pixel = placedPixel<format>(source, width, seenX, seenY);
        const GuidedSampler sampler(grid, seenX, seenY);
        const GuidedSampler room(grid, float(params.mapping.perX < 0 ? width - 1 - x : x), float(y));
        out[i] = compositePixel(DevicePixel{grid, sampler, room, params, behind}, params, pixel);
    }
}

template <PixelFormat format>
__global__ void __launch_bounds__(kBlockWidth* kBlockHeight)
    matteKernel(SourceRows source, int width, GuidedGrid grid, const ResolvedParams* params, std::uint8_t* out) {
    const int x = int(blockIdx.x) * kBlockWidth + int(threadIdx.x);
    if (x >= width) return;
    const Edge edge = params->edge;
    for (int y = int(blockIdx.y) * kBlockHeight + int(threadIdx.y); y < source.height;
         y += int(gridDim.y) * kBlockHeight) {
        const Rgba pixel = rgbaOf(loadPixel<format>(source, x, y));
        const float found = alphaAt(grid, GuidedSampler(grid, float(x), float(y)), pixel);
        out[std::size_t(y) * width + x] = mattePixel(found, edge, pixel);
    }
}

constexpr int kThreads = 256;

__global__ void premultiplyKernel(const uchar4* rgba, uchar4* premultiplied, unsigned pixels) {
    const unsigned i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= pixels) return;
    const uchar4 pixel = rgba[i];
    const auto times = [alpha = unsigned(pixel.w)](unsigned char color) {
        return static_cast<unsigned char>((color * alpha + 127) / 255);
    };
    premultiplied[i] = make_uchar4(times(pixel.x), times(pixel.y), times(pixel.z), pixel.w);
}

}  // namespace

void compositeOver(const Source& source,
                   const GuidedCoefficients& guided,
                   const ResolvedParams* params,
                   const std::uint8_t* plate,
                   std::uint8_t* rgba,
                   cudaStream_t stream) {
    withFormat(source.format, [&]<PixelFormat format>() {
        compositeKernel<format><<<blocksFor(source.size), dim3(kBlockWidth, kBlockHeight), 0, stream>>>(
            SourceRows(source), source.size.width, GuidedGrid(guided, source.size), params,
            reinterpret_cast<const uchar4*>(plate), reinterpret_cast<Rgba*>(rgba));
    });
    CUDA_CHECK(cudaGetLastError());
}

void renderMatte(const Source& source,
                 const GuidedCoefficients& guided,
                 const ResolvedParams* params,
                 std::uint8_t* gray,
                 cudaStream_t stream) {
    withFormat(source.format, [&]<PixelFormat format>() {
        matteKernel<format><<<blocksFor(source.size), dim3(kBlockWidth, kBlockHeight), 0, stream>>>(
            SourceRows(source), source.size.width, GuidedGrid(guided, source.size), params, gray);
    });
    CUDA_CHECK(cudaGetLastError());
}

void premultiply(const std::byte* rgba, Size size, std::byte* premultiplied, cudaStream_t stream) {
    const auto pixels = unsigned(size.pixels());
    premultiplyKernel<<<(pixels + kThreads - 1) / kThreads, kThreads, 0, stream>>>(
        reinterpret_cast<const uchar4*>(rgba), reinterpret_cast<uchar4*>(premultiplied), pixels);
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace matte::device
