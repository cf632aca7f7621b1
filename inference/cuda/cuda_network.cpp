// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/cuda_network.h"

#include <algorithm>
#include <optional>

#include "inference/cuda/conv/head.h"

namespace matte {
namespace {

constexpr std::size_t kAlignment = 1024;

template <typename T>
DeviceBuffer upload(const std::vector<T>& values) {
    DeviceBuffer buffer(values.size() * sizeof(T));
    CUDA_CHECK(cudaMemcpy(buffer.data(), values.data(), buffer.bytes(), cudaMemcpyHostToDevice));
    return buffer;
}

/// A span of the arena, and the layers between which it is in use.
struct Placement {
    std::size_t offset = 0, bytes = 0;
    int firstLayer = 0, lastLayer = 0;
};

/// Gives each placement the lowest offset at which no placement of the same time lies. Returns the arena's size.
std::size_t place(std::vector<Placement>& placements) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < placements.size(); ++i) {
        Placement& mine = placements[i];
        std::vector<const Placement*> others;
        for (std::size_t j = 0; j < i; ++j) {
            const Placement& other = placements[j];
            if (other.lastLayer >= mine.firstLayer && other.firstLayer <= mine.lastLayer) others.push_back(&other);
        }
        std::ranges::sort(others, {}, &Placement::offset);
        for (const Placement* other : others) {
            if (mine.offset + mine.bytes <= other->offset) break;
            mine.offset = std::max(mine.offset, other->offset + other->bytes);
        }
        end = std::max(end, mine.offset + mine.bytes);
    }
    return end;
}

ConvShape shapeOf(const UNet& unet, const Conv& layer, Size size) {
    const auto& tensors = unet.tensors();
    const Tensor& in0 = tensors[layer.in0];
    ConvShape shape;
    shape.kind = layer.kind;
    shape.height = size.height >> in0.level;
    shape.width = size.width >> in0.level;
    shape.in0Channels = in0.channels;
    shape.in1Channels = layer.in1 == kNoTensor ? 0 : tensors[layer.in1].channels;
    shape.outChannels = tensors[layer.out].channels;
    shape.pooled = layer.pooled != kNoTensor;
    shape.widthMultiple = 1 << (unet.levels() - 1 - in0.level);
    shape.stride = layer.stride;
    shape.side = layer.filter.side();
    shape.linear = layer.kind == ConvKind::pointwise && !layer.relu;
    shape.added = layer.added != kNoTensor;
    return shape;
}

std::string choiceText(const ConvShape& shape, const ConvConfig& config) {
    if (!shape.direct()) return config.text();
    return shape.kind == ConvKind::depthwise ? "depthwise" : "stem";
}

/// The layer that computes the head too, or -1.
int headLayer(const UNet& unet, ConvKernel kernel) {
    const int last = int(unet.layers().size()) - 2;
    return fusesHead(shapeOf(unet, unet.layers()[last], {}), kernel) ? last : -1;
}

/// The head's weights, padded as its input's channels are, or as a layer that computes the head reads them.
DeviceBuffer uploadHead(const Filter& filter) {
    std::vector<float> weights = filter.weights;
    weights.resize(std::size_t(std::max(paddedChannels(filter.inChannels), kHeadWeights)), 0.0F);
    return upload(weights);
}

}  // namespace

CudaWeights::CudaWeights(const UNet& unet, ConvKernel kernel)
    : unet_(unet), kernel_(kernel), device_(DeviceFacts::current()) {
    for (const Conv& layer : unet_.layers()) {
        Layer& made = layers_.emplace_back();
        if (layer.kind == ConvKind::head1x1) {
            made.weights = uploadHead(layer.filter);
            made.bias = upload(layer.filter.bias);
            continue;
        }
        // The packed layout depends only on the channels, so any size will do.
        const ConvShape shape = shapeOf(unet_, layer, {1 << unet_.levels(), 1 << unet_.levels()});
        const PackedFilter packed = packFilter(layer.filter, shape, rankedConfigs(shape, device_, kernel).front());
        made.weights = upload(packed.weights);
        made.bias = upload(packed.bias);
    }
    CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));  // no other stream waits for it
}

std::size_t CudaWeights::deviceBytes() const {
    std::size_t bytes = 0;
    for (const Layer& layer : layers_) bytes += layer.weights.bytes() + layer.bias.bytes();
    return bytes;
}

struct CudaNetwork::State {
    State(std::shared_ptr<const CudaWeights> with, Choose how)
        : weights(std::move(with)),
          unet(weights->unet()),
          kernel(weights->kernel()),
          choose(std::move(how)),
          withHead(headLayer(unet, kernel)) {
        launches.resize(unet.layers().size());
    }

