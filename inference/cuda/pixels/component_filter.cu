// SPDX-License-Identifier: Apache-2.0
// Connected parts by union-find on the GPU: each pixel points to one of its part with a smaller index, the first pixel
// of a part to itself (Playne and Hawick, "A New Algorithm for Parallel Connected-Component Labelling on GPUs", 2018,
// with runs of a row linked at once).
#include <algorithm>

#include "inference/cuda/pixels/component_filter.h"
#include "inference/cuda/pixels/pixels_vector.cuh"

namespace matte::device {
namespace {

constexpr unsigned char kNobody = 0, kGoing = 1, kStaying = 2;

struct Here {
    int x, y, i;
    bool inside;
};
/// The pixel of this thread: a warp is a run of 32 in a row.
__device__ Here here(int width, int height) {
    const int x = int(blockIdx.x) * kBlockWidth + int(threadIdx.x);
    const int y = int(blockIdx.y) * kBlockHeight + int(threadIdx.y);
    return {x, y, y * width + x, x < width && y < height};
}

__device__ int rootOf(const int* parents, int i) {
    const volatile int* now = parents;  // others are uniting
    for (int parent = now[i]; parent != i; parent = now[i]) i = parent;
    return i;
}

__device__ void unite(int* parents, int a, int b) {
    for (;;) {
        a = rootOf(parents, a);
        b = rootOf(parents, b);
        if (a == b) return;
        const int low = min(a, b), high = max(a, b);
        const int before = atomicMin(parents + high, low);
        if (before == high) return;
        a = low;  // another thread has linked `high` meanwhile: unite with its component, too
        b = before;
    }
}

/// Copies the matte and links each pixel to the first of its run within the warp.
__global__ void startKernel(const float* matte,
                            int width,
                            int height,
                            const ResolvedParams* params,
                            NonFiniteFlag nonFinite,
                            unsigned char* kept,
                            ComponentScratch scratch,
                            float* selected) {
    const Here at = here(width, height);
    float alpha = at.inside ? matte[at.i] : 0.0F;
    if (!isfinite(alpha)) {
        if (nonFinite.onDevice) *nonFinite.onDevice = 1;
        if (nonFinite.onHost) *nonFinite.onHost = 1;
        alpha = 0;
    }
    const bool somebody = alpha > kSomebody;
    const unsigned run = __ballot_sync(~0U, somebody), before = ~run & ((1U << threadIdx.x) - 1);
    if (!at.inside) return;
    selected[at.i] = alpha;
    const int first = before == 0 ? 0 : 32 - __clz(int(before));
    scratch.parents[at.i] = somebody ? at.i - (int(threadIdx.x) - first) : -1;
    scratch.areas[at.i] = 0;
    scratch.rooms[at.i] = 0;
    if (!params->hasComponentFilter()) kept[at.i] = 0;
    if (at.i > 0) return;
    scratch.most[0] = scratch.most[1] = 0;
    *scratch.going = 0;
}

/// Links what touches across runs: corners only where no straight neighbour makes the same link.
__global__ void uniteKernel(int width, int height, const ResolvedParams* params, int* parents) {
    const Here at = here(width, height);
    if (!params->hasComponentFilter() || !at.inside || parents[at.i] < 0) return;
    const auto is = [&](int x, int y) { return x >= 0 && x < width && y >= 0 && parents[y * width + x] >= 0; };
    const bool left = is(at.x - 1, at.y);
    if (left && threadIdx.x == 0) unite(parents, at.i, at.i - 1);
    const int above = at.i - width;
    const bool aboveLeft = is(at.x - 1, at.y - 1);
    if (is(at.x, at.y - 1)) {
        if (!left || !aboveLeft) unite(parents, at.i, above);
        return;
    }
    if (aboveLeft && !left) unite(parents, at.i, above - 1);
    if (is(at.x + 1, at.y - 1) && !is(at.x + 1, at.y)) unite(parents, at.i, above + 1);
}

/// Links each pixel to its root and counts there; the lanes of one part add up first.
__global__ void countKernel(
    int width, int height, const ResolvedParams* params, const unsigned char* kept, ComponentScratch scratch) {
    if (!params->hasComponentFilter()) return;
    const Here at = here(width, height);
    int root = -1;
    unsigned room = 0;
    if (at.inside && scratch.parents[at.i] >= 0) {
        root = rootOf(scratch.parents, at.i);
        scratch.parents[at.i] = root;
        room = roomOf(at.x, at.y, width, height, kept[at.i] != 0);
    }
    const unsigned together = __match_any_sync(~0U, root);
    const unsigned sum = __reduce_add_sync(together, room);
    if (root < 0 || int(threadIdx.x) != __ffs(int(together)) - 1) return;
    atomicAdd(scratch.areas + root, unsigned(__popc(together)));
    atomicAdd(scratch.rooms + root, sum);
}

/// The largest part, and the one with the most room: of equals the first.
__global__ void mostKernel(int width, int height, const ResolvedParams* params, ComponentScratch scratch) {
    const Here at = here(width, height);
    if (!params->hasComponentFilter() || !at.inside || scratch.parents[at.i] != at.i) return;
    atomicMax(scratch.most, static_cast<unsigned long long>(scratch.areas[at.i]));
    const auto room = static_cast<unsigned long long>(scratch.rooms[at.i]);
    atomicMax(scratch.most + 1, room << 32 | (0xffffffffU - unsigned(at.i)));
}

__global__ void judgeKernel(
    int width, int height, const ResolvedParams* params, unsigned char* kept, ComponentScratch scratch) {
    const Here at = here(width, height);
    if (!params->hasComponentFilter() || !at.inside) return;
    const int root = scratch.parents[at.i];
    unsigned char side = kNobody;
    if (root >= 0) {
        const bool smallRegion =
            params->removeSmallRegions &&
            isSmallRegion(scratch.areas[root], unsigned(scratch.most[0]), unsigned(width) * unsigned(height));
        const bool nearest = 0xffffffffU - unsigned(scratch.most[1]) == unsigned(root);
        side = !smallRegion && (nearest || !params->nearestOnly) ? kStaying : kGoing;
    }
    scratch.sides[at.i] = side;
    kept[at.i] = side == kStaying;
    if (side == kGoing) *scratch.going = 1;
}

__global__ void rowsKernel(int width, int height, const ResolvedParams* params, int reach, ComponentScratch scratch) {
    const Here at = here(width, height);
    if (!params->hasComponentFilter() || *scratch.going == 0 || !at.inside) return;
    int staying = reach, going = reach;
    for (int x = max(at.x - reach, 0); x <= min(at.x + reach, width - 1); ++x) {
        const unsigned char side = scratch.sides[at.i - at.x + x];
        const int away = abs(x - at.x);
        if (side == kStaying) staying = min(staying, away);
        if (side == kGoing) going = min(going, away);
    }
    scratch.near[at.i] = {static_cast<unsigned char>(staying), static_cast<unsigned char>(going)};
}

__global__ void fadeKernel(
    int width, int height, const ResolvedParams* params, int reach, ComponentScratch scratch, float* selected) {
    const Here at = here(width, height);
    if (!params->hasComponentFilter() || *scratch.going == 0 || !at.inside) return;
    int staying = reach * reach, going = reach * reach;
    for (int y = max(at.y - reach, 0); y <= min(at.y + reach, height - 1); ++y) {
        const uchar2 near = scratch.near[y * width + at.x];
        const int down = (y - at.y) * (y - at.y);
        staying = min(staying, near.x * near.x + down);
        going = min(going, near.y * near.y + down);
    }
    selected[at.i] *= stayingShare(sqrtf(float(staying)), sqrtf(float(going)), reach);
}

}  // namespace

ComponentScratch::ComponentScratch(Partition& parts, Size size)
    : parents(parts.take<int>(size.pixels())),
      areas(parts.take<unsigned>(size.pixels())),
      rooms(parts.take<unsigned>(size.pixels())),
      sides(parts.take<unsigned char>(size.pixels())),
      near(parts.take<uchar2>(size.pixels())),
      most(parts.take<unsigned long long>(2)),
      going(parts.take<int>(1)) {}

void keepComponents(const float* matte,
                    Size size,
                    const ResolvedParams* params,
                    const NonFiniteFlag& nonFinite,
                    unsigned char* kept,
                    const ComponentScratch& scratch,
                    float* selected,
                    cudaStream_t stream) {
    const auto [width, height] = size;
    const dim3 block(kBlockWidth, kBlockHeight);
    const dim3 grid = blocksFor(size);
    const int reach = surroundings(size.longest());
    startKernel<<<grid, block, 0, stream>>>(matte, width, height, params, nonFinite, kept, scratch, selected);
    uniteKernel<<<grid, block, 0, stream>>>(width, height, params, scratch.parents);
    countKernel<<<grid, block, 0, stream>>>(width, height, params, kept, scratch);
    mostKernel<<<grid, block, 0, stream>>>(width, height, params, scratch);
    judgeKernel<<<grid, block, 0, stream>>>(width, height, params, kept, scratch);
    rowsKernel<<<grid, block, 0, stream>>>(width, height, params, reach, scratch);
    fadeKernel<<<grid, block, 0, stream>>>(width, height, params, reach, scratch, selected);
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace matte::device
