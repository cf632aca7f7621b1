// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/device/staged_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace matte {
namespace {

bool isPageLocked(const void* memory) {
    cudaPointerAttributes attributes{};
    CUDA_CHECK(cudaPointerGetAttributes(&attributes, memory));
    return attributes.type == cudaMemoryTypeHost;
}

std::uint8_t* take(std::size_t bytes) {
    constexpr std::size_t kPage = 4096;
    const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
    auto* pixels = static_cast<std::uint8_t*>(std::aligned_alloc(kPage, whole));
    if (pixels && cudaHostRegister(pixels, whole, cudaHostRegisterPortable) != cudaSuccess) cudaGetLastError();
    return pixels;
}

void giveBack(std::uint8_t* pixels) {
    if (pixels && cudaHostUnregister(pixels) != cudaSuccess) cudaGetLastError();
    std::free(pixels);
}

}  // namespace

PixelMemory pageLockedMemory() {
    return {take, giveBack};
}

void StagedCopy::upload(const void* from, std::size_t bytes, std::byte* to, cudaStream_t stream) {
    bytesUp_ += bytes;
    if (isPageLocked(from)) {
        CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
        return;
    }
    const auto* source = static_cast<const std::byte*>(from);
    for (std::size_t done = 0; done < bytes; next_ = (next_ + 1) % ring_.size()) {
        const Piece& piece = ring_[next_];
        const std::size_t count = std::min(kPieceBytes, bytes - done);
        piece.idle.wait();
        std::memcpy(piece.bytes.as<std::byte>(), source + done, count);
        CUDA_CHECK(cudaMemcpyAsync(to + done, piece.bytes.as<std::byte>(), count, cudaMemcpyHostToDevice, stream));
        piece.idle.record(stream);
        done += count;
    }
}

void StagedCopy::download(const std::byte* from, std::size_t bytes, void* to, cudaStream_t stream) {
    auto* target = static_cast<std::byte*>(to);
    const std::size_t pieces = (bytes + kPieceBytes - 1) / kPieceBytes;
    const auto countOf = [bytes](std::size_t i) { return std::min(kPieceBytes, bytes - i * kPieceBytes); };
    const auto start = [&](std::size_t i) {
        const Piece& piece = ring_[i % ring_.size()];
        piece.idle.wait();
        CUDA_CHECK(cudaMemcpyAsync(piece.bytes.as<std::byte>(), from + i * kPieceBytes, countOf(i),
                                   cudaMemcpyDeviceToHost, stream));
        piece.idle.record(stream);
    };
    for (std::size_t i = 0; i < std::min(pieces, ring_.size()); ++i) start(i);
    for (std::size_t i = 0; i < pieces; ++i) {
        const Piece& piece = ring_[i % ring_.size()];
        piece.idle.wait();
        std::memcpy(target + i * kPieceBytes, piece.bytes.as<std::byte>(), countOf(i));
        if (i + ring_.size() < pieces) start(i + ring_.size());
    }
}

}  // namespace matte
