// SPDX-License-Identifier: Apache-2.0
#include "inference/model/unet.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>

#include "inference/error.h"
#include "inference/model/layer_cost.h"

namespace matte {
namespace {

constexpr int kMinLevels = 3, kMaxLevels = 8, kMaxChannels = 4096;

/// Takes tensors out of a file by name and remembers which were taken, so that a stranger among them is noticed.
class Reader {
public:
    explicit Reader(const Safetensors& file) : file_(file) {}

    [[noreturn]] void refuse(const std::string& why) const {
        throw Error(Area::model,
                    "The model '" + file_.name() + "' can't be used: " + why +
                        ". Matte runs U-Nets of 3 to 8 levels; see resources/README.md for the names and shapes.");
    }

    [[nodiscard]] bool has(const std::string& name) const { return file_.tensors().contains(name); }

    const Safetensors::Tensor& take(const std::string& name) {
        const auto found = file_.tensors().find(name);
        if (found == file_.tensors().end()) refuse("the tensor '" + name + "' is missing");
        const auto finite = [](float value) { return std::isfinite(value); };
        if (!std::ranges::all_of(found->second.values, finite)) refuse("'" + name + "' holds NaN or infinite numbers");
        taken_.insert(name);
        return found->second;
    }

    const std::vector<float>& vector(const std::string& name, int size) {
        const Safetensors::Tensor& tensor = take(name);
        if (tensor.shape != std::vector<std::int64_t>{size}) refuse("'" + name + "' has the wrong shape");
        return tensor.values;
    }

    /// A [a, b, kernel, kernel] tensor; a and b are returned by the shape.
    const Safetensors::Tensor& kernel(const std::string& name, int side) {
        const Safetensors::Tensor& tensor = take(name);
        const auto& shape = tensor.shape;
        const bool square = shape.size() == 4 && shape[2] == side && shape[3] == side;
        if (!square || shape[0] > kMaxChannels || shape[1] > kMaxChannels) refuse("'" + name + "' has the wrong shape");
        return tensor;
    }

