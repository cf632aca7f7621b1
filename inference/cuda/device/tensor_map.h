// SPDX-License-Identifier: Apache-2.0
// Tensor maps for Hopper's Tensor Memory Accelerator (TMA). Any thread.
#pragma once

#include <cuda.h>

#include <array>

namespace matte {

/// A box of halves in a dense tensor, innermost dimension first. Box sides are at most 256. The first is at most 64; it
/// forms a row in shared memory, with the swizzle of its length (32, 64 or 128 bytes). Unused dimensions are 1.
struct TensorBox {
    std::array<int, 5> size{1, 1, 1, 1, 1};
    std::array<int, 5> box{1, 1, 1, 1, 1};
    int dimensions = 4;
};

/// `data` is 16-byte aligned and size[0] a multiple of 8. Throws Error(engine).
CUtensorMap makeTensorMap(const void* data, const TensorBox& box);

}  // namespace matte
