// SPDX-License-Identifier: Apache-2.0
// Convolution, batch norm and ReLU one after the other, each a layer of its own: how the first baselines run a block.
#include "inference/baselines/baselines.h"

namespace matte::baselines {
namespace {

class Separate final : public Layer {
public:
    Separate(std::unique_ptr<Layer> conv, const PlainLayers& layers, const Block& block, const Shape& in) {
        const Shape out{in.batch, block.filter.outChannels, in.height, in.width};
        layers_.push_back(std::move(conv));
        if (block.norm) layers_.push_back(layers.batchNorm(*block.norm, out));
        if (block.relu) layers_.push_back(layers.relu(out));
    }
    [[nodiscard]] int steps() const override { return int(layers_.size()); }
    void run(int step, const float* in, float* out, StreamHandle stream) override {
        layers_[std::size_t(step)]->run(0, step == 0 ? in : out, out, stream);
    }

private:
    std::vector<std::unique_ptr<Layer>> layers_;
};

}  // namespace

std::unique_ptr<Layer> makeSeparate(std::unique_ptr<Layer> conv,
                                    const PlainLayers& layers,
                                    const Block& block,
                                    const Shape& in) {
    return std::make_unique<Separate>(std::move(conv), layers, block, in);
}

}  // namespace matte::baselines
