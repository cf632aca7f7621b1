// SPDX-License-Identifier: Apache-2.0
// RAII wrappers of CUDA objects, and their errors. Each is move-only, releases in its destructor and belongs to the
// device that was current at its construction. Any thread, one at a time per object.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <utility>

#include "inference/core/error.h"

namespace matte {

/// Thrown for every failed CUDA call. `code` tells a lack of memory, which a smaller picture may avoid, from a lost
/// device.
struct CudaError : Error {
    CudaError(cudaError_t failed, const char* call)
        : Error(ErrorCategory::engine,
                std::string("The GPU failed (") + cudaGetErrorString(failed) + ", in " + call +
                    "): choose the CPU engine, or start the program again."),
          code(failed) {}
    cudaError_t code;
};

#define CUDA_CHECK(call)                                                                 \
    do {                                                                                 \
        const cudaError_t cudaCheckResult = (call);                                      \
        if (cudaCheckResult != cudaSuccess) {                                            \
            cudaGetLastError(); /* or the next launch would report this one once more */ \
            throw ::matte::CudaError(cudaCheckResult, #call);                            \
        }                                                                                \
    } while (false)

/// A handle with a CUDA release function. Ignores release errors: once the device is lost, every call fails.
template <typename Handle, cudaError_t (*release)(Handle)>
class CudaHandle {
public:
    CudaHandle() = default;
    explicit CudaHandle(Handle handle) : handle_(handle) {}
    ~CudaHandle() { reset(); }
    CudaHandle(CudaHandle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    CudaHandle& operator=(CudaHandle&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    [[nodiscard]] Handle get() const { return handle_; }
    /// Where a function that creates a handle puts it; empty before.
    [[nodiscard]] Handle* put() {
        reset();
        return &handle_;
    }
    explicit operator bool() const { return handle_ != nullptr; }
    void reset() {
        if (handle_) release(std::exchange(handle_, nullptr));
    }

private:
    Handle handle_ = nullptr;
};

/// A non-blocking stream: it does not synchronise with the default stream.
class Stream {
public:
    Stream() { CUDA_CHECK(cudaStreamCreateWithFlags(stream_.put(), cudaStreamNonBlocking)); }
    [[nodiscard]] cudaStream_t get() const { return stream_.get(); }
    void wait() const { CUDA_CHECK(cudaStreamSynchronize(get())); }

private:
    CudaHandle<cudaStream_t, cudaStreamDestroy> stream_;
};

/// An event. Recorded during stream capture, it becomes an event node of the graph and is recorded at each launch.
class Event {
public:
    /// timing: wait() spins. asleep: wait() sleeps. order: no timing, for waitOn().
    enum class Kind { timing = 1, asleep, order };
    explicit Event(Kind kind = Kind::timing) {
        const unsigned flags = kind == Kind::timing   ? cudaEventDefault
                               : kind == Kind::asleep ? cudaEventBlockingSync
                                                      : cudaEventDisableTiming;
        CUDA_CHECK(cudaEventCreateWithFlags(event_.put(), flags));
    }
    [[nodiscard]] cudaEvent_t get() const { return event_.get(); }
    void record(cudaStream_t stream) const {
        CUDA_CHECK(cudaEventRecordWithFlags(get(), stream,
                                            isRecorded(stream) ? cudaEventRecordExternal : cudaEventRecordDefault));
    }
    /// Makes `stream` wait for the last record(), if any.
    void waitOn(cudaStream_t stream) const {
        CUDA_CHECK(
            cudaStreamWaitEvent(stream, get(), isRecorded(stream) ? cudaEventWaitExternal : cudaEventWaitDefault));
    }
    void wait() const { CUDA_CHECK(cudaEventSynchronize(get())); }
    [[nodiscard]] float msSince(const Event& start) const {
        float ms = 0;
        CUDA_CHECK(cudaEventElapsedTime(&ms, start.get(), get()));
        return ms;
    }

private:
    static bool isRecorded(cudaStream_t stream) {
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        CUDA_CHECK(cudaStreamIsCapturing(stream, &status));
        return status != cudaStreamCaptureStatusNone;
    }
    CudaHandle<cudaEvent_t, cudaEventDestroy> event_;
};

/// Makes later work on `later` wait for the work so far on `earlier`; during capture, as a dependency in the graph.
inline void follow(cudaStream_t later, cudaStream_t earlier, const Event& event) {
    CUDA_CHECK(cudaEventRecord(event.get(), earlier));
    CUDA_CHECK(cudaStreamWaitEvent(later, event.get(), 0));
}

/// Uninitialised memory.
template <cudaError_t (*allocate)(void**, std::size_t), cudaError_t (*release)(void*)>
class CudaMemory {
public:
    CudaMemory() = default;
    explicit CudaMemory(std::size_t bytes) { reallocate(bytes); }
    /// Frees what it has before: both may not fit.
    void reallocate(std::size_t bytes) {
        data_.reset();
        bytes_ = 0;
        if (bytes > 0) CUDA_CHECK(allocate(data_.put(), bytes));
        bytes_ = bytes;
    }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    [[nodiscard]] std::byte* data() const { return as<std::byte>(); }
    template <typename T>
    [[nodiscard]] T* as() const {
        return static_cast<T*>(data_.get());
    }

private:
    CudaHandle<void*, release> data_;
    std::size_t bytes_ = 0;
};
using DeviceBuffer = CudaMemory<cudaMalloc, cudaFree>;
/// Page-locked host memory: copies from and to it run concurrently with kernels.
using PinnedBuffer = CudaMemory<cudaMallocHost, cudaFreeHost>;

/// Runs `work`; false when there was not enough device memory for it.
template <typename Work>
bool fitsMemory(const Work& work) {
    try {
        work();
        return true;
    } catch (const CudaError& error) {
        if (error.code != cudaErrorMemoryAllocation) throw;
        return false;
    }
}

/// A CUDA graph: work captured once from a stream and launched as one unit.
class Graph {
public:
    Graph() = default;
    /// Calls `enqueue` once while `stream` is capturing.
    template <typename Enqueue>
    Graph(cudaStream_t stream, Enqueue&& enqueue) {
        CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        cudaGraph_t recorded = nullptr;
        try {
            enqueue();
        } catch (...) {
            cudaStreamEndCapture(stream, &recorded);
            if (recorded) cudaGraphDestroy(recorded);
            throw;
        }
        CUDA_CHECK(cudaStreamEndCapture(stream, &recorded));
        const CudaHandle<cudaGraph_t, cudaGraphDestroy> graph(recorded);
        CUDA_CHECK(cudaGraphInstantiate(exec_.put(), graph.get(), 0));
    }
    explicit operator bool() const { return bool(exec_); }
    void launch(cudaStream_t stream) const { CUDA_CHECK(cudaGraphLaunch(exec_.get(), stream)); }

private:
    CudaHandle<cudaGraphExec_t, cudaGraphExecDestroy> exec_;
};

/// Whether the program's kernels run on the current device: cudaSuccess, cudaErrorNoKernelImageForDevice when they were
/// compiled for other architectures, or the device's error.
cudaError_t probeKernels();

}  // namespace matte
