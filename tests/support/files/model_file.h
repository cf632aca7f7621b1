// SPDX-License-Identifier: Apache-2.0
// Model files for tests: a safetensors writer, and a U-Net of any size with random weights. Any thread.
//
//     writeModel(folder / "tiny.safetensors", randomUNet({4, 8, 16}, 1));
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "inference/model/unet.h"

namespace matte::test {

enum class DataType { f32 = 1, f16, bf16 };

struct ModelTensor {
    std::vector<std::int64_t> shape;
    std::vector<float> values;  ///< row-major
};
using ModelTensors = std::map<std::string, ModelTensor>;
using Metadata = std::map<std::string, std::string>;

/// A well-formed safetensors file: tensors in name order, packed, values rounded to `type` (nearest even).
std::vector<std::uint8_t> encodeSafetensors(const ModelTensors& tensors,
                                            const Metadata& metadata = {},
                                            DataType type = DataType::f32);
/// A file from any header and data, however wrong; `headerBytes` is the length field, -1 for the header's own.
std::vector<std::uint8_t> rawSafetensors(const std::string& header,
                                         std::span<const std::uint8_t> data = {},
                                         std::int64_t headerBytes = -1);

/// The tensors of a U-Net with widths[i] channels at level i, as a training run names them. Weights have the variance
/// 2 / fan-in (He et al. 2015), so that activations neither die nor explode; batch norm is near the identity. The same
/// seed gives the same network on every machine.
ModelTensors randomUNet(const std::vector<int>& widths, std::uint32_t seed);
/// The like with an encoder of bottlenecks: down1 one convolution of 6 channels, down2 a stem and a bottleneck, down3
/// two of 5x5 and down4 two of 3x3, down5 two convolutions after pooling.
ModelTensors randomMobileUNet(std::uint32_t seed);
/// `tensors` with a ConvGRU cell at the end of each of the decoder's `levels` ("up1"), of random weights.
ModelTensors withCells(ModelTensors tensors, const std::vector<std::string>& levels, std::uint32_t seed);
/// `tensors` with the candidates of all cells zero: a network whose state stays zero, and that gives what it gives
/// without its cells.
ModelTensors withoutCandidates(ModelTensors tensors);
/// Like randomUNet(), but its matte is one half everywhere, and of a black picture not finite: what a network is that
/// passes its self-test and fails later.
ModelTensors brokenInTheDark(const std::vector<int>& widths, std::uint32_t seed);
/// The smallest of them, where a test's matter is around the network: "tiny", 3 levels, 13 layers.
UNet tinyNetwork(const Metadata& metadata = {});
/// tinyNetwork() with a cell in each level of its decoder.
UNet tinyRecurrentNetwork(const Metadata& metadata = {});
/// The metadata that goes with randomUNet().
Metadata unetMetadata(const std::vector<int>& widths);

/// randomUNet-like tensors with their metadata, to disk.
void writeModel(const std::filesystem::path& path, const ModelTensors& tensors, DataType type = DataType::f32);
void writeBytes(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);
std::vector<std::uint8_t> readBytes(const std::filesystem::path& path);

}  // namespace matte::test
