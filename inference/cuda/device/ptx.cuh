// SPDX-License-Identifier: Apache-2.0
// Wrappers of single PTX instructions that CUDA C++ lacks, for the tensor-core kernels. Shared-memory addresses are
// 32-bit, from sharedAddress(). Reference: the PTX ISA, sections 9.7.9 (cp.async, TMA), 9.7.13 (mbarrier), 9.7.14 (mma,
// ldmatrix, stmatrix) and 9.7.15 (wgmma).
#pragma once

#include <cuda.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace matte::ptx {

__device__ inline std::uint32_t sharedAddress(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// ---- sm_80 and newer -----------------------------------------------------------------------------------------------

/// Copies 16 bytes from global to shared memory; writes zeros if `valid` is false.
__device__ inline void copyAsync16(std::uint32_t shared, const void* global, bool valid) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "r"(valid ? 16 : 0)
                 : "memory");
}
/// The same for 4 bytes.
__device__ inline void copyAsync4(std::uint32_t shared, const void* global, bool valid) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(global), "r"(valid ? 4 : 0)
                 : "memory");
}
__device__ inline void copyAsyncCommit() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int pending>
__device__ inline void copyAsyncWait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

/// Loads four 8x8 matrices of halves; lane l gives the address of row l % 8 of matrix l / 8.
__device__ inline void loadMatrix4(std::uint32_t (&r)[4], std::uint32_t shared) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared)
                 : "memory");
}

/// d[16x8] += a[16x16] * b[16x8], half inputs, float accumulators.
__device__ inline void mma16816(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ inline uint4 loadShared16(std::uint32_t shared) {
    uint4 four;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(four.x), "=r"(four.y), "=r"(four.z), "=r"(four.w)
                 : "r"(shared)
                 : "memory");
    return four;
}

/// Programmatic dependent launch: lets the stream's next kernel start. No effect before sm_90.
__device__ inline void launchDependents() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
/// Waits until the stream's previous kernel has finished and its writes are visible. No effect before sm_90.
__device__ inline void waitForPrevious() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// ---- sm_90 and newer -----------------------------------------------------------------------------------------------
#if __CUDA_ARCH__ >= 900

/// Stores four 8x8 matrices of halves transposed: lane l gives the address of column l % 8 of matrix l / 8.
__device__ inline void storeMatrix4Transposed(std::uint32_t shared, const std::uint32_t (&r)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared), "r"(r[0]),
                 "r"(r[1]), "r"(r[2]), "r"(r[3])
                 : "memory");
}

__device__ inline void barrierInit(std::uint32_t barrier, std::uint32_t arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
/// Makes initialised barriers visible to the async proxy (TMA) and the cluster.
__device__ inline void barrierInitFence() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void barrierArrive(std::uint32_t barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ inline void barrierArriveExpect(std::uint32_t barrier, std::uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ inline bool barrierTryWait(std::uint32_t barrier, std::uint32_t parity) {
    std::uint32_t done;
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}\n"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
    return done != 0;
}
/// Waits for the phase of that parity to complete. With MATTE_TRAP_HANGS an endless wait traps.
__device__ inline void barrierWait(std::uint32_t barrier, std::uint32_t parity) {
#ifdef MATTE_TRAP_HANGS
    for (int polls = 0; !barrierTryWait(barrier, parity); ++polls) {
        if (polls == 1 << 20) __trap();
    }
#else
    while (!barrierTryWait(barrier, parity)) {
    }
#endif
}

/// The same for a phase that other blocks of the cluster complete: acquires their stores to this block's shared memory.
__device__ inline void barrierWaitCluster(std::uint32_t barrier, std::uint32_t parity) {
    std::uint32_t done = 0;
    for (int polls = 0; done == 0; ++polls) {
#ifdef MATTE_TRAP_HANGS
        if (polls == 1 << 20) __trap();
#endif
        asm volatile(
            "{\n.reg .pred p;\n"
            "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
            "selp.u32 %0, 1, 0, p;\n}\n"
            : "=r"(done)
            : "r"(barrier), "r"(parity)
            : "memory");
    }
}

/// Maps the address `shared` to the same offset in the shared memory of the cluster's block `rank`.
__device__ inline std::uint32_t remoteAddress(std::uint32_t shared, int rank) {
    std::uint32_t address;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared), "r"(rank));
    return address;
}
/// Stores 16 bytes to another block's shared memory asynchronously; completion counts on that block's `barrier`.
__device__ inline void storeRemote16(std::uint32_t address, std::uint32_t barrier, float4 four) {
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%2, %3, %4, %5}, [%1];" ::"r"(
            address),
        "r"(barrier), "f"(four.x), "f"(four.y), "f"(four.z), "f"(four.w)
        : "memory");
}
/// Synchronises all threads of the cluster. Orders no memory but barriers published by barrierInitFence().
__device__ inline void clusterBarrier() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// Barrier `id` (1 to 15) among `threads` threads of the block.
__device__ inline void namedBarrier(int id, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Arrives at the named barrier without waiting.
__device__ inline void namedBarrierArrive(int id, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Orders this thread's writes to shared memory before later TMA reads.
__device__ inline void proxyFence() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ inline void prefetchTensorMap(const CUtensorMap* map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/// Loads the box at (c, x, y, n) into shared memory. Elements outside the tensor are zeros and count as bytes too.
__device__ inline void tmaLoad4d(
    std::uint32_t shared, const CUtensorMap* map, std::uint32_t barrier, int c, int x, int y, int n) {
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], "
        "[%2];" ::"r"(shared),
        "l"(map), "r"(barrier), "r"(c), "r"(x), "r"(y), "r"(n)
        : "memory");
}
/// Stores the box at (c, x, d, y, n) from shared memory. Elements outside the tensor are not written.
__device__ inline void tmaStore5d(const CUtensorMap* map, std::uint32_t shared, int c, int x, int d, int y, int n) {
    asm volatile("cp.async.bulk.tensor.5d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map),
                 "r"(shared), "r"(c), "r"(x), "r"(d), "r"(y), "r"(n)
                 : "memory");
}
__device__ inline void bulkLoad(std::uint32_t shared, const void* global, std::uint32_t bytes, std::uint32_t barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared),
        "l"(global), "r"(bytes), "r"(barrier)
        : "memory");
}
__device__ inline void storeCommit() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Waits until at most `pending` of this thread's store groups still read shared memory.
template <int pending>
__device__ inline void storeWaitRead() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}
/// Waits until this thread's stores are complete in global memory.
__device__ inline void storeWaitDone() {
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
#endif

}  // namespace matte::ptx
