// SPDX-License-Identifier: Apache-2.0
// The driver of the networks that are made of layers, and the blocks that are made of three. Walks the network's table,
// keeps every tensor, and copies between host and device once, or around each step. One thread at a time.

#include <atomic>
#include <cstring>

#include "inference/baselines/baselines.h"
#include "inference/baselines/memory.h"
#include "inference/core/error.h"
#include "inference/core/stopwatch.h"
#include "inference/model/layer_cost.h"

namespace matte::baselines {
namespace {

/// One step of the plan: a layer between two tensors, for a block of the network.
struct Step {
    std::unique_ptr<Layer> layer;
    std::size_t in = 0, inFloats = 0, out = 0, outFloats = 0;
    std::size_t block = 0;  ///< index into the report's transfers
    std::size_t row = 0;    ///< index into UNet::layers(): addition and pooling belong to the convolution before them
    double share = 0;       ///< of the network's arithmetic
};

class LayeredNetwork final : public NetworkImplementation {
public:
    LayeredNetwork(ModelPointer model, Where where, MakeBlock block, const PlainLayers& layers, bool resident)
        : model_(std::move(model)), where_(where), block_(block), layers_(layers), resident_(resident) {}

    void configure(Size size) override {
        if (size == size_ && memory_) return;
        steps_.clear();
        memory_.reset();  // the old one first: both may not fit
        memory_ = makeMemory(where_);
        size_ = size;
        place();
        values_ = memory_->allocate(floats_);
        if (!resident_) host_ = std::make_unique_for_overwrite<float[]>(floats_);
        plan();
    }

    RunReport run(std::span<const float> input, std::span<float> alpha) override {
        const Stopwatch whole;
        RunReport report;
        begun_ = 0;
        report.transfers = blocks_;
        if (timeLayers_) report.layerMs.assign(model_->unet.layers().size(), 0.0F);
        const std::size_t pixels = size_.pixels();
        planar_.resize(3 * pixels);
        for (std::size_t i = 0; i < 3 * pixels; ++i) planar_[i % 3 * pixels + i / 3] = input[i];
        if (resident_) {
            report.bytesUp = planar_.size() * sizeof(float);
            report.bytesDown = pixels * sizeof(float);
            memory_->upload(values_ + offsets_.front(), planar_.data(), planar_.size());
            if (!report.transfers.empty()) ++report.transfers.front().in;
            if (timeLayers_) {  // no clock runs within another
                for (const Step& step : steps_) {
                    const double ms = memory_->time([&] { runOn(step); });
                    report.layerMs[step.row] += float(ms);
                    report.computeMs += ms;
                }
            } else {
                report.computeMs = memory_->time([&] {
                    for (const Step& step : steps_) runOn(step);
                });
            }
            memory_->download(alpha.data(), values_ + offsets_.back(), pixels);
        } else {
            std::memcpy(host_.get() + offsets_.front(), planar_.data(), planar_.size() * sizeof(float));
            const Stopwatch computing;
            for (const Step& step : steps_) {
                const Stopwatch one;
                runCopying(step, report);
                if (timeLayers_) report.layerMs[step.row] += float(one.ms());
            }
            report.computeMs = computing.ms();
            std::memcpy(alpha.data(), host_.get() + offsets_.back(), pixels * sizeof(float));
        }
        report.ms = whole.ms();
        if (where_ == Where::cpu) report.bytesUp = report.bytesDown = 0;  // its copies stay on the host
        return report;
    }

    [[nodiscard]] std::vector<float> activation(int index) const override {
        const Shape shape = shapeOf(index);
        std::vector<float> planar(shape.floats()), values(planar.size());
        memory_->download(planar.data(), values_ + offsets_[std::size_t(index)], planar.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::size_t channels = std::size_t(shape.channels);
            values[i] = planar[i % channels * shape.pixels() + i / channels];
        }
        return values;
    }

    [[nodiscard]] double begun() const override { return begun_; }

private:
    [[nodiscard]] Shape shapeOf(int index) const {
        const Tensor& tensor = model_->unet.tensors()[std::size_t(index)];
        return {1, tensor.channels, size_.height >> tensor.level, size_.width >> tensor.level};
    }

    /// Every tensor has its own place, and the two inputs of a decoder lie side by side, the skip first: with the
    /// channels outermost, that is their concatenation.
    void place() {
        const std::size_t count = model_->unet.tensors().size();
        std::vector<int> second(count, kNoTensor);
        std::vector<bool> placed(count, false);
        for (const Conv& layer : model_->unet.layers()) {
            if (layer.in1 != kNoTensor) second[std::size_t(layer.in0)] = layer.in1;
        }
        offsets_.assign(count, 0);
        floats_ = 0;
        const auto put = [&](int tensor) {
            offsets_[std::size_t(tensor)] = floats_;
            floats_ += shapeOf(tensor).floats();
            placed[std::size_t(tensor)] = true;
        };
        for (int i = 0; i < int(count); ++i) {
            if (placed[std::size_t(i)]) continue;
            put(i);
            if (second[std::size_t(i)] != kNoTensor) put(second[std::size_t(i)]);
            floats_ = (floats_ + 63) / 64 * 64;
        }
    }

