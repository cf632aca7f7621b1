// SPDX-License-Identifier: Apache-2.0
#include "inference/cpu/cpu_live.h"

#include <algorithm>
#include <atomic>

#include "inference/core/error.h"
#include "inference/core/parallel.h"
#include "inference/core/pixel_math.h"
#include "inference/core/vector_clones.h"
#include "inference/cpu/stage_timer.h"
#include "inference/matting/transfer.h"

namespace matte {
namespace {

constexpr std::size_t kStages = 12;  // at most

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

void CpuLive::drop() {
    components_.reset();
    temporal_.reset();
}

void CpuLive::reset() {
    drop();
    guard_ = {};
    before_.size = {};
}

const CpuLive::Shown& CpuLive::unused(Size size) {
    std::erase_if(shown_, [&](const Shown& shown) { return !(shown.image->size() == size); });
    for (const Shown& shown : shown_) {
        if (shown.picture.use_count() > 1 || shown.image.use_count() > 2) continue;  // the picture itself holds one
        std::atomic_thread_fence(std::memory_order_acquire);                         // what its last reader did is over
        return shown;
    }
    auto image = std::make_shared<Image>(size, PixelFormat::rgba8);
    shown_.push_back({image, std::make_shared<HostPicture>(image)});
    return shown_.back();
}

ImageView CpuLive::preprocess(const Image& frame, HostNetwork& network, Size input, StageTimes& times) {
    if (!(network.size() == input)) {
        const StageTimer timer(times, "prepare");
        network.configure(input);
    }
    const StageTimer timer(times, "preprocess");
    const ImageView source = rgba_.of(frame.view());
    toInput_.shrink(source, input, picture_);
    const auto mean = network.unet().mean(), deviation = network.unet().deviation();
    float* values = network.input();
    for (std::size_t i = 0; i < picture_.values.size(); i += 3) {
        for (std::size_t c = 0; c < 3; ++c) values[i + c] = (picture_.values[i + c] - mean[c]) / deviation[c];
    }
    return source;
}

void CpuLive::findMatte(HostNetwork& network, Size input, bool timeLayers, Output& output) {
    const StageTimer timer(output.times, "network");
    network.run({}, timeLayers ? &output.layerMs : nullptr);
    output.bytesUp = network.bytesUp();
    output.bytesDown = network.bytesDown();
    reshape(matte_, input, 1);
    std::copy_n(network.alpha(), matte_.values.size(), matte_.values.begin());
}

MatteFault CpuLive::judge() {
    const float change = changeTo(picture_, before_);
    const auto covered = std::ranges::count_if(matte_.values, [](float alpha) { return alpha > kSomebody; });
    return guard_.judge(allFinite(matte_.values), float(covered) / float(matte_.values.size()), change);
}

/// The component filter, then the temporal filter.
void CpuLive::filterMatte(const CompositeParams& params, bool usable, StageTimes& times) {
    if (!usable) {  // what is no matte must show nobody, now and later
        std::ranges::fill(matte_.values, 0.0F);
        components_.reset();
        temporal_.reset();
        return;
    }
    {
        const StageTimer timer(times, "component filter");
        components_.keep(params.removeSmallRegions, params.nearestOnly, matte_);
    }
    const StageTimer timer(times, "temporal filter");
    temporal_.apply(picture_, params.temporalSmoothing, matte_);
}

void CpuLive::refine(const ImageView& source, Size input, StageTimes& times) {
    {
        const StageTimer timer(times, "refine");
        const Size grid = shrunkTo(source.size, std::max(kLiveGuidedLongestSide, input.longest()));
        toGuide_.shrink(source, grid, guide_);
        reshape(guided_, grid, guided::kChannels);
        fitGuidedFilter(guide_, matte_, guided_, scratch_);
        evaluateAlpha(guide_, guided_, alpha_);
        lookUpLinear(guide_, linear_);
    }
    const StageTimer timer(times, "foreground");
    estimateColors(linear_, alpha_, guided_, scratch_);
}

/// What the background does to the coefficients: its blur, and its light on the person.
void CpuLive::light(const CompositeParams& params, const Image* plate, StageTimes& times) {
    const Background& background = params.background;
    if (background.kind == Background::Kind::blur) {
        const StageTimer timer(times, "blur");
        blurBackground(linear_, alpha_, blurSigma(background.blurStrength, guided_.size.longest()), guided_, scratch_);
    }
    if (params.lightWrap <= 0 || background.kind == Background::Kind::transparent) return;
    const StageTimer timer(times, "wrap");
    wrapLight(alpha_, wrapSource(params, plate), guided_, scratch_);
}

/// The background's picture in the frame. A video's comes anew as often as the video says, not with every frame.
const Image* CpuLive::plate(const Background& background, Size size, StageTimes& times) {
    if (background.kind != Background::Kind::image || !background.image) return nullptr;
    if (plate_.size() == size && plateFor_ == background) return &plate_;
    const StageTimer timer(times, "plate");
    if (!(plate_.size() == size)) plate_ = Image(size, PixelFormat::rgba8);
    layer_.lay(background.image->view(), background.placement, background.color, plate_, background.position);
    plateFor_ = background;
    return &plate_;
}

Output CpuLive::run(
    const Frame& frame, const CompositeParams& params, HostNetwork& network, Size input, bool timeLayers) {
    if (frame.image->format() == PixelFormat::gray8) {
        throw Error(ErrorCategory::input,
                    "A frame without colour can't be cut out: choose another format of the camera.");
    }
    Output output;
    output.times.reserve(kStages);
    output.frame = frame.number;
    output.captured = frame.captured;
    const ImageView source = preprocess(*frame.image, network, input, output.times);
    findMatte(network, input, timeLayers, output);
    output.matteFault = judge();
    filterMatte(params, output.matteUsable(), output.times);
    refine(source, input, output.times);
    const Image* behind = plate(params.background, source.size, output.times);
    light(params, behind, output.times);
    const Shown& shown = unused(source.size);
    const StageTimer timer(output.times, "composite");
    compositor_.over(source, guided_, params, behind, {}, *shown.image);
    output.picture = shown.picture;
    return output;
}

}  // namespace matte
