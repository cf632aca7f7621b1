// SPDX-License-Identifier: Apache-2.0
#include "inference/model/layer_cost.h"

namespace matte {
namespace {

Size sizeOf(const UNet& network, int tensor, Size input) {
    const int level = network.tensors()[std::size_t(tensor)].level;
    return {input.width >> level, input.height >> level};
}

double valuesOf(const UNet& network, int tensor, Size input) {
    if (tensor == kNoTensor) return 0;
    return double(sizeOf(network, tensor, input).pixels()) * network.tensors()[std::size_t(tensor)].channels;
}

}  // namespace

double layerFlops(const UNet& network, const Conv& layer, Size input) {
    // Every weight of a filter meets each output pixel once; a 2x2 up-sampling's meets a quarter of them.
    const double pixels = double(sizeOf(network, layer.out, input).pixels());
    return 2 * double(layer.filter.weights.size()) * pixels / (layer.kind == ConvKind::up2x2 ? 4 : 1);
}

double layerBytes(const UNet& network, const Conv& layer, Size input, int bytesPerValue) {
    double values = double(layer.filter.weights.size() + layer.filter.bias.size());
    for (const int tensor : {layer.in0, layer.in1, layer.added, layer.out, layer.pooled})
        values += valuesOf(network, tensor, input);
    return values * bytesPerValue;
}

std::string layerShape(const UNet& network, const Conv& layer, Size input) {
    const auto channels = [&](int tensor) { return std::to_string(network.tensors()[std::size_t(tensor)].channels); };
    const std::string side = std::to_string(layer.filter.side());
    const std::string filter = std::string(layer.kind == ConvKind::up2x2       ? "up "
                                           : layer.kind == ConvKind::depthwise ? "depthwise "
                                                                               : "") +
                               side + "x" + side + (layer.stride == 2 ? " / 2" : "") +
                               (layer.added == kNoTensor ? "" : " +");
    const Size size = sizeOf(network, layer.out, input);
    return channels(layer.in0) + (layer.in1 == kNoTensor ? "" : " + " + channels(layer.in1)) + " -> " +
           channels(layer.out) + ", " + filter + ", " + std::to_string(size.width) + "x" + std::to_string(size.height);
}

}  // namespace matte
