// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/model.h"

#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <sstream>

#include <nlohmann/json.hpp>

namespace matte::baselines {
namespace {

/// "down1.bn2" for "down1.conv2".
std::string normOf(const std::string& conv) {
    const auto at = conv.rfind(".conv");
    return at == std::string::npos ? std::string() : conv.substr(0, at) + ".bn" + conv.substr(at + 5);
}

/// A safetensors file in memory: the reader then checks it like any other.
class FileWriter {
public:
    explicit FileWriter(unsigned seed) : random_(seed) {}

    /// Uniform noise around `center`.
    void add(const std::string& name, const std::vector<int>& shape, float center, float spread) {
        const std::size_t begin = data_.size();
        const int count = std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>());
        for (int i = 0; i < count; ++i) {
            const float value = center + spread * (float(random_()) * 0x1p-31F - 1);
            const auto bytes = std::bit_cast<std::array<std::uint8_t, sizeof value>>(value);
            data_.insert(data_.end(), bytes.begin(), bytes.end());
        }
        header_[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {begin, data_.size()}}};
    }

    [[nodiscard]] std::vector<std::uint8_t> bytes() const {
        const std::string header = header_.dump();
        std::vector<std::uint8_t> all;
        for (int i = 0; i < 8; ++i) all.push_back(std::uint8_t(std::uint64_t(header.size()) >> (8 * i)));
        all.insert(all.end(), header.begin(), header.end());
        all.insert(all.end(), data_.begin(), data_.end());
        return all;
    }

private:
    std::mt19937 random_;
    nlohmann::json header_;
    std::vector<std::uint8_t> data_;
};

void addBlock(FileWriter& file, const std::string& name, int in, int out) {
    for (const std::string n : {"1", "2"}) {
        // Uniform noise of variance 2 / fan-in reaches to sqrt(6 / fan-in).
        file.add(name + ".conv" + n + ".weight", {out, in, 3, 3}, 0, std::sqrt(6.0F / float(in * 9)));
        file.add(name + ".conv" + n + ".bias", {out}, 0, 0.1F);
        file.add(name + ".bn" + n + ".weight", {out}, 1, 0.2F);
        file.add(name + ".bn" + n + ".bias", {out}, 0, 0.1F);
        file.add(name + ".bn" + n + ".running_mean", {out}, 0, 0.1F);
        file.add(name + ".bn" + n + ".running_var", {out}, 1, 0.2F);
        in = out;
    }
}

}  // namespace

Filter folded(const Block& block) {
    Filter filter = block.filter;
    if (!block.norm) return filter;
    const BatchNorm& norm = *block.norm;
    const std::size_t perChannel = filter.weights.size() / std::size_t(filter.outChannels);
    for (std::size_t o = 0; o < std::size_t(filter.outChannels); ++o) {
        const double scale = double(norm.gamma[o]) / std::sqrt(double(norm.variance[o]) + double(norm.epsilon));
        for (std::size_t i = o * perChannel; i < (o + 1) * perChannel; ++i) {
            filter.weights[i] = float(double(filter.weights[i]) * scale);
        }
        filter.bias[o] = float(double(norm.beta[o]) + (double(filter.bias[o]) - double(norm.mean[o])) * scale);
    }
    return filter;
}

Model Model::load(const Safetensors& file) {
    Model model{UNet::load(file), {}};  // has checked every name and shape
    const auto& tensors = file.tensors();
    float epsilon = 1e-5F;
    if (const auto found = file.metadata().find("bn_eps"); found != file.metadata().end()) {
        std::istringstream stream(found->second);
        stream.imbue(std::locale::classic());
        stream >> epsilon;
    }
    for (const Conv& layer : model.unet.layers()) {
        const std::string norm = normOf(layer.name);
        Block block{layer.filter, {}, isBlock(layer)};
        if (block.relu && tensors.contains(norm + ".weight")) {
            const auto values = [&](const std::string& name) { return tensors.find(name)->second.values; };
            block.filter.weights = values(layer.name + ".weight");
            const bool biased = tensors.contains(layer.name + ".bias");
            block.filter.bias =
                biased ? values(layer.name + ".bias") : std::vector<float>(std::size_t(block.filter.outChannels), 0.0F);
            block.norm = BatchNorm{values(norm + ".weight"), values(norm + ".bias"), values(norm + ".running_mean"),
                                   values(norm + ".running_var"), epsilon};
        }
        model.blocks.push_back(std::move(block));
    }
    return model;
}

Model Model::random(const std::vector<int>& widths, unsigned seed) {
    FileWriter file(seed);
    const int levels = int(widths.size());
    for (int i = 0; i < levels; ++i) {
        addBlock(file, "down" + std::to_string(i + 1), i == 0 ? 3 : widths[std::size_t(i) - 1], widths[std::size_t(i)]);
    }
    for (int i = 1; i < levels; ++i) {
        const std::string name = "up" + std::to_string(i);
        const int in = widths[std::size_t(levels - i)], out = widths[std::size_t(levels - i - 1)];
        file.add(name + ".upconv.weight", {in, out, 2, 2}, 0, std::sqrt(3.0F / float(in)));
        file.add(name + ".upconv.bias", {out}, 0, 0.1F);
        addBlock(file, name, 2 * out, out);
    }
    file.add("out.weight", {1, widths[0], 1, 1}, 0, std::sqrt(3.0F / float(widths[0])));
    file.add("out.bias", {1}, 0, 0.1F);
    return load(Safetensors::parse(file.bytes(), "random"));
}

}  // namespace matte::baselines
