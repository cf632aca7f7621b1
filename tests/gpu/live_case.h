// SPDX-License-Identifier: Apache-2.0
// What the tests of live frames on the GPU share. One thread at a time.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "inference/cuda/cuda_engine.h"
#include "tests/gpu/gpu_case.h"
#include "tests/support/pictures/same_bytes.h"

namespace matte::test {

/// Skips, with the reason, where there is no GPU.
class LiveEngineTest : public testing::Test {
protected:
    void SetUp() override;
};

/// The same kernels on every run; a small input where the test is to be brief.
inline const EngineOptions kRepeatable{.networkLongestSide = brief() ? 256 : 0, .tune = false};

/// A small network with random weights, and one of the size that people use.
std::shared_ptr<const UNet> smallNetwork();
std::shared_ptr<const UNet> fullNetwork();
/// One whose weights are finite and whose output for a black picture is not.
std::shared_ptr<const UNet> brokenNetwork();

/// Waves of colour; the same seed gives the same bytes.
std::shared_ptr<const Image> wavyFrame(Size size, PixelFormat format, unsigned seed);

std::shared_ptr<const Image> blackFrame(Size size);

/// Parameters with `background`, as parseBackground() reads it, that keep nothing of earlier frames.
CompositeParams plainParams(const std::string& background);

/// One frame through the engine.
Output through(Engine& engine,
               const std::shared_ptr<const Image>& image,
               const CompositeParams& params,
               std::uint64_t number = 0);

}  // namespace matte::test
