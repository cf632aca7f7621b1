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
    runNetwork(how, stream);
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
    runStill(stream);
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

/// A live frame's run begins with the state that the frame before left, and waits for it.
void MattingPass::runNetwork(const Run& how, cudaStream_t stream) {
    if (!how.live) return runStill(stream);
    if (how.live->isRecurrent()) {
        how.live->passed().waitOn(stream);
        device::restoreState(how.live->recurrent(), input(), network_.size(), network_.state(), stream);
    }
    if (!how.layers) return network_.forward(stream);
    how.layers->start(stream, true);
    network_.forward(stream, [&](int layer) { how.layers->mark(layer, stream); });
}

/// Without a frame before it: a network with cells runs twice, from a state of zero and from the state that this gives.
void MattingPass::runStill(cudaStream_t stream) {
    if (unet().isRecurrent()) {
        network_.clearState(stream);
        network_.forward(stream);
    }
    network_.forward(stream);
}

/// The network's matte, judged, and without small regions and other people, filtered over time. Waits for the frame
/// before to be so. Keeps the recurrent state of a matte that is not refused.
const float* MattingPass::judgeAndFilter(const FrameMemory& frame,
                                         const Run& how,
                                         cudaStream_t stream,
                                         StageClock& stages) {
    const device::NonFiniteFlag nonFinite{frame.nonFinite(), how.nonFinite};
    const float* matte = network_.alpha();
    if (!how.live->isRecurrent()) how.live->passed().waitOn(stream);  // or its network has waited already
    device::guardMatte(matte, input(), how.live->guard(), nonFinite, stream);
    if (how.live->isRecurrent()) {
        device::keepState(how.live->recurrent(), network_.state(), nonFinite.onDevice, stream);
    }
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
