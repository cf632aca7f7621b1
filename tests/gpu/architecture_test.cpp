// SPDX-License-Identifier: Apache-2.0
// A program of its own: everything but the probe kernel is built as always, and that one for an architecture that the
// GPU most probably is not of. So the engine finds none of its kernels on it.
#include "inference/cuda/cuda_engine.h"
#include "inference/cuda/device/devices.h"
#include "tests/gpu/gpu_case.h"
#include "tests/gpu/live_case.h"

namespace matte::test {
namespace {

class UnsupportedArchitecture : public testing::Test {};

TEST_F(UnsupportedArchitecture, IsToldAndIsALastingFailure) {
    const cudaError_t found = probeKernels();
    cudaGetLastError();
    if (found == cudaSuccess) GTEST_SKIP() << "this GPU is of the architecture that stands for the others";
    EXPECT_EQ(found, cudaErrorNoKernelImageForDevice);
    try {
        const CudaEngine engine(smallNetwork(), kRepeatable);
        ADD_FAILURE() << "started all the same";
    } catch (const DeviceFailure& failure) {
        const std::string reason = failure.what();
        EXPECT_TRUE(failure.lasting);
        EXPECT_EQ(reason.rfind("This program was built for other GPUs", 0), 0U) << reason;
        EXPECT_NE(reason.find(queryCuda().devices.front().name), std::string::npos) << reason;
    }
}

}  // namespace
}  // namespace matte::test
