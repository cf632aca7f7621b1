// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/matting_pass.h"

#include "inference/cuda/pixels/people.h"
#include "inference/matting/refine.h"

namespace matte {
namespace {

/// Makes `resampling` that from one size to another; whether it was not that before.
bool change(device::Resampling& resampling, Size from, Size to) {
    if (resampling.from() == from && resampling.to() == to) return false;
    resampling = device::Resampling(from, to);
    return true;
}

/// Memory for tending a matte of one size.
struct TendingScratch {
    device::PeopleScratch people;
    device::SteadyScratch steady;
    float* matte = nullptr;

    static std::size_t bytes(Size size) {
        return device::PeopleScratch::bytes(size) + device::SteadyScratch::bytes(size) + size.pixels() * sizeof(float);
    }
    TendingScratch(std::byte* memory, Size size)
        : people(device::PeopleScratch::in(memory, size)),
          steady(device::SteadyScratch::in(memory + device::PeopleScratch::bytes(size), size)),
          matte(reinterpret_cast<float*>(memory + device::PeopleScratch::bytes(size) +
                                         device::SteadyScratch::bytes(size))) {}
};

}  // namespace

MattingPass::MattingPass(std::shared_ptr<const CudaWeights> weights, CudaNetwork::Choose choose)
    : weights_(weights), network_(std::move(weights), std::move(choose)) {}

void MattingPass::prepare(Size picture, Size input, bool tended) {
    const Size grid = shrunkTo(picture, kFieldLongestSide);
    bool changed = !(network_.size() == input);
    if (changed) ++version_;  // before, because what comes may fail halfway
    network_.configure(input);
    changed = change(toInput_, picture, input) || changed;
    changed = change(toGrid_, picture, grid) || changed;
    changed = change(fromInput_, input, grid) || changed;
    enlarge(scratch_, device::Scratch::bytes(grid));
    if (tended) enlarge(tending_, TendingScratch::bytes(input));
    if (!changed) return;
    ++version_;
    // The weights were copied by the default stream, for which no other waits.
    CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));
}

void MattingPass::run(const FrameMemory& frame, const Run& how, cudaStream_t stream, StageClock& stages) {
    follow(side_.get(), stream, forked_);
    device::shrinkToGuide(frame.picture(), toGrid_, scratchFor(frame.fields().size).guide, side_.get());

    CUDA_CHECK(cudaMemsetAsync(frame.alarm(), 0, sizeof(int), stream));
    shrinkToInput(frame.picture(), toInput_, stream);
    stages.mark("preprocess", stream);
    runNetwork(how.layers, stream);
    stages.mark("network", stream);
    const float* matte = network_.alpha();
    if (how.live) matte = judgeAndTend(frame, how, stream);
    if (how.tended) stages.mark("steady", stream);

    follow(stream, side_.get(), joined_);
    fillFields(frame, matte, fromInput_, how.alarm, stream, stages);
}

void MattingPass::shrinkToInput(const device::Source& source,
                                const device::Resampling& resampling,
                                cudaStream_t stream) {
    const UNet& unet = weights_->unet();
    device::shrinkToInput(source, resampling, unet.mean(), unet.deviation(), network_.input(),
                          weights_->kernel() == ConvKernel::fp32, stream);
}

/// From a matte in device memory; the guide lies in the scratch memory.
void MattingPass::fillFields(const FrameMemory& frame,
                             const float* matte,
                             const device::Resampling& toGrid,
                             int* alarm,
                             cudaStream_t stream,
                             StageClock& stages) {
    const device::Fields& fields = frame.fields();
    const device::Scratch scratch = scratchFor(fields.size);
    device::resampleMatte(matte, toGrid, {frame.alarm(), alarm}, scratch.target, stream);
    device::fitGuidedFilter(fields, scratch, guidedRadius(fields.size.longest(), toGrid.from().longest()), stream);
    stages.mark("refine", stream);
    device::estimateColors(fields, scratch, stream);
    stages.mark("foreground", stream);
}

Planes MattingPass::matte(cudaStream_t stream) const {
    Planes matte(network_.size(), 1);
    CUDA_CHECK(cudaMemcpyAsync(matte.values.data(), network_.alpha(), matte.values.size() * sizeof(float),
                               cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    return matte;
}

Planes MattingPass::lookAt(const device::Source& part, Size input, cudaStream_t stream) {
    if (!(network_.size() == input)) ++version_;  // before, because what comes may fail halfway
    network_.configure(input);
    const device::Resampling toInput(part.size, input);
    // The weights were copied by the default stream, for which no other waits.
    CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));
    shrinkToInput(part, toInput, stream);
    network_.forward(stream);
    return matte(stream);
}

void MattingPass::refine(const FrameMemory& frame, const Planes& matte, cudaStream_t stream) {
    const device::Resampling toGrid(matte.size, frame.fields().size);
    const DeviceBuffer values(matte.values.size() * sizeof(float));
    CUDA_CHECK(cudaMemcpy(values.data(), matte.values.data(), values.bytes(), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));
    StageClock untimed;
    fillFields(frame, values.as<float>(), toGrid, nullptr, stream, untimed);
    CUDA_CHECK(cudaStreamSynchronize(stream));
}

void MattingPass::runNetwork(StageClock* layers, cudaStream_t stream) {
    if (!layers) return network_.forward(stream);
    layers->start(stream, true);
    network_.forward(stream,
                     [&](int layer) { layers->mark(weights_->unet().layers()[std::size_t(layer)].name, stream); });
}

/// The network's matte, judged, and without specks and other people, held steady. Waits for the frame before to be so.
const float* MattingPass::judgeAndTend(const FrameMemory& frame, const Run& how, cudaStream_t stream) {
    const UNet& unet = weights_->unet();
    const bool inFloats = weights_->kernel() == ConvKernel::fp32;
    const device::MatteAlarm alarm{frame.alarm(), how.alarm};
    const float* matte = network_.alpha();
    how.live->passed().holdUp(stream);
    device::guardMatte(matte, network_.input(), inFloats, unet.mean(), unet.deviation(), how.live->guard(), alarm,
                       stream);
    if (how.tended) {
        const Size size = network_.size();
        const TendingScratch scratch(tending_.data(), size);
        const device::SteadyMemory& memory = how.live->steady();
        device::keepPeople(matte, size, how.look, alarm, memory.kept, scratch.people, scratch.matte, stream);
        device::steady(scratch.matte, network_.input(), inFloats, unet.mean(), unet.deviation(), how.look,
                       frame.alarm(), memory, scratch.steady, scratch.matte, stream);
        matte = scratch.matte;
    }
    how.live->passed().record(stream);
    return matte;
}

void MattingPass::blur(const device::Fields& fields, const device::LookBlock* look, cudaStream_t stream) {
    device::blurBackground(fields, scratchFor(fields.size), look, stream);
}

void MattingPass::wrap(const device::Fields& fields,
                       const device::LookBlock* look,
                       const std::uint8_t* plate,
                       Size size,
                       cudaStream_t stream) {
    device::wrapLight(fields, scratchFor(fields.size), look, plate, size, stream);
}

device::Scratch MattingPass::scratchFor(Size grid) {
    enlarge(scratch_, device::Scratch::bytes(grid));
    return device::Scratch::in(scratch_.data(), grid);
}

void MattingPass::enlarge(DeviceBuffer& buffer, std::size_t bytes) {
    if (buffer.bytes() >= bytes) return;
    ++version_;
    buffer = DeviceBuffer();  // the old one first: both may not fit
    buffer = DeviceBuffer(bytes);
}

}  // namespace matte
