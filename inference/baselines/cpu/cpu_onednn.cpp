// SPDX-License-Identifier: Apache-2.0
// Baseline 4 of the CPU: oneDNN, by the product's own CpuNetwork: blocked layouts, kernels written at run time for this
// processor, bias and ReLU fused. Whole networks only.
#include <algorithm>

#include "inference/baselines/baselines.h"
#include "inference/core/stopwatch.h"
#include "inference/cpu/cpu_network.h"

namespace matte::baselines {
namespace {

class OneDnn final : public NetworkImplementation {
public:
    explicit OneDnn(const ModelPointer& model) : network_(model->unet, CpuPrecision::f32) {}

    void configure(Size size) override { network_.configure(size); }
    RunReport run(std::span<const float> input, std::span<float> alpha) override {
        const Stopwatch watch;
        std::ranges::copy(input, network_.input());
        RunReport report;
        network_.run(stop_, timeLayers_ ? &report.layerMs : nullptr);
        std::copy_n(network_.alpha(), alpha.size(), alpha.begin());
        report.ms = report.computeMs = watch.ms();
        return report;
    }
    [[nodiscard]] std::vector<float> activation(int index) const override { return network_.activation(index); }

private:
    CpuNetwork network_;
};

}  // namespace

std::unique_ptr<NetworkImplementation> makeOneDnn(const ModelPointer& model) {
    return std::make_unique<OneDnn>(model);
}

std::string whyNoOneDnn() {
    return {};
}

}  // namespace matte::baselines