    void checkAllTaken() const {
        for (const auto& [name, tensor] : file_.tensors()) {
            if (!taken_.contains(name)) refuse("it has a tensor '" + name + "' that no layer uses");
        }
    }

private:
    const Safetensors& file_;
    std::set<std::string> taken_;
};

/// Folds batch norm into the filter in double precision: w' = w s, b' = beta + (b - mean) s with s = gamma / sqrt(var +
/// eps).
void foldBatchNorm(Reader& reader, const std::string& norm, double epsilon, Filter& filter) {
    const int n = filter.outChannels;
    const auto& gamma = reader.vector(norm + ".weight", n);
    const auto& beta = reader.vector(norm + ".bias", n);
    const auto& mean = reader.vector(norm + ".running_mean", n);
    const auto& variance = reader.vector(norm + ".running_var", n);
    const std::size_t perChannel = filter.weights.size() / std::size_t(n);
    for (std::size_t o = 0; o < std::size_t(n); ++o) {
        if (double(variance[o]) + epsilon <= 0) reader.refuse("'" + norm + ".running_var' is negative");
        const double scale = double(gamma[o]) / std::sqrt(double(variance[o]) + epsilon);
        for (std::size_t i = o * perChannel; i < (o + 1) * perChannel; ++i) {
            filter.weights[i] = float(double(filter.weights[i]) * scale);
        }
        filter.bias[o] = float(double(beta[o]) + (double(filter.bias[o]) - double(mean[o])) * scale);
    }
}

std::vector<float> biasOrZero(Reader& reader, const std::string& name, int channels) {
    if (!reader.has(name)) return std::vector<float>(std::size_t(channels), 0.0F);
    return reader.vector(name, channels);
}

/// `conv` (with its bias, if any) and the batch norm `norm` behind it, if any.
Filter readConv(Reader& reader, const std::string& conv, const std::string& norm, int side, double epsilon) {
    const Safetensors::Tensor& tensor = reader.kernel(conv + ".weight", side);
    Filter filter{int(tensor.shape[0]), int(tensor.shape[1]), tensor.values, {}};
    filter.bias = biasOrZero(reader, conv + ".bias", filter.outChannels);
    if (!norm.empty() && reader.has(norm + ".weight")) foldBatchNorm(reader, norm, epsilon, filter);
    return filter;
}

/// A transposed convolution is stored [in, out, 2, 2]; ours is [out, in, 2, 2] like every other filter.
Filter readUpConv(Reader& reader, const std::string& name) {
    const Safetensors::Tensor& tensor = reader.kernel(name + ".weight", 2);
    Filter filter{int(tensor.shape[1]), int(tensor.shape[0]), std::vector<float>(tensor.values.size()), {}};
    for (int i = 0; i < filter.inChannels; ++i) {
        for (int o = 0; o < filter.outChannels; ++o) {
            const float* source = tensor.values.data() + (std::size_t(i) * filter.outChannels + o) * 4;
            std::copy_n(source, 4, filter.weights.data() + (std::size_t(o) * filter.inChannels + i) * 4);
        }
    }
    filter.bias = biasOrZero(reader, name + ".bias", filter.outChannels);
    return filter;
}

double metadataNumber(const Safetensors& file, const std::string& key, double otherwise) {
    const auto found = file.metadata().find(key);
    if (found == file.metadata().end()) return otherwise;
    double value = 0;
    std::istringstream stream(found->second);
    stream.imbue(std::locale::classic());
    return stream >> value ? value : otherwise;
}

}  // namespace

UNet UNet::load(const Safetensors& file) {
    Reader reader(file);
    UNet net;
    net.name_ = file.name();
    while (reader.has("down" + std::to_string(net.levels_ + 1) + ".conv1.weight") && net.levels_ <= kMaxLevels) {
        ++net.levels_;
    }
    if (net.levels_ < kMinLevels || net.levels_ > kMaxLevels) {
        reader.refuse("it has " + std::to_string(net.levels_) + " levels named down1, down2, …");
    }
    const double epsilon = metadataNumber(file, "bn_eps", 1e-5);
    if (!(epsilon >= 0 && epsilon < 1)) reader.refuse("its metadata 'bn_eps' is not a small positive number");
    const auto readSide = [&](const std::string& key, int otherwise) {
        const double side = metadataNumber(file, key, otherwise);
        if (!(side >= 32 && side <= 4096)) reader.refuse("its metadata '" + key + "' is not between 32 and 4096");
        return int(side);
    };
    net.longestSide_ = readSide("longest_side", net.longestSide_);
    net.photoSide_ = readSide("photo_side", net.longestSide_);

    const auto addTensor = [&](const std::string& name, int channels, int level) {
        net.tensors_.push_back({name, channels, level});
        return int(net.tensors_.size()) - 1;
    };
    const auto addConv = [&](const std::string& name, ConvKind kind, int in0, int in1, int level, Filter filter) {
        const int channels = net.tensors_[in0].channels + (in1 == kNoTensor ? 0 : net.tensors_[in1].channels);
        if (filter.inChannels != channels) reader.refuse("'" + name + "' does not take what the layer before it gives");
        const int out = addTensor(name, filter.outChannels, level);
        net.layers_.push_back({name, kind, in0, in1, out, kNoTensor, std::move(filter)});
        return out;
    };
    const auto addBlock = [&](const std::string& block, int in0, int in1, int level) {
        for (const std::string n : {"1", "2"}) {
            Filter filter = readConv(reader, block + ".conv" + n, block + ".bn" + n, 3, epsilon);
            in0 = addConv(block + ".conv" + n, ConvKind::conv3x3, in0, in1, level, std::move(filter));
            in1 = kNoTensor;
        }
        return in0;
    };

    int at = addTensor("input", 3, 0);
    std::vector<int> skips;
    for (int level = 0; level < net.levels_; ++level) {
        const std::string block = "down" + std::to_string(level + 1);
        const int out = addBlock(block, at, kNoTensor, level);
        if (level + 1 == net.levels_) {
            at = out;
            break;
        }
        skips.push_back(out);
        at = net.layers_.back().pooled = addTensor(block + ".pool", net.tensors_[out].channels, level + 1);
    }
    for (int level = net.levels_ - 2; level >= 0; --level) {
        const std::string block = "up" + std::to_string(net.levels_ - 1 - level);
        Filter up = readUpConv(reader, block + ".upconv");
        const int upsampled = addConv(block + ".upconv", ConvKind::up2x2, at, kNoTensor, level, std::move(up));
        at = addBlock(block, skips[std::size_t(level)], upsampled, level);
    }
    addConv("out", ConvKind::head1x1, at, kNoTensor, 0, readConv(reader, "out", "", 1, epsilon));
    if (net.layers_.back().filter.outChannels != 1) reader.refuse("its last layer has more than one channel");
    reader.checkAllTaken();
    return net;
}

Size UNet::inputSize(Size picture, int longestSide) const {
    const int multiple = 1 << (levels_ - 1);
    const double scale = double(longestSide > 0 ? longestSide : longestSide_) / picture.longest();
    const auto round = [&](int side) { return std::max(1, int(std::lround(side * scale / multiple))) * multiple; };
    return {round(picture.width), round(picture.height)};
}

Size UNet::photoInputSize(Size photo, int longestSide) const {
    return inputSize(photo, longestSide > 0 ? longestSide : photoSide_);
}

int UNet::smallerSide(Size picture, Size input) const {
    constexpr int least = 128;  // below it little but a blot is left of a person
    const int side = std::max(least, input.longest() / 2);
    return inputSize(picture, side).longest() < input.longest() ? side : 0;
}

double UNet::flops(Size input) const {
    double sum = 0;
    for (const Conv& layer : layers_) sum += layerFlops(*this, layer, input);
    return sum;
}

}  // namespace matte
