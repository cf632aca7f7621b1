// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/device/page_locked.h"

#include <cuda_runtime_api.h>

#include <cstdlib>

namespace matte {
namespace {

constexpr std::size_t kPage = 4096;

std::uint8_t* take(std::size_t bytes) {
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

}  // namespace matte
