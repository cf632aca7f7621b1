// SPDX-License-Identifier: Apache-2.0
// StagedCopy: copies between host and device: page-locked memory directly, other memory through a small ring of
// page-locked buffers, which overlaps the copy on the host with the transfer over the bus. One thread at a time.
#pragma once

#include <array>

#include "inference/core/image.h"
#include "inference/cuda/device/cuda.h"

namespace matte {

class StagedCopy {
public:
    /// Enqueues the copy. `from` must stay unchanged until it is done, because page-locked memory is read later.
    void upload(const void* from, std::size_t bytes, std::byte* to, cudaStream_t stream);
    /// Returns when the copy is complete.
    void download(const std::byte* from, std::size_t bytes, void* to, cudaStream_t stream);
    /// Total of all uploads so far.
    [[nodiscard]] std::size_t bytesUp() const { return bytesUp_; }

private:
    static constexpr std::size_t kPieceBytes = std::size_t(2) << 20;
    struct Piece {
        PinnedBuffer bytes{kPieceBytes};
        Event idle;
    };
    std::array<Piece, 4> ring_;
    std::size_t next_ = 0;  ///< the least recently used buffer
    std::size_t bytesUp_ = 0;
};

/// Page-locked memory for a source's frames, which the GPU reads itself. Falls back to plain memory, so that a source
/// continues when the device is lost. Any thread.
PixelMemory pageLockedMemory();

}  // namespace matte
