// SPDX-License-Identifier: Apache-2.0
// Copies between host memory and the device: page-locked memory as it is, other memory through a small ring of
// page-locked pieces, so that copying on the host and over the bus go on side by side whatever the picture's size. One
// thread at a time.
#pragma once

#include <array>

#include "inference/cuda/device/cuda.h"

namespace matte {

class StagedCopy {
public:
    StagedCopy();
    /// The device has it in the stream's order. `from` must stay as it is until then: page-locked memory is read later.
    void upload(const void* from, std::size_t bytes, std::byte* to, cudaStream_t stream);
    /// Returns when `to` has been written.
    void download(const std::byte* from, std::size_t bytes, void* to, cudaStream_t stream);
    /// By all uploads so far.
    [[nodiscard]] std::size_t bytesUp() const { return bytesUp_; }

private:
    static constexpr std::size_t kPieceBytes = std::size_t(2) << 20;
    struct Piece {
        PinnedBuffer bytes{kPieceBytes};
        Event idle;
    };
    std::array<Piece, 4> ring_;
    std::size_t next_ = 0;  ///< the piece that was used longest ago
    std::size_t bytesUp_ = 0;
};

}  // namespace matte
