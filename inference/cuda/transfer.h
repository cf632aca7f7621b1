// SPDX-License-Identifier: Apache-2.0
// Copies between pageable host memory and the device through a small ring of page-locked pieces, so that copying on the
// host and over the bus go on side by side whatever the picture's size. One thread at a time, one stream.
#pragma once

#include <array>

#include "inference/cuda/cuda.h"

namespace matte {

class Transfer {
public:
    Transfer();
    /// Returns when `from` has been read; the device has it in the stream's order.
    void upload(const void* from, std::size_t bytes, std::byte* to, cudaStream_t stream);
    /// Returns when `to` has been written.
    void download(const std::byte* from, std::size_t bytes, void* to, cudaStream_t stream);

private:
    static constexpr std::size_t kPieceBytes = std::size_t(2) << 20;
    struct Piece {
        PinnedBuffer bytes{kPieceBytes};
        Event idle;
    };
    std::array<Piece, 4> ring_;
};

}  // namespace matte
