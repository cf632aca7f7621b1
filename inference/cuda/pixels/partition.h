// SPDX-License-Identifier: Apache-2.0
// Partition: divides one block of memory into arrays, 256-byte aligned. Any thread.
//
//     Partition parts(memory);   float* sums = parts.take<float>(pixels);
//     Partition size;   size.take<float>(pixels);   DeviceBuffer memory(size.bytes());
#pragma once

#include <cstddef>

#include "inference/core/image.h"

namespace matte {

class Partition {
public:
    /// With null, only counts bytes.
    explicit Partition(std::byte* memory = nullptr) : memory_(memory) {}
    template <typename T>
    T* take(std::size_t count) {
        constexpr std::size_t kAlignment = 256;
        T* part = memory_ ? reinterpret_cast<T*>(memory_ + bytes_) : nullptr;
        bytes_ += (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
        return part;
    }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

private:
    std::byte* memory_;
    std::size_t bytes_ = 0;
};

/// Base of a struct of arrays for one size, `Parts`, whose constructor takes them from a Partition.
template <typename Parts>
struct Partitioned {
    static std::size_t bytes(Size size) {
        Partition counted;
        Parts(counted, size);
        return counted.bytes();
    }
    /// Divides `memory` of bytes(size) bytes.
    static Parts in(std::byte* memory, Size size) {
        Partition parts(memory);
        return Parts(parts, size);
    }
};

}  // namespace matte
