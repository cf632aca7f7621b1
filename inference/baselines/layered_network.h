// SPDX-License-Identifier: Apache-2.0
// The network's driver for the implementations that are made of layers: walks the table, keeps every tensor, and copies
// between the host and the device either once or around each step, and counts. One thread at a time.
#pragma once

#include "inference/baselines/memory.h"

namespace matte::baselines {

/// What a network of bottlenecks needs beside, the same for all implementations of a device.
struct BottleneckLayers {
    /// Depthwise, pointwise, and the stem's 3x3 of stride 2; with the ReLU, if there is one.
    std::unique_ptr<Layer> (*conv)(const Conv& layer, const Shape& in) = nullptr;
    std::unique_ptr<Layer> (*add)(const Shape& in) = nullptr;  ///< out += in
};

/// How an implementation runs each kind of layer.
struct Layers {
    Where where = Where::cpu;
    bool resident = true;  ///< false: each step copies its input in and its output out
    MakeBlock block = nullptr;
    std::unique_ptr<Layer> (*maxPool)(const Shape& in) = nullptr;
    std::unique_ptr<Layer> (*upConv)(const Filter& filter, const Shape& in) = nullptr;
    std::unique_ptr<Layer> (*head)(const Filter& filter, const Shape& in) = nullptr;
    BottleneckLayers bottleneck;
};

std::unique_ptr<NetworkImplementation> makeLayeredNetwork(const ModelPointer& model, const Layers& layers);

}  // namespace matte::baselines
