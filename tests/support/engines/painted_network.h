// SPDX-License-Identifier: Apache-2.0
// A network whose matte the test says. One thread at a time.
//
//     CpuEngine engine(std::make_unique<PaintedNetwork>([](const Planes&, Planes& matte) { … }), {}, "");
#pragma once

#include <functional>

#include "inference/cpu/host_network.h"
#include "tests/support/files/model_file.h"

namespace matte::test {

class PaintedNetwork final : public HostNetwork {
public:
    /// From the network's input [h, w, 3] to alpha [h, w, 1].
    using Paint = std::function<void(const Planes& input, Planes& alpha)>;
    explicit PaintedNetwork(Paint paint, const Metadata& metadata = {})
        : unet_(tinyNetwork(metadata)), paint_(std::move(paint)) {}

    [[nodiscard]] const UNet& unet() const override { return unet_; }
    void configure(Size size) override {
        if (size == input_.size) return;
        input_ = Planes(size, 3);
        alpha_ = Planes(size, 1);
    }
    [[nodiscard]] Size size() const override { return input_.size; }
    [[nodiscard]] float* input() override { return input_.values.data(); }
    [[nodiscard]] const float* alpha() const override { return alpha_.values.data(); }
    void run(std::stop_token, std::vector<float>*) override { paint_(input_, alpha_); }
    [[nodiscard]] std::string name() const override { return "painted"; }
    [[nodiscard]] std::string implementation(int) const override { return "painted"; }
    [[nodiscard]] int valueBytes() const override { return 4; }

private:
    UNet unet_;
    Paint paint_;
    Planes input_, alpha_;
};

}  // namespace matte::test
