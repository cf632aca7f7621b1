// SPDX-License-Identifier: Apache-2.0
// A wrapper for the differences between oneDNN 2 and 3, with the primitives that the network uses. Any thread; throws
// oneDNN's own errors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include "inference/model/unet.h"

namespace matte::onednn {

using dnnl::memory;
using Dims = memory::dims;

/// Post-ops of a primitive. A residual is copied into the output first and accumulated onto: with append_binary,
/// oneDNN 2.6's AMX kernels write past the output's last row where it ends within a tile.
struct Fused {
    bool addToOutput = false;
    bool relu = false, sigmoid = false, tanh = false;
};

/// Attributes with a user-provided scratchpad: the library's own is for one thread at a time.
dnnl::primitive_attr attributes(const Fused& fused);

/// `before` is the padding above and left, `after` below and right.
dnnl::convolution_forward::primitive_desc describeConv(const dnnl::engine& engine,
                                                       const memory::desc& src,
                                                       const memory::desc& weights,
                                                       const memory::desc& bias,
                                                       const memory::desc& dst,
                                                       memory::dim stride,
                                                       const Dims& before,
                                                       const Dims& after,
                                                       const dnnl::primitive_attr& attr);
dnnl::matmul::primitive_desc describeMatmul(const dnnl::engine& engine,
                                            const memory::desc& src,
                                            const memory::desc& weights,
                                            const memory::desc& bias,
                                            const memory::desc& dst);
/// 2x2 max pooling.
dnnl::pooling_forward::primitive_desc describePool(const dnnl::engine& engine,
                                                   const memory::desc& src,
                                                   const memory::desc& dst);

memory::data_type typeOf(const memory::desc& described);

/// The weights of input channels [first, first + count).
std::vector<float> sliceInputs(const Filter& filter, int first, int count);
/// One row of a 2x2 transposed convolution as a matrix [in, 2 x out]: the left pixel's outputs, then the right one's.
std::vector<float> upConvRow(const Filter& filter, int row);

/// Throws std::bad_alloc when less address space is left than the layers need. oneDNN doesn't check the allocation of
/// its generated code, some of which happens only in the first run, and would crash.
void requireMemory();

/// Whether this processor has the instruction set and oneDNN may use it.
bool processorHas(dnnl::cpu_isa isa);

/// Memory for oneDNN's kernels between two guard regions, which reveal writes out of bounds.
class Buffer {
public:
    explicit Buffer(std::size_t size)
        : size_(size), bytes_(static_cast<std::byte*>(::operator new(size + 2 * kMargin, kAligned))) {
        std::fill_n(bytes_.get(), kMargin, kUntouched);
        std::fill_n(data() + size_, kMargin, kUntouched);
    }
    [[nodiscard]] std::byte* data() const { return bytes_.get() + kMargin; }
    [[nodiscard]] bool isIntact() const {
        const std::vector<std::byte> untouched(kMargin, kUntouched);
        return std::memcmp(bytes_.get(), untouched.data(), kMargin) == 0 &&
               std::memcmp(data() + size_, untouched.data(), kMargin) == 0;
    }

private:
    static constexpr std::size_t kMargin = 4096;
    static constexpr std::byte kUntouched{0xA5};
    static constexpr std::align_val_t kAligned{64};
    struct Delete {
        void operator()(std::byte* bytes) const { ::operator delete(bytes, kAligned); }
    };
    std::size_t size_;
    std::unique_ptr<std::byte, Delete> bytes_;
};

/// RAII: while it exists, oneDNN runs single-threaded on the current thread.
class OneThread {
public:
    OneThread();
    ~OneThread();
    OneThread(const OneThread&) = delete;
    OneThread& operator=(const OneThread&) = delete;

private:
    int before_;
};

}  // namespace matte::onednn
