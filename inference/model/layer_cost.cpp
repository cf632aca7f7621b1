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
    // Every weight of a 3x3 or 1x1 filter meets each output pixel once; a 2x2 up-sampling's meets a quarter of them.
    const double pixels = double(sizeOf(network, layer.out, input).pixels());
    return 2 * double(layer.filter.weights.size()) * pixels / (layer.kind == ConvKind::up2x2 ? 4 : 1);
}

double layerBytes(const UNet& network, const Conv& layer, Size input, int bytesPerValue) {
    double values = double(layer.filter.weights.size() + layer.filter.bias.size());
    for (const int tensor : {layer.in0, layer.in1, layer.out, layer.pooled}) values += valuesOf(network, tensor, input);
    return values * bytesPerValue;
}

std::string layerShape(const UNet& network, const Conv& layer, Size input) {
    const auto channels = [&](int tensor) { return std::to_string(network.tensors()[std::size_t(tensor)].channels); };
    const char* filter = layer.kind == ConvKind::conv3x3 ? "3x3" : layer.kind == ConvKind::up2x2 ? "up 2x2" : "1x1";
    const Size size = sizeOf(network, layer.out, input);
    return channels(layer.in0) + (layer.in1 == kNoTensor ? "" : " + " + channels(layer.in1)) + " -> " +
           channels(layer.out) + ", " + filter + ", " + std::to_string(size.width) + "x" + std::to_string(size.height);
}

}  // namespace matte
