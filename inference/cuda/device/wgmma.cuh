// SPDX-License-Identifier: Apache-2.0
// Hopper's warp-group matrix instructions: d[64 x N] += a[64 x 16] * b[16 x N] by the 128 threads of a warp group. Both
// operands lie in swizzled shared memory with K contiguous, given by descriptors. PTX ISA, section 9.7.15. Thread t
// holds rows 16 (t / 32 % 4) + t % 32 / 4 + {0, 8} and columns 8 j + 2 (t % 4) + {0, 1}: d[4 j + 2 (row half) +
// column].
#pragma once

#include <cstdint>

namespace matte::ptx {
#if __CUDA_ARCH_FEAT_SM90_ALL

/// The descriptor of an operand with rows of rowBytes (32, 64 or 128, which is also the swizzle) and groups of 8 rows
/// that are groupStride bytes apart.
__device__ inline std::uint64_t wgmmaDescriptor(std::uint32_t shared, int groupStride, int rowBytes) {
    const std::uint64_t swizzle = rowBytes == 128 ? 1 : rowBytes == 64 ? 2 : 3;
    return std::uint64_t((shared & 0x3FFFF) >> 4) | std::uint64_t(1) << 16 | std::uint64_t(groupStride >> 4) << 32 |
           swizzle << 62;
}

/// Required before the first wgmma and after other code has accessed the accumulators.
__device__ inline void wgmmaFence() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void wgmmaCommit() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int pending>
__device__ inline void wgmmaWait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}
template <int registers>
__device__ inline void takeRegisters() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers>
__device__ inline void giveRegisters() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}

// clang-format off
// The accumulators' names in the instruction text, and the operand lists.
#define MATTE_NAMES_32 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define MATTE_NAMES_64 MATTE_NAMES_32 ", " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define MATTE_NAMES_128 MATTE_NAMES_64 ", " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define MATTE_SUMS_8(i) \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define MATTE_SUMS_32(i) MATTE_SUMS_8(i), MATTE_SUMS_8(i + 8), MATTE_SUMS_8(i + 16), MATTE_SUMS_8(i + 24)
#define MATTE_WGMMA(shape, names, a, b) \
    "wgmma.mma_async.sync.aligned." shape ".f32.f16.f16 {" names "}, " a ", " b ", 1, 1, 1, 0, 0;"
// clang-format on

__device__ inline void wgmma(float (&d)[32], std::uint64_t a, std::uint64_t b) {
    asm volatile(MATTE_WGMMA("m64n64k16", MATTE_NAMES_32, "%32", "%33") : MATTE_SUMS_32(0) : "l"(a), "l"(b));
}
__device__ inline void wgmma(float (&d)[64], std::uint64_t a, std::uint64_t b) {
    asm volatile(MATTE_WGMMA("m64n128k16", MATTE_NAMES_64, "%64", "%65")
                 : MATTE_SUMS_32(0), MATTE_SUMS_32(32)
                 : "l"(a), "l"(b));
}
__device__ inline void wgmma(float (&d)[128], std::uint64_t a, std::uint64_t b) {
    asm volatile(MATTE_WGMMA("m64n256k16", MATTE_NAMES_128, "%128", "%129")
                 : MATTE_SUMS_32(0), MATTE_SUMS_32(32), MATTE_SUMS_32(64), MATTE_SUMS_32(96)
                 : "l"(a), "l"(b));
}

#undef MATTE_NAMES_32
#undef MATTE_NAMES_64
#undef MATTE_NAMES_128
#undef MATTE_SUMS_8
#undef MATTE_SUMS_32
#undef MATTE_WGMMA
#endif
}  // namespace matte::ptx
