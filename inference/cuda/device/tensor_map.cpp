// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/device/tensor_map.h"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "inference/cuda/device/cuda.h"

namespace matte {
namespace {

using Encode = CUresult (*)(CUtensorMap*,
                            CUtensorMapDataType,
                            cuuint32_t,
                            void*,
                            const cuuint64_t*,
                            const cuuint64_t*,
                            const cuuint32_t*,
                            const cuuint32_t*,
                            CUtensorMapInterleave,
                            CUtensorMapSwizzle,
                            CUtensorMapL2promotion,
                            CUtensorMapFloatOOBfill);

/// The driver's function, found at run time: a program linked against the driver would not start without one.
Encode encodeFunction() {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found));
    if (found != cudaDriverEntryPointSuccess || function == nullptr) {
        throw Error(ErrorCategory::engine,
                    "The NVIDIA driver can't describe tensors: update it to one for CUDA 12 or newer.");
    }
    return reinterpret_cast<Encode>(function);
}

}  // namespace

CUtensorMap makeTensorMap(const void* data, const TensorBox& box) {
    static const Encode encode = encodeFunction();
    constexpr int kMax = 5;
    std::array<cuuint64_t, kMax> sizes{}, strides{};
    std::array<cuuint32_t, kMax> boxes{}, ones{};
    std::uint64_t bytes = 2;
    for (int i = 0; i < kMax; ++i) {
        sizes[i] = cuuint64_t(box.size[i]);
        boxes[i] = cuuint32_t(box.box[i]);
        ones[i] = 1;
        bytes *= sizes[i];
        strides[i] = bytes;  // of dimension i + 1
    }
    const CUtensorMapSwizzle swizzle = box.box[0] == 64   ? CU_TENSOR_MAP_SWIZZLE_128B
                                       : box.box[0] == 32 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                          : CU_TENSOR_MAP_SWIZZLE_32B;
    CUtensorMap map{};
    const CUresult result =
        encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, cuuint32_t(box.dimensions), const_cast<void*>(data), sizes.data(),
               strides.data(), boxes.data(), ones.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) {
        throw Error(ErrorCategory::engine, "The GPU can't address a layer's tensor (driver error " +
                                               std::to_string(int(result)) + "): choose the CPU engine.");
    }
    return map;
}

}  // namespace matte
