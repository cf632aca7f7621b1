// SPDX-License-Identifier: Apache-2.0
// HostNetwork: the interface of a network with input and alpha in host memory, whatever device computes it. The CPU
// engine runs one. One thread at a time.
//
//     network.configure(unet.inputSize(picture));
//     network.setInput(resampleToPlanes(picture, network.size()));
//     network.run({}, nullptr);
//     network.readMatte(matte);
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "inference/model/unet.h"

namespace matte {

class HostNetwork {
public:
    virtual ~HostNetwork() = default;
    HostNetwork(const HostNetwork&) = delete;
    HostNetwork& operator=(const HostNetwork&) = delete;

    [[nodiscard]] virtual const UNet& unet() const = 0;
    /// Prepares for inputs of `size` (sides are multiples of 2^(levels-1)); does nothing if that and threads() have not
    /// changed. Throws Error(engine).
    virtual void configure(Size size) = 0;
    [[nodiscard]] virtual Size size() const = 0;
    /// [H, W, 3] normalised R, G, B, to fill before run(); valid until the next configure().
    [[nodiscard]] virtual float* input() = 0;
    /// [H, W] alpha, 0 to 1, after run().
    [[nodiscard]] virtual const float* alpha() const = 0;
    /// The states of unet().cells(), f32, one after another, each [h, w, C/2]: run() reads and replaces them, and
    /// configure() for another size makes them zero. Empty without cells; valid until the next configure().
    [[nodiscard]] virtual std::span<float> state() { return {}; }
    /// Throws Error(engine), or Cancelled between two layers. If `layerMs` is not null, it receives the milliseconds of
    /// each of unet().layers(), or becomes empty where layers can't be timed.
    virtual void run(std::stop_token stop, std::vector<float>* layerMs) = 0;

    /// Normalises `picture` [H, W, 3], sRGB-encoded R, G, B, 0 to 1, of size(), into input().
    void setInput(const Planes& picture);
    /// run() on a still, without a frame before it. A network with cells runs twice, from a state of zero and from the
    /// state that this gives: the cells have seen the picture once, as in a sequence.
    void runStill(std::stop_token stop, std::vector<float>* layerMs);
    /// Copies alpha() to `matte` [H, W, 1].
    void readMatte(Planes& matte) const;
    /// Runs on a still, any format but gray8, at the picture's own size: the matte [h, w, 1]. Throws as configure().
    [[nodiscard]] Planes matteOf(const ImageView& picture);

    /// For display: "oneDNN 2.6.3, f32".
    [[nodiscard]] virtual std::string name() const = 0;
    /// Performance problems, one sentence each.
    [[nodiscard]] virtual std::vector<std::string> warnings() const { return {}; }
    /// The implementation of unet().layers()[layer], for display.
    [[nodiscard]] virtual std::string implementation(int layer) const = 0;
    /// Bytes per value of an activation.
    [[nodiscard]] virtual int valueBytes() const = 0;
    [[nodiscard]] virtual bool onGpu() const { return false; }
    /// Transfers between host and device by the last run().
    [[nodiscard]] virtual std::size_t bytesUp() const { return 0; }
    [[nodiscard]] virtual std::size_t bytesDown() const { return 0; }

protected:
    HostNetwork() = default;
    HostNetwork(HostNetwork&&) noexcept = default;
};

}  // namespace matte
