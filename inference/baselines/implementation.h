// SPDX-License-Identifier: Apache-2.0
// The implementations of the network, from the definition written as loops to tensor cores, behind one interface. A
// program sees the table alone; an implementation's memory is allocated when it is made. implementations() may be
// called from any thread; a network from one thread at a time.
//
//     const auto model = std::make_shared<const Model>(Model::load(Safetensors::read(path)));
//     auto network = makeNetwork(implementationNamed("gpu-winograd"), model);
//     network->configure(model->unet.inputSize(picture));
//     const RunReport report = network->run(input, alpha);  // report.ms
#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "inference/baselines/model.h"
#include "inference/core/image.h"

struct CUstream_st;

namespace matte::baselines {

using StreamHandle = CUstream_st*;  ///< a CUDA stream; null for an implementation of the CPU

enum class Where { cpu = 1, gpu };

/// What one run copied between the host and the device on behalf of a block of the network ("down3", "up1", "out").
struct BlockTransfers {
    std::string block;
    int in = 0, out = 0;
};

struct RunReport {
    double ms = 0;                           ///< wall clock, from the input in host memory to alpha in host memory
    double computeMs = 0;                    ///< of these, without copying the input in and alpha out
    std::vector<BlockTransfers> transfers;   ///< empty on the CPU; the last download, of alpha alone, is not counted
    std::size_t bytesUp = 0, bytesDown = 0;  ///< between host and device, alpha's included; 0 on the CPU
    std::vector<float> layerMs;              ///< of each of UNet::layers(), when timeLayers() is on; else empty
};

/// The whole network by one implementation.
class NetworkImplementation {
public:
    virtual ~NetworkImplementation() = default;
    NetworkImplementation(const NetworkImplementation&) = delete;
    NetworkImplementation& operator=(const NetworkImplementation&) = delete;

    /// For inputs of `size`, sides multiples of 2^(levels-1). Throws Error(engine), for instance for want of memory.
    virtual void configure(Size size) = 0;
    /// `input` [H, W, 3], normalised R, G, B; `alpha` [H, W] of 0 to 1. Throws Error(engine), and Cancelled between two
    /// layers of the CPU's when stopBy()'s token was triggered.
    virtual RunReport run(std::span<const float> input, std::span<float> alpha) = 0;
    /// Tensor `index` of UNet::tensors() after run(), [h, w, channels]; empty where the implementation does not keep
    /// it.
    [[nodiscard]] virtual std::vector<float> activation(int index) const = 0;
    /// The share of the current run's arithmetic in layers that have begun, 0 to 1: an upper bound of what is done. 0
    /// where an implementation can't tell. Any thread.
    [[nodiscard]] virtual double begun() const { return 0; }
    /// The token that ends later runs.
    void stopBy(std::stop_token stop) { stop_ = std::move(stop); }
    /// Whether later runs time each layer, where the implementation can tell them apart. An implementation whose
    /// tensors stay on the device then waits for it after each layer.
    void timeLayers(bool on) { timeLayers_ = on; }

protected:
    NetworkImplementation() = default;
    std::stop_token stop_;
    bool timeLayers_ = false;
};

/// One layer with its parameters, prepared for one shape of input. Runs any number of times, on its device's memory.
class Layer {
public:
    virtual ~Layer() = default;
    Layer(const Layer&) = delete;
    Layer& operator=(const Layer&) = delete;

    /// 3 for a convolution whose batch norm and ReLU are kernels of their own.
    [[nodiscard]] virtual int steps() const { return 1; }
    /// Step 0 reads `in` and writes `out`; the later ones change `out` where it is.
    virtual void run(int step, const float* in, float* out, StreamHandle stream) = 0;
    /// Convert `in` to the implementation's own layout before a run, and its output back after it; not timed.
    virtual void load(const float* /*in*/, StreamHandle) {}
    virtual void store(float* /*out*/, StreamHandle) {}

protected:
    Layer() = default;
};

using MakeBlock = std::unique_ptr<Layer> (*)(const Block& block, const Shape& in);
using ModelPointer = std::shared_ptr<const Model>;
using MakeNetwork = std::unique_ptr<NetworkImplementation> (*)(const ModelPointer& model);

struct Implementation {
    std::string_view name;   ///< "gpu-tiled": the command line's word
    std::string_view title;  ///< "Tiles in shared memory": a menu's line
    Where where = Where::cpu;
    double nmse = 1e-10;            ///< the normalised mean squared error that it may have
    bool tensorCores = false;       ///< halves: another limit
    bool needsRelu = false;         ///< its convolutions always end in one
    MakeBlock block = nullptr;      ///< null: only whole networks
    MakeNetwork network = nullptr;  ///< null: only single layers
};

/// Every implementation, those of each device from the plainest on.
std::span<const Implementation> implementations();
/// Throws Error(usage) that lists the names.
const Implementation& implementationNamed(std::string_view name);
/// An implementation for the whole network. Throws Error(usage) for a name that is none, and Error(engine) for one that
/// can't run on this machine.
const Implementation& networkImplementationNamed(std::string_view name);
/// Why the implementation can't run on this machine, as a sentence; empty when it can.
std::string whyUnavailable(const Implementation& implementation);

/// Throws Error(engine) with whyUnavailable().
std::unique_ptr<NetworkImplementation> makeNetwork(const Implementation& implementation, const ModelPointer& model);
std::unique_ptr<Layer> makeBlock(const Implementation& implementation, const Block& block, const Shape& in);

/// How far one output is from another: absolute differences, and the squares' sum against that of the expected.
struct Difference {
    double mean = 0, maximum = 0, nmse = 0;
};
/// NaN throughout for outputs of different lengths, or none. Any thread.
Difference difference(std::span<const float> expected, std::span<const float> actual);

}  // namespace matte::baselines
