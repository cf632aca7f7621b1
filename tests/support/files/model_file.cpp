// SPDX-License-Identifier: Apache-2.0
#include "tests/support/files/model_file.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace matte::test {
namespace {

/// IEEE binary16, round to nearest even; values beyond its range become infinite, a NaN stays one.
std::uint16_t toHalf(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = std::uint16_t(bits >> 16 & 0x8000U);
    const float magnitude = std::fabs(value);
    if (std::isnan(value)) return std::uint16_t(sign | 0x7E00U);
    if (magnitude >= 65520.0F) return std::uint16_t(sign | 0x7C00U);
    // Subnormal halves are multiples of 2^-24: nearbyint rounds them to even as the default rounding mode does.
    if (magnitude < 0x1p-14F) return std::uint16_t(sign | unsigned(std::nearbyint(magnitude * 0x1p24F)));
    const std::uint32_t rebased = (bits & 0x7FFFFFFFU) - (112U << 23);
    return std::uint16_t(sign | (rebased + 0xFFFU + (rebased >> 13 & 1U)) >> 13);
}

std::uint16_t toBfloat(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (std::isnan(value)) return std::uint16_t(bits >> 16 | 0x40U);
    return std::uint16_t((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}

void append(std::vector<std::uint8_t>& out, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out.push_back(std::uint8_t(value >> (8 * i)));
}

void append(std::vector<std::uint8_t>& out, float value, DataType type) {
    switch (type) {
        case DataType::f32: return append(out, std::bit_cast<std::uint32_t>(value), 4);
        case DataType::f16: return append(out, toHalf(value), 2);
        case DataType::bf16: return append(out, toBfloat(value), 2);
    }
}

const char* typeName(DataType type) {
    return type == DataType::f32 ? "F32" : type == DataType::f16 ? "F16" : "BF16";
}

/// The standard library's distributions differ between implementations; this one does not.
class Random {
public:
    explicit Random(std::uint32_t seed) : bits_(seed) {}
    float uniform(float low, float high) { return low + (high - low) * float(bits_() >> 8) * 0x1p-24F; }
    std::vector<float> uniform(std::size_t count, float low, float high) {
        std::vector<float> values(count);
        for (float& value : values) value = uniform(low, high);
        return values;
    }

private:
    std::mt19937 bits_;
};

class UNetWriter {
public:
    explicit UNetWriter(std::uint32_t seed) : random_(seed) {}

    /// A uniform value in [-limit, limit] has the variance limit^2/3.
    void convolution(const std::string& name, std::vector<std::int64_t> shape, int outChannels, int fanIn) {
        const float limit = std::sqrt(6.0F / float(fanIn));
        std::size_t count = 1;
        for (const auto side : shape) count *= std::size_t(side);
        tensors_[name + ".weight"] = {std::move(shape), random_.uniform(count, -limit, limit)};
        vector(name + ".bias", outChannels, -0.1F, 0.1F);
    }

    /// The convolution `number` of `block` and its batch norm; [out, in, side, side].
    void normed(const std::string& block, int number, int out, int in, int side) {
        const std::string n = std::to_string(number);
        convolution(block + ".conv" + n, {out, in, side, side}, out, side * side * in);
        vector(block + ".bn" + n + ".weight", out, 0.8F, 1.2F);
        vector(block + ".bn" + n + ".bias", out, -0.1F, 0.1F);
        vector(block + ".bn" + n + ".running_mean", out, -0.1F, 0.1F);
        vector(block + ".bn" + n + ".running_var", out, 0.5F, 1.5F);
    }

    void block(const std::string& name, int in, int out) {
        normed(name, 1, out, in, 3);
        normed(name, 2, out, out, 3);
    }

    void bottleneck(const std::string& name, int in, int expansion, int out, int side) {
        const int wide = in * expansion;
        if (expansion > 1) normed(name, 1, wide, in, 1);
        normed(name, 2, wide, 1, side);
        normed(name, 3, out, wide, 1);
    }

    void up(const std::string& name, int below, int skipped, int out) {
        // Each output pixel of a transposed 2x2 convolution with stride 2 sees one input pixel.
        convolution(name + ".upconv", {below, out, 2, 2}, out, below);
        block(name, skipped + out, out);
    }

    void cell(const std::string& name, int channels) {
        const int half = channels / 2;
        convolution(name + ".gates", {channels, channels, 3, 3}, channels, 9 * channels);
        convolution(name + ".candidate", {half, channels, 3, 3}, half, 9 * channels);
    }

    ModelTensors take() { return std::move(tensors_); }

private:
    void vector(const std::string& name, int count, float low, float high) {
        tensors_[name] = {{count}, random_.uniform(std::size_t(count), low, high)};
    }

    Random random_;
    ModelTensors tensors_;
};

}  // namespace

std::vector<std::uint8_t> encodeSafetensors(const ModelTensors& tensors, const Metadata& metadata, DataType type) {
    nlohmann::json header = nlohmann::json::object();
    if (!metadata.empty()) header["__metadata__"] = metadata;
    std::vector<std::uint8_t> data;
    for (const auto& [name, tensor] : tensors) {
        const std::size_t begin = data.size();
        for (const float value : tensor.values) append(data, value, type);
        header[name] = {{"dtype", typeName(type)}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
    }
    return rawSafetensors(header.dump(), data);
}

std::vector<std::uint8_t> rawSafetensors(const std::string& header,
                                         std::span<const std::uint8_t> data,
                                         std::int64_t headerBytes) {
    std::vector<std::uint8_t> file;
    append(file, headerBytes < 0 ? header.size() : std::uint64_t(headerBytes), 8);
    file.insert(file.end(), header.begin(), header.end());
    file.insert(file.end(), data.begin(), data.end());
    return file;
}

ModelTensors randomUNet(const std::vector<int>& widths, std::uint32_t seed) {
    UNetWriter writer(seed);
    const int levels = int(widths.size());
    for (int level = 0; level < levels; ++level) {
        writer.block("down" + std::to_string(level + 1), level == 0 ? 3 : widths[std::size_t(level) - 1],
                     widths[std::size_t(level)]);
    }
    for (int level = levels - 2; level >= 0; --level) {
        const std::string name = "up" + std::to_string(levels - 1 - level);
        const int below = widths[std::size_t(level) + 1];
        const int out = widths[std::size_t(level)];
        writer.up(name, below, out, out);
    }
    writer.convolution("out", {1, widths[0], 1, 1}, 1, widths[0]);
    return writer.take();
}

ModelTensors randomMobileUNet(std::uint32_t seed) {
    UNetWriter writer(seed);
    writer.normed("down1", 1, 6, 3, 3);
    writer.normed("down2", 1, 16, 3, 3);
    writer.bottleneck("down2.block1", 16, 1, 8, 3);
    writer.bottleneck("down3.block1", 8, 6, 12, 5);
    writer.bottleneck("down3.block2", 12, 4, 12, 5);
    writer.bottleneck("down4.block1", 12, 6, 20, 3);
    writer.bottleneck("down4.block2", 20, 3, 20, 3);
    writer.block("down5", 20, 16);
    writer.up("up1", 16, 20, 16);
    writer.up("up2", 16, 12, 12);
    writer.up("up3", 12, 8, 8);
    writer.up("up4", 8, 6, 6);
    writer.convolution("out", {1, 6, 1, 1}, 1, 6);
    return writer.take();
}

ModelTensors withCells(ModelTensors tensors, const std::vector<std::string>& levels, std::uint32_t seed) {
    UNetWriter writer(seed);
    for (const std::string& level : levels) {
        writer.cell(level + ".gru", int(tensors.at(level + ".conv2.bias").values.size()));
    }
    tensors.merge(writer.take());
    return tensors;
}

ModelTensors withoutCandidates(ModelTensors tensors) {
    for (auto& [name, tensor] : tensors) {
        if (name.find(".gru.candidate.") != std::string::npos) std::ranges::fill(tensor.values, 0.0F);
    }
    return tensors;
}

ModelTensors brokenInTheDark(const std::vector<int>& widths, std::uint32_t seed) {
    ModelTensors tensors = randomUNet(widths, seed);
    for (auto& [name, tensor] : tensors) {
        if (name.ends_with(".bias") || name.ends_with(".running_mean")) std::ranges::fill(tensor.values, 0.0F);
        const float gain =
            tensor.shape.size() == 4 ? 1e4F : 1;  // of a convolution, and not too much for half precision
        for (float& value : tensor.values) value = std::fabs(value) * gain;
    }
    // R, G and B of black are -2.1, -2.0 and -1.8 for the network; of the test picture's darkest pixel they sum up to
    // -4.2. So the first layer gives 0 for all but the dark, and with no other bias 0 is all that follows; what is not
    // 0 becomes infinite on its way.
    std::vector<float>& first = tensors.at("down1.conv1.weight").values;
    for (std::size_t i = 0; i < first.size(); ++i) first[i] = i % 9 == 4 ? -100.0F : 0.0F;
    std::ranges::fill(tensors.at("down1.conv1.bias").values, -450.0F);
    std::ranges::fill(tensors.at("down1.bn1.weight").values, 1.0F);
    // Of the dark the last layer makes infinity less infinity.
    std::vector<float>& last = tensors.at("out.weight").values;
    for (std::size_t i = 0; i < last.size(); ++i) last[i] = i % 2 == 0 ? 3e38F : -3e38F;
    return tensors;
}

UNet tinyNetwork(const Metadata& metadata) {
    return UNet::load(Safetensors::parse(encodeSafetensors(randomUNet({4, 8, 16}, 1), metadata), "tiny"));
}

UNet tinyRecurrentNetwork(const Metadata& metadata) {
    const ModelTensors tensors = withCells(randomUNet({4, 8, 16}, 1), {"up1", "up2"}, 2);
    return UNet::load(Safetensors::parse(encodeSafetensors(tensors, metadata), "tiny recurrent"));
}

Metadata unetMetadata(const std::vector<int>& widths) {
    return {{"architecture", "unet"},
            {"base", std::to_string(widths.at(0))},
            {"depth", std::to_string(widths.size())},
            {"bn_eps", "1e-5"},
            {"input", "RGB, 0..1, mean 0.485 0.456 0.406, std 0.229 0.224 0.225, NCHW"},
            {"output", "1 logit; sigmoid gives alpha"},
            {"concat", "skip first, then upsampled"}};
}

void writeModel(const std::filesystem::path& path, const ModelTensors& tensors, DataType type) {
    std::vector<int> widths;
    for (int level = 1; tensors.contains("down" + std::to_string(level) + ".conv1.bias"); ++level) {
        widths.push_back(int(tensors.at("down" + std::to_string(level) + ".conv1.bias").values.size()));
    }
    writeBytes(path, encodeSafetensors(tensors, unetMetadata(widths), type));
}

void writeBytes(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
    file.close();
    if (!file) throw std::runtime_error("can't write " + path.string());
}

std::vector<std::uint8_t> readBytes(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("can't read " + path.string());
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace matte::test
