// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/cuda_network.h"

#include <algorithm>

namespace matte {
namespace {

constexpr std::size_t kAlignment = 1024;

template <typename T>
DeviceBuffer upload(const std::vector<T>& values) {
    DeviceBuffer buffer(values.size() * sizeof(T));
    CUDA_CHECK(cudaMemcpy(buffer.data(), values.data(), buffer.bytes(), cudaMemcpyHostToDevice));
    return buffer;
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
    shape.linear = !layer.relu && (layer.kind == ConvKind::pointwise || layer.kind == ConvKind::conv3x3);
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
    if (unet.layers()[last].out != unet.layers().back().in0) return -1;  // a cell is between them
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

ConvKernel CudaNetwork::bestKernel() {
    const DeviceFacts device = DeviceFacts::current();
    return device.major == 9 && device.minor == 0 ? ConvKernel::sm90 : ConvKernel::mma;
}

CudaNetwork::CudaNetwork(std::shared_ptr<const CudaWeights> weights, Choose choose)
    : weights_(std::move(weights)),
      choose_(std::move(choose)),
      withHead_(headLayer(weights_->unet(), weights_->kernel())),
      launches_(weights_->unet().layers().size()) {}

void CudaNetwork::configure(Size size) {
    if (arena_.bytes() > 0 && size == size_) return;
    size_ = size;
    try {
        build();
    } catch (...) {
        arena_.reallocate(0);  // or the next call would take it for configured
        throw;
    }
}

void CudaNetwork::forward(cudaStream_t stream, const std::function<void(int)>& afterLayer) const {
    const UNet& unet = weights_->unet();
    for (std::size_t i = 0; i < launches_.size(); ++i) {
        const Conv& layer = unet.layers()[i];
        const GruMemory* cell = layer.cell == kNoCell ? nullptr : &cells_[std::size_t(layer.cell)];
        const bool gates = unet.isGates(layer);
        if (gates) takeGruInput(*cell, stream);
        if (launches_[i]) (*launches_[i])(stream, i > 0 && !afterLayer);
        if (cell) gates ? resetGruState(*cell, stream) : updateGruState(*cell, stream);
        if (afterLayer) afterLayer(int(i));
    }
}

void CudaNetwork::clearState(cudaStream_t stream) const {
    CUDA_CHECK(cudaMemsetAsync(states_.data(), 0, states_.bytes(), stream));
}

/// Gives each placement the lowest offset at which no placement of the same time lies. Returns the arena's size.
std::size_t CudaNetwork::place(std::vector<Placement>& placements) {
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

std::vector<CudaNetwork::Placement> CudaNetwork::lifetimes() const {
    const UNet& unet = weights_->unet();
    std::vector<Placement> spans;
    for (const Tensor& tensor : unet.tensors()) {
        const std::size_t pixels = std::size_t(size_.width >> tensor.level) * (size_.height >> tensor.level);
        const bool alpha = &tensor == &unet.tensors().back();
        const std::size_t perPixel =
            alpha ? sizeof(float) : std::size_t(paddedChannels(tensor.channels)) * valueBytes(weights_->kernel());
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
        if (layer.cell == kNoCell) continue;
        const ConvGru& cell = *unet.cellOf(layer);
        if (unet.isGates(layer)) {
            spans[cell.input].firstLayer = spans[cell.reset].firstLayer = i;
        } else {
            spans[cell.out].firstLayer = i;
        }
        for (const int used : {cell.in, cell.input, cell.gates, cell.reset, cell.out}) spans[used].lastLayer = i;
        spans[cell.state].bytes = 0;  // lies elsewhere
    }
    // The caller writes the input before a run and reads the output after it.
    spans.front().lastLayer = spans.back().lastLayer = count;
    if (withHead_ >= 0) {
        spans[unet.layers()[withHead_].out].bytes = 0;  // exists in registers alone
        spans.back().firstLayer = withHead_;
    }
    return spans;
}

void CudaNetwork::build() {
    const UNet& unet = weights_->unet();
    placements_ = lifetimes();
    arena_.reallocate(place(placements_));
    placeCells();
    choices_.clear();
    for (std::size_t i = 0; i < launches_.size(); ++i) {
        const Conv& layer = unet.layers()[i];
        const CudaWeights::Layer& values = weights_->layers()[i];
        if (layer.kind == ConvKind::head1x1) {
            choices_.push_back(withHead_ >= 0 ? "in the layer before" : "head");
            if (withHead_ >= 0) continue;
            const Head head{values.weights.as<float>(), values.bias.as<float>(), alpha()};
            launches_[i].emplace(prepareHead(at(layer.in0), weights_->kernel() == ConvKernel::fp32, head,
                                             size_.width * size_.height,
                                             paddedChannels(unet.tensors()[layer.in0].channels), weights_->device()));
            continue;
        }
        ConvShape shape = shapeOf(unet, layer, size_);
        shape.head = int(i) == withHead_;
        const ConvConfig config = choose_(shape, rankedConfigs(shape, weights_->device(), weights_->kernel()));
        ConvBuffers buffers{at(layer.in0),
                            unet.isGates(layer) ? cells_[std::size_t(layer.cell)].stateRounded : at(layer.in1),
                            at(layer.out),
                            at(layer.pooled),
                            values.weights.data(),
                            values.bias.as<float>(),
                            {},
                            at(layer.added)};
        if (shape.head) {
            const CudaWeights::Layer& head = weights_->layers()[i + 1];
            buffers.head = {head.weights.as<float>(), head.bias.as<float>(), alpha()};
        }
        launches_[i].emplace(shape, config, buffers, weights_->device());
        choices_.push_back(choiceText(shape, config));
    }
}

/// The states in a block of their own, each in floats and, where the convolutions read halves, in halves behind them.
void CudaNetwork::placeCells() {
    const UNet& unet = weights_->unet();
    const bool floats = weights_->kernel() == ConvKernel::fp32;
    const auto aligned = [](std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; };
    cells_.clear();
    std::size_t bytes = 0;
    std::vector<std::size_t> offsets;
    for (const ConvGru& cell : unet.cells()) {
        const Tensor& in = unet.tensors()[std::size_t(cell.in)];
        const std::size_t pixels = std::size_t(size_.width >> in.level) * std::size_t(size_.height >> in.level);
        const std::size_t values = pixels * std::size_t(paddedChannels(in.channels / 2));
        offsets.push_back(bytes);
        bytes += aligned(values * sizeof(float));
        offsets.push_back(floats ? offsets.back() : bytes);
        if (!floats) bytes += aligned(values * std::size_t(valueBytes(weights_->kernel())));
        cells_.push_back({.pixels = pixels,
                          .channels = in.channels,
                          .inFloats = floats,
                          .in = at(cell.in),
                          .input = at(cell.input),
                          .gates = at(cell.gates),
                          .reset = at(cell.reset),
                          .candidate = at(cell.candidate),
                          .out = at(cell.out)});
    }
    states_.reallocate(bytes);
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        cells_[i].state = reinterpret_cast<float*>(states_.data() + offsets[2 * i]);
        cells_[i].stateRounded = states_.data() + offsets[2 * i + 1];
    }
    if (bytes == 0) return;
    clearState(cudaStreamLegacy);
    CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));  // no other stream waits for it
}

}  // namespace matte
