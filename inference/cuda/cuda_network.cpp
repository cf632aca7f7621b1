// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/cuda_network.h"

#include <algorithm>
#include <optional>

#include "inference/cuda/head.h"

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
    return shape;
}

/// The head's weights, padded as its input's channels are.
DeviceBuffer uploadHead(const Filter& filter) {
    std::vector<float> weights = filter.weights;
    weights.resize(std::size_t(paddedChannels(filter.inChannels)), 0.0F);
    return upload(weights);
}

}  // namespace

struct CudaNetwork::State {
    struct Layer {
        DeviceBuffer weights, bias;
        std::optional<ConvLaunch> conv;  ///< empty: the head
    };

    State(const UNet& network, ConvKernel with, Choose how)
        : unet(network), kernel(with), choose(std::move(how)), device(DeviceFacts::current()) {
        for (const Conv& layer : unet.layers()) {
            Layer& made = layers.emplace_back();
            if (layer.kind == ConvKind::head1x1) {
                made.weights = uploadHead(layer.filter);
                made.bias = upload(layer.filter.bias);
                continue;
            }
            // What packing depends on depends on the channels alone.
            const ConvShape shape = shapeOf(unet, layer, {1 << unet.levels(), 1 << unet.levels()});
            const PackedFilter packed = packFilter(layer.filter, shape, rankedConfigs(shape, device, kernel).front());
            made.weights = upload(packed.weights);
            made.bias = upload(packed.bias);
        }
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
            for (const int read : {layer.in0, layer.in1}) {
                if (read != kNoTensor) spans[read].lastLayer = i;
            }
        }
        // The caller writes the input before a run and reads the output after it.
        spans.front().lastLayer = spans.back().lastLayer = count;
        return spans;
    }

    void configure(Size wanted) {
        size = wanted;
        placements = lifetimes();
        arena = DeviceBuffer();  // the old one first: both may not fit
        arena = DeviceBuffer(place(placements));
        choices.clear();
        for (std::size_t i = 0; i < layers.size(); ++i) {
            const Conv& layer = unet.layers()[i];
            if (layer.kind == ConvKind::head1x1) {
                choices.push_back("head");
                continue;
            }
            const ConvShape shape = shapeOf(unet, layer, size);
            const ConvConfig config = choose(shape, rankedConfigs(shape, device, kernel));
            const ConvBuffers buffers{at(layer.in0),
                                      at(layer.in1),
                                      at(layer.out),
                                      at(layer.pooled),
                                      layers[i].weights.data(),
                                      layers[i].bias.as<float>()};
            layers[i].conv.emplace(shape, config, buffers, device);
            choices.push_back(config.text());
        }
    }

    [[nodiscard]] std::byte* at(int tensor) const {
        return tensor == kNoTensor ? nullptr : arena.data() + placements[tensor].offset;
    }

    void launch(int index, cudaStream_t stream, bool overlap) const {
        const Layer& layer = layers[index];
        if (layer.conv) return (*layer.conv)(stream, overlap);
        const Conv& head = unet.layers()[index];
        launchHead(at(head.in0), kernel == ConvKernel::fp32, layer.weights.as<float>(), layer.bias.as<float>(),
                   reinterpret_cast<float*>(at(head.out)), size.width * size.height,
                   paddedChannels(unet.tensors()[head.in0].channels), stream, overlap && device.major >= 9);
    }

    UNet unet;
    ConvKernel kernel;
    Choose choose;
    DeviceFacts device;
    Size size{};
    std::vector<Layer> layers;
    std::vector<Placement> placements;
    DeviceBuffer arena;
    std::vector<std::string> choices;
};

ConvKernel CudaNetwork::bestKernel() {
    const DeviceFacts device = DeviceFacts::current();
    return device.major == 9 && device.minor == 0 ? ConvKernel::sm90 : ConvKernel::mma;
}

CudaNetwork::CudaNetwork(const UNet& unet, ConvKernel kernel, Choose choose)
    : state_(std::make_unique<State>(unet, kernel, std::move(choose))) {}
CudaNetwork::~CudaNetwork() = default;
CudaNetwork::CudaNetwork(CudaNetwork&&) noexcept = default;

void CudaNetwork::configure(Size size) {
    if (state_->arena.bytes() > 0 && size == state_->size) return;
    state_->configure(size);
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
    std::size_t bytes = state_->arena.bytes();
    for (const auto& layer : state_->layers) bytes += layer.weights.bytes() + layer.bias.bytes();
    return bytes;
}

void CudaNetwork::forward(cudaStream_t stream, const std::function<void(int)>& afterLayer) const {
    for (int i = 0; i < int(state_->layers.size()); ++i) {
        state_->launch(i, stream, i > 0 && !afterLayer);
        if (afterLayer) afterLayer(i);
    }
}

}  // namespace matte