    [[nodiscard]] std::vector<Placement> lifetimes() const {
        std::vector<Placement> spans;
        for (const Tensor& tensor : unet.tensors()) {
            const std::size_t pixels = std::size_t(size.width >> tensor.level) * (size.height >> tensor.level);
            const bool alpha = &tensor == &unet.tensors().back();
            const std::size_t perPixel =
                alpha ? sizeof(float) : std::size_t(paddedChannels(tensor.channels)) * valueBytes(kernel);
            const std::size_t bytes = pixels * perPixel;
            spans.push_back({0, (bytes + kAlignment - 1) / kAlignment * kAlignment, -1, -1});
        }
        const int count = int(unet.layers().size());
        for (int i = 0; i < count; ++i) {
            const Conv& layer = unet.layers()[i];
            for (const int made : {layer.out, layer.pooled}) {
                if (made != kNoTensor) spans[made].firstLayer = spans[made].lastLayer = i;
            }
            for (const int read : {layer.in0, layer.in1, layer.added}) {
                if (read != kNoTensor) spans[read].lastLayer = i;
            }
        }
        // The caller writes the input before a run and reads the output after it.
        spans.front().lastLayer = spans.back().lastLayer = count;
        if (withHead >= 0) {
            spans[unet.layers()[withHead].out].bytes = 0;  // exists in registers alone
            spans.back().firstLayer = withHead;
        }
        return spans;
    }

    void configure(Size wanted) {
        size = wanted;
        placements = lifetimes();
        arena = DeviceBuffer();  // the old one first: both may not fit
        arena = DeviceBuffer(place(placements));
        choices.clear();
        for (std::size_t i = 0; i < launches.size(); ++i) {
            const Conv& layer = unet.layers()[i];
            const CudaWeights::Layer& values = weights->layers()[i];
            if (layer.kind == ConvKind::head1x1) {
                choices.push_back(withHead >= 0 ? "in the layer before" : "head");
                continue;
            }
            ConvShape shape = shapeOf(unet, layer, size);
            shape.head = int(i) == withHead;
            const ConvConfig config = choose(shape, rankedConfigs(shape, weights->device(), kernel));
            ConvBuffers buffers{at(layer.in0),
                                at(layer.in1),
                                at(layer.out),
                                at(layer.pooled),
                                values.weights.data(),
                                values.bias.as<float>(),
                                {},
                                at(layer.added)};
            if (shape.head) {
                const CudaWeights::Layer& head = weights->layers()[i + 1];
                buffers.head = {head.weights.as<float>(), head.bias.as<float>(),
                                reinterpret_cast<float*>(at(unet.layers()[i + 1].out))};
            }
            launches[i].emplace(shape, config, buffers, weights->device());
            choices.push_back(choiceText(shape, config));
        }
    }

    [[nodiscard]] std::byte* at(int tensor) const {
        return tensor == kNoTensor ? nullptr : arena.data() + placements[tensor].offset;
    }

    void launch(int index, cudaStream_t stream, bool overlap) const {
        if (launches[index]) return (*launches[index])(stream, overlap);
        if (withHead >= 0) return;
        const Conv& head = unet.layers()[index];
        const CudaWeights::Layer& values = weights->layers()[index];
        launchHead(at(head.in0), kernel == ConvKernel::fp32,
                   {values.weights.as<float>(), values.bias.as<float>(), reinterpret_cast<float*>(at(head.out))},
                   size.width * size.height, paddedChannels(unet.tensors()[head.in0].channels), stream,
                   overlap && weights->device().major >= 9);
    }

    std::shared_ptr<const CudaWeights> weights;
    const UNet& unet;
    ConvKernel kernel;
    Choose choose;
    int withHead;  ///< the layer that computes the head too, or -1
    Size size{};
    std::vector<std::optional<ConvLaunch>> launches;  ///< of each layer; empty: the head
    std::vector<Placement> placements;
    DeviceBuffer arena;
    std::vector<std::string> choices;
};

ConvKernel CudaNetwork::bestKernel() {
    const DeviceFacts device = DeviceFacts::current();
    return device.major == 9 && device.minor == 0 ? ConvKernel::sm90 : ConvKernel::mma;
}

CudaNetwork::CudaNetwork(std::shared_ptr<const CudaWeights> weights, Choose choose)
    : state_(std::make_unique<State>(std::move(weights), std::move(choose))) {}
CudaNetwork::CudaNetwork(const UNet& unet, ConvKernel kernel, Choose choose)
    : CudaNetwork(std::make_shared<CudaWeights>(unet, kernel), std::move(choose)) {}
CudaNetwork::~CudaNetwork() = default;
CudaNetwork::CudaNetwork(CudaNetwork&&) noexcept = default;

void CudaNetwork::configure(Size size) {
    if (state_->arena.bytes() > 0 && size == state_->size) return;
    try {
        state_->configure(size);
    } catch (...) {
        state_->arena = DeviceBuffer();  // or the next call would take it for configured
        throw;
    }
}
Size CudaNetwork::size() const {
    return state_->size;
}
void* CudaNetwork::input() const {
    return state_->at(0);
}
float* CudaNetwork::alpha() const {
    return reinterpret_cast<float*>(state_->at(int(state_->placements.size()) - 1));
}
const std::vector<std::string>& CudaNetwork::choices() const {
    return state_->choices;
}
std::size_t CudaNetwork::deviceBytes() const {
    return state_->arena.bytes() + state_->weights->deviceBytes();
}

void CudaNetwork::forward(cudaStream_t stream, const std::function<void(int)>& afterLayer) const {
    for (int i = 0; i < int(state_->launches.size()); ++i) {
        state_->launch(i, stream, i > 0 && !afterLayer);
        if (afterLayer) afterLayer(i);
    }
}

}  // namespace matte
