// SPDX-License-Identifier: Apache-2.0
// HostNetwork: a network whose input and alpha lie in host memory, whatever computes between them: what the CPU engine
// and its live frames run. One thread at a time.
//
//     network.configure(unet.inputSize(picture));
//     network.setInput(resampleToPlanes(picture, network.size()));
//     network.run({}, nullptr);
//     network.readMatte(matte);
#pragma once

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
    /// Builds everything for inputs of `size` (sides multiples of 2^(levels-1)); nothing when that is built already for
    /// threads(). Throws Error(engine).
    virtual void configure(Size size) = 0;
    [[nodiscard]] virtual Size size() const = 0;
    /// [H, W, 3] normalised R, G, B to fill before run(); valid until the next configure().
    [[nodiscard]] virtual float* input() = 0;
    /// [H, W] alpha of 0 to 1 after run().
    [[nodiscard]] virtual const float* alpha() const = 0;
    /// Throws Error(engine), or Cancelled between two layers. `layerMs`, when not null, becomes the milliseconds of
    /// each of unet().layers(), or empty where they can't be told apart.
    virtual void run(std::stop_token stop, std::vector<float>* layerMs) = 0;

    /// Fills input() with `picture` [H, W, 3], sRGB-encoded R, G, B of 0 to 1 at size().
    void setInput(const Planes& picture);
    /// alpha() as [H, W, 1].
    void readMatte(Planes& matte) const;
    /// The matte [h, w, 1] of a picture, any format but gray8, at the picture's own size. Throws what configure() does.
    [[nodiscard]] Planes matteOf(const ImageView& picture);

    /// For people: "oneDNN 2.6.3, f32".
    [[nodiscard]] virtual std::string name() const = 0;
    /// What makes it slower than it could be, a sentence each.
    [[nodiscard]] virtual std::vector<std::string> warnings() const { return {}; }
    /// What runs one of unet().layers().
    [[nodiscard]] virtual std::string implementation(int layer) const = 0;
    /// Of an activation.
    [[nodiscard]] virtual int valueBytes() const = 0;
    [[nodiscard]] virtual bool onGpu() const { return false; }
    /// Between host and device by the last run().
    [[nodiscard]] virtual std::size_t bytesUp() const { return 0; }
    [[nodiscard]] virtual std::size_t bytesDown() const { return 0; }

protected:
    HostNetwork() = default;
    HostNetwork(HostNetwork&&) noexcept = default;
};

}  // namespace matte
