// SPDX-License-Identifier: Apache-2.0
// What oneDNN's versions 2 and 3 say differently, and the primitives that the network is made of. Any thread; oneDNN's
// errors are thrown as its own.
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

/// What a primitive does besides the sum of products. A tensor to add goes into the output first: as a second input
/// (post_ops::append_binary) it makes version 2.6's kernels for AMX write beyond the output's last row, where that ends
/// within a tile.
struct Fused {
    bool addToOutput = false;
    bool relu = false, sigmoid = false;
};

/// With a scratchpad that the caller gives: oneDNN's own is for one thread at a time.
dnnl::primitive_attr attributes(const Fused& fused);

/// `before` and `after` are the paddings above and left, below and right.
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
/// The maxima of 2x2.
dnnl::pooling_forward::primitive_desc describePool(const dnnl::engine& engine,
                                                   const memory::desc& src,
                                                   const memory::desc& dst);

memory::data_type typeOf(const memory::desc& described);

/// The input channels [first, first + count) of a filter.
std::vector<float> sliceInputs(const Filter& filter, int first, int count);
/// One row of a 2x2 up-sampling filter as a matrix [in, 2 x out]: the left pixel's outputs, then the right one's.
std::vector<float> upConvRow(const Filter& filter, int row);

/// oneDNN does not look whether it got memory for what it compiles, be it at the first run only, and crashes. Throws
/// std::bad_alloc where the system has less address space left than the layers take.
void requireMemory();

/// Whether oneDNN may use an instruction set of this processor.
bool processorHas(dnnl::cpu_isa isa);

/// Memory for oneDNN's kernels between two margins, which show whether one wrote beyond it.
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

/// While one exists, oneDNN's loops run on the thread that it is on.
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
