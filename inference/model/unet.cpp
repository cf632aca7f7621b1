// SPDX-License-Identifier: Apache-2.0
#include "inference/model/unet.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <set>
#include <sstream>

#include "inference/core/error.h"
#include "inference/model/layer_cost.h"

namespace matte {
namespace {

constexpr int kMinLevels = 3, kMaxLevels = 8, kMaxChannels = 4096;

/// Takes tensors out of a file by name and records which were taken, to detect unknown ones.
class Reader {
public:
    explicit Reader(const Safetensors& file) : file_(file) {}

    [[noreturn]] void refuse(const std::string& why) const {
        throw Error(ErrorCategory::model,
                    "The model '" + file_.name() + "' can't be used: " + why +
                        ". Matte runs U-Nets of 3 to 8 levels; see resources/README.md for the names and shapes.");
    }

    [[nodiscard]] bool has(const std::string& name) const { return file_.tensors().contains(name); }

    [[nodiscard]] bool hasAny(const std::string& prefix) const {
        return std::ranges::any_of(file_.tensors(),
                                   [&](const auto& tensor) { return tensor.first.starts_with(prefix); });
    }

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
    const Safetensors::Tensor& kernel(const std::string& name, std::initializer_list<int> sides) {
        const Safetensors::Tensor& tensor = take(name);
        const auto& shape = tensor.shape;
        const bool square = shape.size() == 4 && shape[2] == shape[3] && std::ranges::count(sides, shape[2]) > 0;
        const auto isSensible = [](std::int64_t channels) { return channels > 0 && channels <= kMaxChannels; };
        if (!square || !isSensible(shape[0]) || !isSensible(shape[1])) refuse("'" + name + "' has the wrong shape");
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
Filter readConv(Reader& reader,
                const std::string& conv,
                const std::string& norm,
                std::initializer_list<int> sides,
                double epsilon) {
    const Safetensors::Tensor& tensor = reader.kernel(conv + ".weight", sides);
    Filter filter{int(tensor.shape[0]), int(tensor.shape[1]), tensor.values, {}};
    filter.bias = biasOrZero(reader, conv + ".bias", filter.outChannels);
    if (!norm.empty() && reader.has(norm + ".weight")) foldBatchNorm(reader, norm, epsilon, filter);
    return filter;
}

/// A transposed convolution is stored [in, out, 2, 2]; ours is [out, in, 2, 2] like every other filter.
Filter readUpConv(Reader& reader, const std::string& name) {
    const Safetensors::Tensor& tensor = reader.kernel(name + ".weight", {2});
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

/// Appends the layers of a file to a network's table, block by block.
class Builder {
public:
    Builder(Reader& reader,
            double epsilon,
            std::vector<Tensor>& tensors,
            std::vector<Conv>& layers,
            std::vector<ConvGru>& cells)
        : reader_(reader), epsilon_(epsilon), tensors_(tensors), layers_(layers), cells_(cells) {}

    int addTensor(const std::string& name, int channels, int level) {
        tensors_.push_back({name, channels, level});
        return int(tensors_.size()) - 1;
    }

    /// A row of the table that has everything but its output, which lies at `level`.
    int add(Conv conv, int level) {
        const bool depthwise = conv.kind == ConvKind::depthwise;
        const int inputs = channels(conv.in0) + (conv.in1 == kNoTensor ? 0 : channels(conv.in1));
        if ((depthwise ? conv.filter.outChannels : conv.filter.inChannels) != inputs) {
            reader_.refuse("'" + conv.name + "' does not take what the layer before it gives");
        }
        if (depthwise && conv.filter.inChannels != 1) {
            reader_.refuse("'" + conv.name + ".weight' has the wrong shape");
        }
        const int out = conv.out = addTensor(conv.name, conv.filter.outChannels, level);
        layers_.push_back(std::move(conv));
        return out;
    }

    /// The 3x3 convolutions conv1 and conv2 of `block`, the latter where there is one; with a stride of 2 conv1 alone.
    int addConvs(const std::string& block, int in0, int in1, int level, int stride = 1) {
        const int count = stride == 1 && reader_.has(block + ".conv2.weight") ? 2 : 1;
        for (int n = 1; n <= count; ++n) {
            const std::string name = block + ".conv" + std::to_string(n);
            in0 = add({.name = name,
                       .kind = ConvKind::conv3x3,
                       .in0 = in0,
                       .in1 = in1,
                       .filter = read(block, n, {3}),
                       .stride = stride},
                      level);
            in1 = kNoTensor;
        }
        return in0;
    }

    /// One bottleneck: conv1 (unless it is left out) to more channels, conv2 depthwise, conv3 to few.
    int addBottleneck(const std::string& block, int in, int level, int stride) {
        int at = in;
        if (reader_.has(block + ".conv1.weight")) {
            at = add({.name = block + ".conv1", .kind = ConvKind::pointwise, .in0 = at, .filter = read(block, 1, {1})},
                     tensors_[std::size_t(in)].level);
        }
        at = add({.name = block + ".conv2",
                  .kind = ConvKind::depthwise,
                  .in0 = at,
                  .filter = read(block, 2, {3, 5}),
                  .stride = stride},
                 level);
        Filter filter = read(block, 3, {1});
        const bool adds = stride == 1 && filter.outChannels == channels(in);
        return add({.name = block + ".conv3",
                    .kind = ConvKind::pointwise,
                    .in0 = at,
                    .filter = std::move(filter),
                    .added = adds ? in : kNoTensor,
                    .relu = false},
                   level);
    }

    /// The ConvGRU cell of a decoder level that gives `in`, where there is one; the level's last tensor.
    int addCell(const std::string& block, int in, int level) {
        const std::string name = block + ".gru";
        if (!reader_.hasAny(name + ".")) return in;
        const int all = channels(in), half = all / 2;
        if (all % 2 != 0) {
            reader_.refuse("'" + name + "' is the cell of a level of " + std::to_string(all) +
                           " channels, which has no half");
        }
        ConvGru cell{.in = in};
        cell.input = addTensor(name + ".input", half, level);
        cell.state = addTensor(name + ".state", half, level);
        cell.gates = addCellConv(name + ".gates", cell.input, cell.state, all, level);
        cell.reset = addTensor(name + ".reset", half, level);
        cell.candidate = addCellConv(name + ".candidate", cell.input, cell.reset, half, level);
        cell.out = addTensor(name, all, level);
        cells_.push_back(cell);
        return cell.out;
    }

    /// A level of the encoder that reads `above`, the level before it; its last tensor.
    int addLevel(int above, int level) {
        const std::string name = "down" + std::to_string(level + 1);
        if (!hasBottlenecks(level)) {
            if (level > 0) above = layers_.back().pooled = addTensor(name + ".pool", channels(above), level);
            return addConvs(name, above, kNoTensor, level);
        }
        // The second level may read the picture, halved by a convolution of its own: the stem.
        const bool stem = level == 1 && reader_.has(name + ".conv1.weight");
        int at = stem ? addConvs(name, 0, kNoTensor, level, 2) : above;
        for (int n = 1; reader_.has(name + ".block" + std::to_string(n) + ".conv2.weight"); ++n) {
            at = addBottleneck(name + ".block" + std::to_string(n), at, level, n == 1 && !stem ? 2 : 1);
        }
        return at;
    }

    [[nodiscard]] bool hasBottlenecks(int level) const {
        return level > 0 && reader_.has("down" + std::to_string(level + 1) + ".block1.conv2.weight");
    }

private:
    [[nodiscard]] int channels(int tensor) const { return tensors_[std::size_t(tensor)].channels; }

    int addCellConv(const std::string& name, int in0, int in1, int outChannels, int level) {
        const bool fits = reader_.kernel(name + ".weight", {3}).shape.front() == outChannels;
        if (!fits) reader_.refuse("'" + name + ".weight' has the wrong shape");
        if (!reader_.has(name + ".bias")) reader_.refuse("the tensor '" + name + ".bias' is missing");
        return add({.name = name,
                    .kind = ConvKind::conv3x3,
                    .in0 = in0,
                    .in1 = in1,
                    .filter = readConv(reader_, name, "", {3}, epsilon_),
                    .relu = false,
                    .cell = int(cells_.size())},
                   level);
    }

    Filter read(const std::string& block, int number, std::initializer_list<int> sides) {
        const std::string n = std::to_string(number);
        return readConv(reader_, block + ".conv" + n, block + ".bn" + n, sides, epsilon_);
    }

    Reader& reader_;
    double epsilon_;
    std::vector<Tensor>& tensors_;
    std::vector<Conv>& layers_;
    std::vector<ConvGru>& cells_;
};

}  // namespace

int Filter::side() const {
    const std::size_t area = weights.size() / (std::size_t(outChannels) * std::size_t(inChannels));
    return int(std::lround(std::sqrt(double(area))));
}

UNet UNet::load(const Safetensors& file) {
    Reader reader(file);
    UNet net;
    net.name_ = file.name();
    const double epsilon = metadataNumber(file, "bn_eps", 1e-5);
    if (!(epsilon >= 0 && epsilon < 1)) reader.refuse("its metadata 'bn_eps' is not a small positive number");
    const auto readSide = [&](const std::string& key, int otherwise) {
        const double side = metadataNumber(file, key, otherwise);
        if (!(side >= 32 && side <= 4096)) reader.refuse("its metadata '" + key + "' is not between 32 and 4096");
        return int(side);
    };
    net.longestSide_ = readSide("longest_side", net.longestSide_);
    net.photoSide_ = readSide("photo_side", net.longestSide_);

    Builder builder(reader, epsilon, net.tensors_, net.layers_, net.cells_);
    const auto hasLevel = [&](int level) {
        return builder.hasBottlenecks(level) || reader.has("down" + std::to_string(level + 1) + ".conv1.weight");
    };
    while (hasLevel(net.levels_) && net.levels_ <= kMaxLevels) ++net.levels_;
    if (net.levels_ < kMinLevels || net.levels_ > kMaxLevels) {
        reader.refuse("it has " + std::to_string(net.levels_) + " levels named down1, down2, …");
    }

    int at = builder.addTensor("input", 3, 0);
    std::vector<int> skips;
    for (int level = 0; level < net.levels_; ++level) {
        at = builder.addLevel(at, level);
        skips.push_back(at);
    }
    for (int level = net.levels_ - 2; level >= 0; --level) {
        const std::string block = "up" + std::to_string(net.levels_ - 1 - level);
        const int upsampled = builder.add({.name = block + ".upconv",
                                           .kind = ConvKind::up2x2,
                                           .in0 = at,
                                           .filter = readUpConv(reader, block + ".upconv"),
                                           .relu = false},
                                          level);
        at = builder.addConvs(block, skips[std::size_t(level)], upsampled, level);
        at = builder.addCell(block, at, level);
    }
    builder.add({.name = "out",
                 .kind = ConvKind::head1x1,
                 .in0 = at,
                 .filter = readConv(reader, "out", "", {1}, epsilon),
                 .relu = false},
                0);
    if (net.layers_.back().filter.outChannels != 1) reader.refuse("its last layer has more than one channel");
    reader.checkAllTaken();
    if (const auto said = file.metadata().find("known_answer"); said != file.metadata().end()) {
        net.knownAnswer_ = KnownAnswer::parse(said->second);
        const bool fits =
            net.knownAnswer_ &&
            net.inputSize(net.knownAnswer_->input, net.knownAnswer_->input.longest()) == net.knownAnswer_->input;
        if (!fits) reader.refuse("its metadata 'known_answer' is none");
    }
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
    constexpr int least = 128;  // a smaller input hardly resolves a person
    const int side = std::max(least, input.longest() / 2);
    return inputSize(picture, side).longest() < input.longest() ? side : 0;
}

double UNet::flops(Size input) const {
    double sum = 0;
    for (const Conv& layer : layers_) sum += layerFlops(*this, layer, input);
    return sum;
}

}  // namespace matte
