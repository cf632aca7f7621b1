// SPDX-License-Identifier: Apache-2.0
// Random networks and inputs for the tests and benchmarks of the whole network on the GPU.
#pragma once

#include "inference/cuda/cuda_network.h"
#include "tests/support/pictures/oracle.h"

namespace matte::test {

/// Five levels of base, 2 base, … 16 base channels.
UNet randomNetwork(int base, unsigned seed);
/// Levels of any widths.
UNet randomNetwork(const std::vector<int>& widths, unsigned seed);
/// With bottlenecks in its encoder; five levels.
UNet randomMobileNetwork(unsigned seed);
/// `levels` of the decoder ("up1") end in ConvGRU cells; no widths: with bottlenecks.
UNet randomRecurrentNetwork(const std::vector<int>& widths, const std::vector<std::string>& levels, unsigned seed);
/// Takes the first configuration whose text does not hold `skip`; an empty `skip` holds nothing back.
CudaNetwork::Choose chooseWithout(const std::string& skip);
/// Uploads `input` [H, W, 3] as the input of a network of `kernel`.
void setInput(const CudaNetwork& network, ConvKernel kernel, const oracle::Activation& input);
/// The alpha of the last run, which has finished.
std::vector<float> alphaOf(const CudaNetwork& network);

}  // namespace matte::test
