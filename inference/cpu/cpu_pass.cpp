// SPDX-License-Identifier: Apache-2.0
#include "inference/cpu/cpu_pass.h"

#include <algorithm>
#include <atomic>

#include "inference/core/parallel.h"
#include "inference/core/pixel_math.h"
#include "inference/core/vector_clones.h"

namespace matte {
namespace {

/// How far `count` values of `now` are from those before, which become them.
MATTE_VECTOR_CLONES unsigned long long moveRows(const float* now, float* before, std::ptrdiff_t count) {
    unsigned long long sum = 0;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        sum += MatteGuard::steps(now[i] - before[i]);
        before[i] = now[i];
    }
    return sum;
}

/// The mean absolute difference of `now` from `before`, which becomes it; 0 where that is of another size.
float changeTo(const Planes& now, Planes& before) {
    if (!(before.size == now.size)) {
        before = now;
        return 0;
    }
    std::atomic<unsigned long long> sum = 0;
    parallelFor(now.size.height, [&](int first, int last, int) {
        sum +=
            moveRows(now.row(first), before.row(first), std::ptrdiff_t(last - first) * now.size.width * now.channels);
    });
    return MatteGuard::meanOf(sum, now.values.size());
}

}  // namespace

Planes& CpuPass::networkMatte(const ImageView& source,
                              Size input,
                              const std::stop_token& stop,
                              Output& output,
                              CpuLiveMemory* live,
                              bool timeLayers) {
    if (!(network_.size() == input)) {
        const StageTimer timer(output.times, Stage::prepare);
        network_.configure(input);
    }
    {
        const StageTimer timer(output.times, Stage::preprocess);
        toInput_.shrink(source, input, input_);
        network_.setInput(input_);
    }
    const StageTimer timer(output.times, Stage::network);
    std::vector<float>* layerMs = timeLayers ? &output.layerMs : nullptr;
    if (live && network_.unet().isRecurrent()) {
        live->restoreState(input_, network_.state());
        network_.run(stop, layerMs);
        live->keepState(network_.state());
    } else {
        network_.runStill(stop, layerMs);
    }
    output.bytesUp = network_.bytesUp();
    output.bytesDown = network_.bytesDown();
    network_.readMatte(matte_);
    return matte_;
}

void CpuPass::refine(const ImageView& source,
                     const Planes& matte,
                     Size grid,
                     const std::stop_token& stop,
                     CpuFrame& frame,
                     StageTimes& times) {
    {
        const StageTimer timer(times, Stage::refine);
        toGrid_.shrink(source, grid, guide_);
        reshape(frame.guided, grid, guided::kChannels);
        fitGuidedFilter(guide_, matte, frame.guided, scratch_);
        evaluateAlpha(guide_, frame.guided, frame.alpha);
        toLinear(guide_, frame.linear);
    }
    stopIfAsked(stop);
    const StageTimer timer(times, Stage::foreground);
    estimateColors(frame.linear, frame.alpha, frame.guided, scratch_);
    frame.blurredRadius = 0;
}

/// The background picture fitted to the frame. A video's changes at the video's rate, not with every frame.
const Image* CpuPass::plate(const Background& background, Size size, StageTimes& times) {
    if (plate_.size() == size && plateFor_ == background) return &plate_;
    const StageTimer timer(times, Stage::plate);
    if (!(plate_.size() == size)) plate_ = Image(size, PixelFormat::rgba8);
    layer_.lay(background.image->view(), background.placement, background.color, plate_, background.position);
    plateFor_ = background;
    return &plate_;
}

void CpuPass::composite(const ImageView& source,
                        CpuFrame& frame,
                        const CompositeParams& params,
                        const std::stop_token& stop,
                        Image& out,
                        StageTimes& times) {
    const ResolvedParams resolved = resolve(params, frame.guided.size);
    const bool isPicture = resolved.kind == Background::Kind::image;
    const Image* behind = isPicture ? plate(params.background, source.size, times) : nullptr;
    if (resolved.isBlurred() && frame.blurredRadius != resolved.blurRadius) {
        const StageTimer timer(times, Stage::blur);
        blurBackground(frame.linear, frame.alpha, resolved.blurRadius, frame.guided, scratch_);
        frame.blurredRadius = resolved.blurRadius;
    }
    if (resolved.isLit()) {
        const StageTimer timer(times, Stage::lightWrap);
        wrapLight(frame.alpha, resolved, behind, frame.guided, scratch_);
    }
    stopIfAsked(stop);
    const StageTimer timer(times, Stage::composite);
    compositor_.over(source, frame.guided, resolved, behind, stop, out);
}

void CpuPass::matte(const ImageView& source,
                    const CpuFrame& frame,
                    const CompositeParams& params,
                    const std::stop_token& stop,
                    Image& out) {
    compositor_.matte(source, frame.guided, resolve(params, frame.guided.size).edge, stop, out);
}

void CpuLiveMemory::restoreState(const Planes& input, std::span<float> state) {
    const bool cut = cut_.judge(lumaGrid(input));
    if (cut || !(stateFor_ == input.size)) state_.clear();
    stateFor_ = input.size;
    if (state_.empty()) {
        std::ranges::fill(state, 0.0F);
    } else {
        std::ranges::copy(state_, state.begin());
    }
}

MatteFault CpuLiveMemory::judge(const Planes& input, Planes& matte) {
    const float change = changeTo(input, before_);
    const auto covered = std::ranges::count_if(matte.values, [](float alpha) { return alpha > kSomebody; });
    const MatteFault fault = guard_.judge(allFinite(matte.values), float(covered) / float(matte.values.size()), change);
    if (fault != MatteFault::none) {  // show nobody, and keep the faulty matte out of the history
        std::ranges::fill(matte.values, 0.0F);
        drop();
    }
    return fault;
}

void CpuLiveMemory::filter(const Planes& input, const ResolvedParams& params, Planes& matte, StageTimes& times) {
    if (!params.isFiltered()) return dropMattes();
    {
        const StageTimer timer(times, Stage::componentFilter);
        components_.keep(params.removeSmallRegions, params.nearestOnly, matte);
    }
    const StageTimer timer(times, Stage::temporalFilter);
    temporal_.apply(input, params.temporalSmoothing, matte);
}

void CpuLiveMemory::drop() {
    state_.clear();
    dropMattes();
}

void CpuLiveMemory::dropMattes() {
    components_.reset();
    temporal_.reset();
}

void CpuLiveMemory::reset() {
    drop();
    cut_ = {};
    guard_ = {};
    before_.size = {};
}

}  // namespace matte
