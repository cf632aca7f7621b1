// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/matting_pass.h"

#include "inference/cuda/pixels/component_filter.h"
#include "inference/matting/guided_filter.h"

namespace matte {
namespace {

/// Memory for filtering a matte of one size.
struct FilterScratch : Partitioned<FilterScratch> {
    device::ComponentScratch components;
    device::TemporalScratch temporal;
    float* matte;
    FilterScratch(Partition& parts, Size size)
        : components(parts, size), temporal(parts, size), matte(parts.take<float>(size.pixels())) {}
};

}  // namespace

MattingPass::MattingPass(std::shared_ptr<const CudaWeights> weights, CudaNetwork::Choose choose)
    : weights_(weights), network_(std::move(weights), std::move(choose)) {}

void MattingPass::prepare(Size picture, Size input, bool filtered) {
    const Size grid = shrunkTo(picture, kGuidedLongestSide);
    bool changed = !(network_.size() == input);
    if (changed) ++version_;  // before, because what comes may fail halfway
    network_.configure(input);
    changed = toInput_.change(picture, input) || changed;
    changed = toGrid_.change(picture, grid) || changed;
    changed = fromInput_.change(input, grid) || changed;
    enlarge(scratch_, device::Scratch::bytes(grid));
    if (filtered) enlarge(filtering_, FilterScratch::bytes(input));
    if (changed) ++version_;
}

void MattingPass::run(const FrameMemory& frame, const Run& how, cudaStream_t stream, StageClock& stages) {
    follow(side_.get(), stream, forked_);
    device::shrinkToGuide(frame.picture(), toGrid_, scratchFor(frame.guided().size).guide, side_.get());

    CUDA_CHECK(cudaMemsetAsync(frame.nonFinite(), 0, sizeof(int), stream));
    device::shrinkToInput(frame.picture(), toInput_, input(), stream);
    stages.mark(Stage::preprocess, stream);
    runNetwork(how.layers, stream);
    stages.mark(Stage::network, stream);
    const float* matte = network_.alpha();
    if (how.live) matte = judgeAndFilter(frame, how, stream, stages);

    follow(stream, side_.get(), joined_);
    fillGuided(frame, matte, fromInput_, how.nonFinite, stream, stages);
}

device::NetworkInput MattingPass::input() const {
    return {network_.input(), weights_->kernel() == ConvKernel::fp32, unet().mean(), unet().deviation()};
}

/// From a matte in device memory; the guide lies in the scratch memory.
void MattingPass::fillGuided(const FrameMemory& frame,
                             const float* matte,
                             const device::Resampling& toGrid,
                             int* nonFinite,
                             cudaStream_t stream,
                             StageClock& stages) {
    const device::GuidedCoefficients& guided = frame.guided();
    const device::Scratch scratch = scratchFor(guided.size);
    device::resampleMatte(matte, toGrid, {frame.nonFinite(), nonFinite}, scratch.target, stream);
    device::fitGuidedFilter(guided, scratch, guidedRadius(guided.size.longest(), toGrid.from().longest()), stream);
    stages.mark(Stage::refine, stream);
    device::estimateColors(guided, scratch, stream);
    stages.mark(Stage::foreground, stream);
}

Planes MattingPass::matte(cudaStream_t stream) const {
    Planes matte(network_.size(), 1);
    CUDA_CHECK(cudaMemcpyAsync(matte.values.data(), network_.alpha(), matte.values.size() * sizeof(float),
                               cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    return matte;
}

Planes MattingPass::networkMatte(const device::Source& part, Size size, cudaStream_t stream) {
    if (!(network_.size() == size)) ++version_;  // before, because what comes may fail halfway
    network_.configure(size);
    const device::Resampling toInput(part.size, size);
    device::shrinkToInput(part, toInput, input(), stream);
    network_.forward(stream);
    return matte(stream);
}

void MattingPass::refine(const FrameMemory& frame, const Planes& matte, cudaStream_t stream) {
    const device::Resampling toGrid(matte.size, frame.guided().size);
    const DeviceBuffer values(matte.values.size() * sizeof(float));
    CUDA_CHECK(cudaMemcpy(values.data(), matte.values.data(), values.bytes(), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));
    StageClock untimed;
    fillGuided(frame, values.as<float>(), toGrid, nullptr, stream, untimed);
    CUDA_CHECK(cudaStreamSynchronize(stream));
}

void MattingPass::runNetwork(LayerClock* layers, cudaStream_t stream) {
    if (!layers) return network_.forward(stream);
    layers->start(stream, true);
    network_.forward(stream, [&](int layer) { layers->mark(layer, stream); });
}

/// The network's matte, judged, and without small regions and other people, filtered over time. Waits for the frame
/// before to be so.
const float* MattingPass::judgeAndFilter(const FrameMemory& frame,
                                         const Run& how,
                                         cudaStream_t stream,
                                         StageClock& stages) {
    const device::NonFiniteFlag nonFinite{frame.nonFinite(), how.nonFinite};
    const float* matte = network_.alpha();
    how.live->passed().waitOn(stream);
    device::guardMatte(matte, input(), how.live->guard(), nonFinite, stream);
    if (how.filtered) {
        const Size size = network_.size();
        const auto scratch = FilterScratch::in(filtering_.data(), size);
        const device::TemporalMemory& memory = how.live->temporal();
        device::keepComponents(matte, size, how.params, nonFinite, memory.kept, scratch.components, scratch.matte,
                               stream);
        stages.mark(Stage::componentFilter, stream);
        device::applyTemporalFilter(scratch.matte, input(), how.params, frame.nonFinite(), memory, scratch.temporal,
                                    scratch.matte, stream);
        stages.mark(Stage::temporalFilter, stream);
        matte = scratch.matte;
    }
    how.live->passed().record(stream);
    return matte;
}

void MattingPass::blur(const device::GuidedCoefficients& guided, const ResolvedParams* params, cudaStream_t stream) {
    device::blurBackground(guided, scratchFor(guided.size), params, stream);
}

void MattingPass::wrap(const device::GuidedCoefficients& guided,
                       const ResolvedParams* params,
                       const std::uint8_t* plate,
                       Size size,
                       cudaStream_t stream) {
    device::wrapLight(guided, scratchFor(guided.size), params, plate, size, stream);
}

device::Scratch MattingPass::scratchFor(Size grid) {
    enlarge(scratch_, device::Scratch::bytes(grid));
    return device::Scratch::in(scratch_.data(), grid);
}

void MattingPass::enlarge(DeviceBuffer& buffer, std::size_t bytes) {
    if (buffer.bytes() >= bytes) return;
    ++version_;
    buffer.reallocate(bytes);
}

}  // namespace matte
