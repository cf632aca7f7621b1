// SPDX-License-Identifier: Apache-2.0
// From the network's small matte to the coefficients, on the GPU: matting/guided_filter.cpp's steps, each box filter's
// first and last step inside its two kernels.
#include "inference/cuda/pixels/pixels.h"
#include "inference/cuda/pixels/pixels_box.cuh"

namespace matte::device {
namespace {

/// Rows that a thread slides down. Starting a window costs twice its radius, so a wide one pays for a long way.
constexpr int kShortRun = 16, kMiddleRun = 32, kLongRun = 64;

struct LoadMoments {
    static constexpr int kRangeBits = 1;
    const float4* guide;
    const float* target;
    int width;
    __device__ float4 operator()(int x, int y, int plane) const {
        const std::size_t i = std::size_t(y) * width + x;
        const float4 pixel = guide[i];
        const float color[3] = {pixel.x, pixel.y, pixel.z};
        float m[16];
        windowMoments(color, target[i], m);
        m[15] = 0;
        return plane == 0   ? make_float4(m[0], m[1], m[2], m[3])
               : plane == 1 ? make_float4(m[4], m[5], m[6], m[7])
               : plane == 2 ? make_float4(m[8], m[9], m[10], m[11])
                            : make_float4(m[12], m[13], m[14], m[15]);
    }
};

struct StoreModel {
    float4* models;
    float* shares;
    int width;
    __device__ void operator()(int x, int y, int, const float4* mean) const {
        float sums[16], model[5];
#pragma unroll
        for (int p = 0; p < 4; ++p) {
            sums[4 * p] = mean[p].x;
            sums[4 * p + 1] = mean[p].y;
            sums[4 * p + 2] = mean[p].z;
            sums[4 * p + 3] = mean[p].w;
        }
        solveWindow(sums, model);
        const std::size_t i = std::size_t(y) * width + x;
        models[i] = {model[0], model[1], model[2], model[3]};
        shares[i] = model[4];
    }
};

struct LoadModel {
    // A model's slope is at most alpha's deviation over twice the square root of kFlatness: 25, its offset thrice that.
    static constexpr int kRangeBits = 7;
    const float4* models;
    const float* shares;
    int width;
    __device__ float4 operator()(int x, int y, int plane) const {
        const std::size_t i = std::size_t(y) * width + x;
        return plane == 0 ? models[i] : make_float4(shares[i], 0, 0, 0);
    }
};

struct StoreCoefficients {
    const float4* guide;
    const float* target;
    float4 *coefficients, *linear;
    int width;
    __device__ void operator()(int x, int y, int, const float4* mean) const {
        const std::size_t i = std::size_t(y) * width + x;
        const float4 color = guide[i];
        float4 c = mean[0];
        // Where colour does not explain the matte, keep the network's alpha.
        c.w += (1 - mean[1].x) * target[i];
        coefficients[i] = c;
        linear[i] = {srgbToLinear(color.x), srgbToLinear(color.y), srgbToLinear(color.z),
                     clampUnit(c.x * color.x + c.y * color.y + c.z * color.z + c.w)};
    }
};

/// A colour times a weight, and the weight.
__device__ float4 weighted(float4 color, float weight) {
    return {color.x * weight, color.y * weight, color.z * weight, weight};
}

__device__ float4 personColor(float4 pixel, float4 foreground, float4 background) {
    return {foregroundColor(pixel.x, pixel.w, foreground.x, background.x),
            foregroundColor(pixel.y, pixel.w, foreground.y, background.y),
            foregroundColor(pixel.z, pixel.w, foreground.z, background.z), 0};
}

__device__ float4 roomColor(float4 pixel, float4 foreground, float4 background) {
    return {backgroundColor(pixel.x, pixel.w, foreground.x, background.x),
            backgroundColor(pixel.y, pixel.w, foreground.y, background.y),
            backgroundColor(pixel.z, pixel.w, foreground.z, background.z), 0};
}

__device__ float4 sideColors(float4 mean, float4 farther) {
    return {sideColor(mean.x, mean.w, farther.x), sideColor(mean.y, mean.w, farther.y),
            sideColor(mean.z, mean.w, farther.z), 0};
}

constexpr int kTotalThreads = 256;

/// Sum over the block in its first thread.
__device__ float4 blockSum(float4 value) {
    __shared__ float4 warps[kTotalThreads / 32];
    for (int step = 16; step > 0; step /= 2) {
        const float4 other = {__shfl_down_sync(~0U, value.x, step), __shfl_down_sync(~0U, value.y, step),
                              __shfl_down_sync(~0U, value.z, step), __shfl_down_sync(~0U, value.w, step)};
        accumulate(value, 1, other);
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    float4 sum{};
    if (threadIdx.x == 0) {
        for (const float4& warp : warps) accumulate(sum, 1, warp);
    }
    return sum;
}

/// Each block's part of both sides' totals, always added in the same order: parts[side][block].
__global__ void __launch_bounds__(kTotalThreads) totalsKernel(const float4* linear, std::size_t pixels, float4* parts) {
    float4 person{}, behind{};
    for (std::size_t i = std::size_t(blockIdx.x) * kTotalThreads + threadIdx.x; i < pixels;
         i += std::size_t(gridDim.x) * kTotalThreads) {
        const float4 pixel = linear[i];
        accumulate(person, 1, weighted(pixel, pixel.w));
        accumulate(behind, 1, weighted(pixel, 1 - pixel.w));
    }
    const float4 sums[2] = {blockSum(person), blockSum(behind)};
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sums[0];
        parts[gridDim.x + blockIdx.x] = sums[1];
    }
}

/// Block 0 and 1: the person's and the background's colour in the whole picture.
__global__ void __launch_bounds__(kTotalThreads)
    wholeColorsKernel(const float4* parts, int count, float perPixel, float4* colors) {
    float4 sum{};
    for (int i = int(threadIdx.x); i < count; i += kTotalThreads) accumulate(sum, 1, parts[blockIdx.x * count + i]);
    sum = blockSum(sum);
    if (threadIdx.x == 0) colors[blockIdx.x] = sideColors(scaled(sum, perPixel), float4{});
}

/// The estimates so far: one for the whole picture or one for each pixel.
struct SideColors {
    const float4 *foreground, *background;
    bool whole;
    __device__ float4 person(float4 pixel, std::size_t i) const {
        return personColor(pixel, foreground[whole ? 0 : i], background[whole ? 0 : i]);
    }
    __device__ float4 room(float4 pixel, std::size_t i) const {
        return roomColor(pixel, foreground[whole ? 0 : i], background[whole ? 0 : i]);
    }
    __device__ float4 mean(int side, std::size_t i) const {
        return (side == 0 ? foreground : background)[whole ? 0 : i];
    }
};

/// Plane 0: the person's colour times alpha; plane 1: the background's times 1 - alpha.
struct LoadSides {
    static constexpr int kRangeBits = 0;
    const float4* linear;
    SideColors soFar;
    int width;
    __device__ float4 operator()(int x, int y, int plane) const {
        const std::size_t i = std::size_t(y) * width + x;
        const float4 pixel = linear[i];
        return plane == 0 ? weighted(soFar.person(pixel, i), pixel.w) : weighted(soFar.room(pixel, i), 1 - pixel.w);
    }
};

struct StoreSides {
    SideColors soFar;
    float4 *foreground, *background;
    int width;
    __device__ void operator()(int x, int y, int plane, const float4* mean) const {
        const std::size_t i = std::size_t(y) * width + x;
        (plane == 0 ? foreground : background)[i] = sideColors(mean[0], soFar.mean(plane, i));
    }
};

struct LoadBehind {
    static constexpr int kRangeBits = 0;
    const float4* linear;
    int width;
    __device__ float4 operator()(int x, int y, int) const {
        const float4 pixel = linear[std::size_t(y) * width + x];
        return weighted(pixel, roomShare(pixel.w));
    }
};

struct LoadPlain {
    static constexpr int kRangeBits = 0;
    const float4* values;
    int width;
    __device__ float4 operator()(int x, int y, int) const { return values[std::size_t(y) * width + x]; }
};

struct StorePlain {
    float4* values;
    int width;
    __device__ void operator()(int x, int y, int, const float4* mean) const {
        values[std::size_t(y) * width + x] = mean[0];
    }
};

struct StoreBlurred {
    const float4* background;
    float4* blurred;
    int width;
    __device__ void operator()(int x, int y, int, const float4* mean) const {
        const std::size_t i = std::size_t(y) * width + x;
        const float4 sum = mean[0], wide = background[i];
        blurred[i] = {blurredColor(sum.x, sum.w, wide.x), blurredColor(sum.y, sum.w, wide.y),
                      blurredColor(sum.z, sum.w, wide.z), 0};
    }
};

/// The new background where a point of the grid is shown, times how much of it there is.
struct LoadWrap {
    static constexpr int kRangeBits = 0;
    const float4 *linear, *blurred;
    const ResolvedParams* params;
    const uchar4* plate;
    Size grid, frame;
    __device__ float4 operator()(int x, int y, int) const {
        const std::size_t i = std::size_t(y) * grid.width + x;
        const float share = 1 - linear[i].w;
        if (params->kind == Background::Kind::blur) return weighted(blurred[i], share);
        if (params->kind != Background::Kind::image || !plate) {
            return weighted({params->color[0], params->color[1], params->color[2], 0}, share);
        }
        const InverseMapping mapping = params->mapping;
        const int shownX = shownAt(mapping.perX, mapping.fromX, x, grid.width, frame.width);
        const int shownY = shownAt(mapping.perY, mapping.fromY, y, grid.height, frame.height);
        const uchar4 pixel = plate[std::size_t(shownY) * frame.width + shownX];
        constexpr float kScale = 1.0F / 255;
        return weighted({srgbToLinear(float(pixel.x) * kScale), srgbToLinear(float(pixel.y) * kScale),
                         srgbToLinear(float(pixel.z) * kScale), 0},
                        share);
    }
};

}  // namespace

void fitGuidedFilter(const GuidedCoefficients& guided, const Scratch& scratch, int radius, cudaStream_t stream) {
    const int width = guided.size.width;
    boxRows(LoadMoments{scratch.guide, scratch.target, width}, guided.size, 4, {radius}, scratch.sums, stream);
    boxColumns<4, kShortRun>(scratch.sums, guided.size, 1, {radius}, StoreModel{scratch.models, scratch.shares, width},
                             stream);
    boxRows(LoadModel{scratch.models, scratch.shares, width}, guided.size, 2, {radius}, scratch.sums, stream);
    boxColumns<2, kShortRun>(
        scratch.sums, guided.size, 1, {radius},
        StoreCoefficients{scratch.guide, scratch.target, guided.coefficients, guided.linear, width}, stream);
}

void estimateColors(const GuidedCoefficients& guided, const Scratch& scratch, cudaStream_t stream) {
    const int width = guided.size.width, longest = guided.size.longest();
    float4 *whole = scratch.totals, *parts = scratch.totals + 2;
    totalsKernel<<<Scratch::kTotalBlocks, kTotalThreads, 0, stream>>>(guided.linear, guided.size.pixels(), parts);
    CUDA_CHECK(cudaGetLastError());
    wholeColorsKernel<<<2, kTotalThreads, 0, stream>>>(parts, Scratch::kTotalBlocks, 1 / float(guided.size.pixels()),
                                                       whole);
    CUDA_CHECK(cudaGetLastError());
    SideColors soFar{whole, whole + 1, true};
    const auto narrow = [&]<int run>(int radius) {
        boxRows(LoadSides{guided.linear, soFar, width}, guided.size, 2, {radius}, scratch.sums, stream);
        boxColumns<1, run>(scratch.sums, guided.size, 2, {radius},
                           StoreSides{soFar, guided.foreground, guided.background, width}, stream);
        soFar = {guided.foreground, guided.background, false};
    };
    narrow.template operator()<kLongRun>(wideColorRadius(longest));
    narrow.template operator()<kShortRun>(narrowColorRadius(longest));
}

void blurBackground(const GuidedCoefficients& guided,
                    const Scratch& scratch,
                    const ResolvedParams* params,
                    cudaStream_t stream) {
    const int width = guided.size.width;
    const Radius radius{0, &params->blurRadius};
    float4 *across = scratch.sums, *down = scratch.sums + guided.size.pixels();
    boxRows(LoadBehind{guided.linear, width}, guided.size, 1, radius, across, stream);
    boxColumns<1, kMiddleRun>(across, guided.size, 1, radius, StorePlain{down, width}, stream);
    boxRows(LoadPlain{down, width}, guided.size, 1, radius, across, stream);
    boxColumns<1, kMiddleRun>(across, guided.size, 1, radius, StorePlain{down, width}, stream);
    boxRows(LoadPlain{down, width}, guided.size, 1, radius, across, stream);
    boxColumns<1, kMiddleRun>(across, guided.size, 1, radius, StoreBlurred{guided.background, guided.blurred, width},
                              stream);
}

void wrapLight(const GuidedCoefficients& guided,
               const Scratch& scratch,
               const ResolvedParams* params,
               const std::uint8_t* plate,
               Size frame,
               cudaStream_t stream) {
    const int width = guided.size.width;
    const Radius radius{wrapRadius(guided.size.longest())};
    float4 *across = scratch.sums, *down = scratch.sums + guided.size.pixels();
    const LoadWrap load{guided.linear, guided.blurred, params, reinterpret_cast<const uchar4*>(plate),
                        guided.size,   frame};
    boxRows(load, guided.size, 1, radius, across, stream);
    boxColumns<1, kShortRun>(across, guided.size, 1, radius, StorePlain{down, width}, stream);
    boxRows(LoadPlain{down, width}, guided.size, 1, radius, across, stream);
    boxColumns<1, kShortRun>(across, guided.size, 1, radius, StorePlain{guided.wrap, width}, stream);
}

}  // namespace matte::device