    /// The layer of row `row` alone, without addition and pooling.
    [[nodiscard]] std::unique_ptr<Layer> makeLayer(std::size_t row, const Shape& in) const {
        const Conv& layer = model_->unet.layers()[row];
        if (isBlock(layer)) return block_(model_->blocks[row], in);
        if (layer.kind == ConvKind::up2x2) return layers_.upConv(layer.filter, in);
        if (layer.kind == ConvKind::head1x1) return layers_.head(layer.filter, in);
        return layers_.bottleneck.conv(layer, in);
    }

    void plan() {
        blocks_.clear();
        const auto enterBlock = [&](const std::string& name) {
            if (blocks_.empty() || blocks_.back().block != name) blocks_.push_back({name, 0, 0});
        };
        std::size_t i = 0;
        const auto add = [&](std::unique_ptr<Layer> layer, int in, std::size_t inFloats, int out) {
            steps_.push_back({std::move(layer), offsets_[std::size_t(in)], inFloats, offsets_[std::size_t(out)],
                              shapeOf(out).floats(), blocks_.size() - 1, i});
        };
        for (; i < model_->blocks.size(); ++i) {
            const Conv& layer = model_->unet.layers()[i];
            enterBlock(layer.name.substr(0, layer.name.find('.')));
            Shape in = shapeOf(layer.in0);
            if (layer.in1 != kNoTensor) in.channels += shapeOf(layer.in1).channels;
            add(makeLayer(i, in), layer.in0, in.floats(), layer.out);
            const Shape out = shapeOf(layer.out);
            if (layer.added != kNoTensor) add(layers_.bottleneck.add(out), layer.added, out.floats(), layer.out);
            if (layer.pooled == kNoTensor) continue;
            // The pooling belongs to the block that it feeds, as in the course's table.
            const std::string& next = model_->unet.layers()[i + 1].name;
            enterBlock(next.substr(0, next.find('.')));
            add(layers_.maxPool(out), layer.out, out.floats(), layer.pooled);
        }
        if (where_ == Where::cpu) blocks_.clear();
        for (std::size_t at = 0; at < steps_.size(); ++at) {
            if (at > 0 && steps_[at - 1].row == steps_[at].row) continue;  // addition, pooling
            const Conv& layer = model_->unet.layers()[steps_[at].row];
            steps_[at].share = layerFlops(model_->unet, layer, size_) / model_->unet.flops(size_);
        }
    }

    void runOn(const Step& step) {
        stopIfAsked(stop_);
        begun_ = begun_ + step.share;
        for (int i = 0; i < step.layer->steps(); ++i) {
            step.layer->run(i, values_ + step.in, values_ + step.out, memory_->stream());
        }
    }

    void runCopying(const Step& step, RunReport& report) {
        BlockTransfers& transfers = report.transfers[step.block];
        for (int i = 0; i < step.layer->steps(); ++i) {
            const std::size_t in = i == 0 ? step.in : step.out, floats = i == 0 ? step.inFloats : step.outFloats;
            memory_->upload(values_ + in, host_.get() + in, floats);
            step.layer->run(i, values_ + in, values_ + step.out, memory_->stream());
            memory_->download(host_.get() + step.out, values_ + step.out, step.outFloats);
            ++transfers.in;
            ++transfers.out;
            report.bytesUp += floats * sizeof(float);
            report.bytesDown += step.outFloats * sizeof(float);
        }
    }

    ModelPointer model_;
    Where where_;
    MakeBlock block_;
    PlainLayers layers_;
    bool resident_;
    Size size_{};
    std::unique_ptr<Memory> memory_;
    std::vector<std::size_t> offsets_;  ///< of each tensor in values_, in floats
    std::size_t floats_ = 0;
    float* values_ = nullptr;
    std::unique_ptr<float[]> host_;  ///< the same tensors, for an implementation that copies around each step
    std::vector<float> planar_;
    std::vector<Step> steps_;
    std::vector<BlockTransfers> blocks_;
    std::atomic<double> begun_ = 0;
};

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

std::unique_ptr<NetworkImplementation> makeLayeredNetwork(
    const ModelPointer& model, Where where, MakeBlock block, const PlainLayers& layers, bool resident) {
    return std::make_unique<LayeredNetwork>(model, where, block, layers, resident);
}

std::unique_ptr<Layer> makeSeparate(std::unique_ptr<Layer> conv,
                                    const PlainLayers& layers,
                                    const Block& block,
                                    const Shape& in) {
    return std::make_unique<Separate>(std::move(conv), layers, block, in);
}

}  // namespace matte::baselines
