// SPDX-License-Identifier: Apache-2.0
// A recurrent network whose state counts its runs: a test sees which state each run began with. One thread at a time.
//
//     NetworkRuns runs;
//     CpuEngine engine(std::make_unique<CountingNetwork>(runs), {}, "");
#pragma once

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "inference/cpu/host_network.h"
#include "tests/support/files/model_file.h"

namespace matte::test {

/// What the test sees of a network's runs: how many the state that each began with had been through.
struct NetworkRuns {
    std::vector<float> before;
    bool fails = false;  ///< the next mattes are not finite
};

/// A network whose state counts its runs; it finds a person in the middle.
class CountingNetwork final : public HostNetwork {
public:
    explicit CountingNetwork(NetworkRuns& runs) : runs_(runs) {}
    [[nodiscard]] const UNet& unet() const override { return unet_; }
    void configure(Size size) override {
        if (size == input_.size) return;
        input_ = Planes(size, 3);
        alpha_ = Planes(size, 1);
        state_.assign(size.pixels(), 0.0F);
    }
    [[nodiscard]] Size size() const override { return input_.size; }
    [[nodiscard]] float* input() override { return input_.values.data(); }
    [[nodiscard]] const float* alpha() const override { return alpha_.values.data(); }
    [[nodiscard]] std::span<float> state() override { return state_; }
    void run(std::stop_token, std::vector<float>*) override {
        EXPECT_EQ(std::ranges::count(state_, state_.front()), std::ptrdiff_t(state_.size())) << "a state in part";
        runs_.before.push_back(state_.front());
        for (float& value : state_) value += 1;
        const float nan = std::numeric_limits<float>::quiet_NaN();
        const auto [width, height] = alpha_.size;
        for (int y = 0; y < height; ++y) {
            for (int x = 0; x < width; ++x) {
                const bool inside = std::abs(x - width / 2) < width / 8 && std::abs(y - height / 2) < height / 8;
                alpha_.row(y)[x] = runs_.fails ? nan : inside ? 1.0F : 0.0F;
            }
        }
    }
    [[nodiscard]] std::string name() const override { return "counting"; }
    [[nodiscard]] std::string implementation(int) const override { return "counting"; }
    [[nodiscard]] int valueBytes() const override { return 4; }

private:
    NetworkRuns& runs_;
    UNet unet_ = tinyRecurrentNetwork();
    Planes input_, alpha_;
    std::vector<float> state_;
};

}  // namespace matte::test
