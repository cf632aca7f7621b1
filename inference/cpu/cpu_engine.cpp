// SPDX-License-Identifier: Apache-2.0
#include "inference/cpu/cpu_engine.h"

#include <algorithm>
#include <new>
#include <utility>

#include "inference/core/error.h"
#include "inference/core/parallel.h"
#include "inference/core/pixel_math.h"
#include "inference/cpu/stage_timer.h"
#include "inference/engine/self_test.h"
#include "inference/matting/composite.h"
#include "inference/matting/guided_filter.h"
#include "inference/matting/resample.h"
#include "inference/matting/two_pass_refinement.h"
#include "inference/model/layer_cost.h"

namespace matte {
namespace {

class CpuCutout final : public Cutout {
public:
    explicit CpuCutout(std::shared_ptr<const Image> picture) : source_(std::move(picture)) {}
    [[nodiscard]] std::shared_ptr<const Image> source() const override { return source_; }
    [[nodiscard]] const StageTimes& times() const override { return times_; }

    /// The source at `size`: itself, or a preview that is kept for the next time.
    const Image& sourceAt(Size size) {
        if (size == source_->size()) return *source_;
        if (preview_.size() != size) preview_ = resampleToImage(source_->view(), size);
        return preview_;
    }

    /// The background picture laid into a frame of `size`, kept for the next time; null when the background is no
    /// picture.
    const Image* plate(const Background& background, Size size) {
        if (background.kind != Background::Kind::image || !background.image) return nullptr;
        if (plate_.size() != size || !(plateFor_ == background)) {
            plate_ =
                layInto(background.image->view(), size, background.placement, background.color, background.position);
            plateFor_ = background;
        }
        return &plate_;
    }

    void blur(float strength) {
        if (strength == blurred_) return;
        blurBackground(linear, alpha, blurSigma(strength, guided.size.longest()), guided);
        blurred_ = strength;
    }

    /// The light of a background on the person; needs blur() before for Kind::blur.
    void wrap(const CompositeParams& params, const Image* behind) {
        RefineScratch scratch;
        wrapLight(alpha, wrapSource(params, behind), guided, scratch);
    }

    Planes guided;         ///< [h, w, guided::kChannels]
    Planes alpha, linear;  ///< on the same grid: the refined matte, the picture in linear light
    StageTimes times_;

private:
    std::shared_ptr<const Image> source_;
    Image preview_, plate_;
    Background plateFor_;
    float blurred_ = -1;
};

Planes finite(Planes matte) {
    if (!allFinite(matte.values)) throw NoMatte();
    return matte;
}

CpuCutout& mine(Cutout& cutout) {
    auto* own = dynamic_cast<CpuCutout*>(&cutout);
    if (!own) throw Error(ErrorCategory::engine, "This cut-out was made by another engine: cut the picture out again.");
    return *own;
}

}  // namespace

CpuEngine::CpuEngine(UNet network, const EngineOptions& options, std::string reason)
    : CpuEngine(std::make_unique<CpuNetwork>(
                    std::move(network),
                    options.precision == Precision::fast ? CpuNetwork::bestPrecision() : CpuPrecision::f32),
                options,
                std::move(reason)) {}

CpuEngine::CpuEngine(std::unique_ptr<HostNetwork> network, const EngineOptions& options, std::string reason)
    : network_(std::move(network)), options_(options), reason_(std::move(reason)) {
    setThreads(options_.threads);
    StageTimes untold;
    const std::string problem = selfTest(network_->unet(), [&](const Image& picture) {
        return networkMatte(picture.view(), picture.size(), untold, {});
    });
    if (problem.empty()) return;
    throw Error(ErrorCategory::model, "The model '" + network_->unet().name() + "' can't be used: " + problem +
                                          ". Get its file anew, or choose another model.");
}

EngineInfo CpuEngine::info() const {
    EngineInfo info;
    info.kind = network_->onGpu() ? EngineKind::cuda : EngineKind::cpu;
    info.name =
        network_->onGpu() ? "GPU (" + network_->name() + "), the rest on the CPU" : "CPU (" + network_->name() + ")";
    info.reason = reason_;
    info.warnings = network_->warnings();
    info.fineDetail = hasFineDetail();
    return info;
}

bool CpuEngine::hasFineDetail() const {
    const Size any{1024, 1024};
    return inputFor(any, true).pixels() > inputFor(any, false).pixels();
}

Size CpuEngine::inputFor(Size picture, bool detail) const {
    const UNet& unet = network_->unet();
    return detail ? unet.photoInputSize(picture, options_.networkLongestSide)
                  : unet.inputSize(picture, options_.networkLongestSide);
}

Planes CpuEngine::networkMatte(const ImageView& source, Size input, StageTimes& times, const std::stop_token& stop) {
    {
        const StageTimer timer(times, "prepare");
        network_->configure(input);
    }
    {
        const StageTimer timer(times, "preprocess");
        network_->see(source);
    }
    const StageTimer timer(times, "network");
    network_->run(stop, nullptr);
    return network_->matte();
}

/// The network's matte of a photo. People who are far away are looked at twice, unless somebody said how large the
/// network is to see a photo.
Planes CpuEngine::photoMatte(const Image& photo, StageTimes& times, const std::stop_token& stop) {
    Planes matte = finite(networkMatte(photo.view(), inputFor(photo.size(), true), times, stop));
    if (options_.networkLongestSide != 0) return matte;
    const auto part = regionToRefine(matte, photo.size());
    if (!part) return matte;
    stopIfAsked(stop);
    const StageTimer timer(times, "second pass");
    try {
        StageTimes within;
        const ImageView closer = regionOf(photo.view(), *part);
        return mergePasses(matte, finite(networkMatte(closer, inputFor(closer.size, true), within, stop)), *part,
                           photo.size());
    } catch (const NoMatte&) {
        return matte;
    }
}

std::shared_ptr<Cutout> CpuEngine::cutOut(std::shared_ptr<const Image> source, std::stop_token stop) {
    setThreads(options_.threads);
    started_ = true;
    auto cutout = std::make_shared<CpuCutout>(source);
    const Planes coarse = photoMatte(*source, cutout->times_, stop);
    stopIfAsked(stop);
    {
        const StageTimer timer(cutout->times_, "refine");
        const Planes guide = resampleToPlanes(source->view(), shrunkTo(source->size(), kGuidedLongestSide));
        cutout->guided = Planes(guide.size, guided::kChannels);
        fitGuidedFilter(guide, coarse, cutout->guided);
        cutout->alpha = evaluateAlpha(guide, cutout->guided);
        cutout->linear = toLinear(guide);
    }
    stopIfAsked(stop);
    const StageTimer timer(cutout->times_, "foreground");
    estimateColors(cutout->linear, cutout->alpha, cutout->guided);
    return cutout;
}

Output CpuEngine::composite(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) {
    CpuCutout& own = mine(cutout);
    Output output;
    const Image& source = own.sourceAt(size);
    if (params.background.kind == Background::Kind::blur) {
        const StageTimer timer(output.times, "blur");
        own.blur(params.background.blurStrength);
    }
    const Image* plate = own.plate(params.background, size);
    if (params.lightWrap > 0 && params.background.kind != Background::Kind::transparent) {
        const StageTimer timer(output.times, "wrap");
        own.wrap(params, plate);
    }
    stopIfAsked(stop);
    {
        const StageTimer timer(output.times, "composite");
        output.picture = std::make_shared<HostPicture>(
            std::make_shared<Image>(compositeOver(source.view(), own.guided, params, plate, stop)));
    }
    return output;
}

Image CpuEngine::matte(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) {
    CpuCutout& own = mine(cutout);
    return renderMatte(own.sourceAt(size).view(), own.guided, params, stop);
}

bool CpuEngine::submit(const Frame& frame, const CompositeParams& params) {
    if (waiting_) return false;
    waiting_ = {frame, params};
    return true;
}

Output CpuEngine::take() {
    if (!waiting_) throw Error(ErrorCategory::engine, "No frame is under way.");
    const Waiting now = *std::exchange(waiting_, std::nullopt);
    setThreads(options_.threads);
    started_ = true;
    const Size input = inputFor(now.frame.image->size(), now.params.fineDetail && hasFineDetail());
    return live_.run(now.frame, now.params, *network_, input, timeLayers_);
}

void CpuEngine::drop() {
    waiting_.reset();
    live_.drop();
}

void CpuEngine::reset() {
    waiting_.reset();
    live_.reset();
}

std::vector<LayerInfo> CpuEngine::layers() const {
    const Size input = network_->size();
    if (!started_ || input == Size{}) return {};
    const UNet& unet = network_->unet();
    std::vector<LayerInfo> infos;
    for (std::size_t i = 0; i < unet.layers().size(); ++i) {
        const Conv& layer = unet.layers()[i];
        infos.push_back({layer.name, layerShape(unet, layer, input), network_->implementation(int(i)),
                         layerFlops(unet, layer, input), layerBytes(unet, layer, input, network_->valueBytes())});
    }
    return infos;
}

void CpuEngine::timeLayers(bool on) {
    timeLayers_ = on;
}

std::optional<MachineRates> CpuEngine::measureRates() {
    if (network_->valueBytes() != 4) return MachineRates{};  // the matrix unit's rate is not measured
    setThreads(options_.threads);
    if (!rates_) rates_ = std::make_unique<ProcessorRates>();
    if (rates_->measure()) return std::nullopt;
    const auto rates = std::exchange(rates_, nullptr);
    return MachineRates{rates->flopsPerSecond(), rates->bytesPerSecond(),
                        "single-precision multiply-adds, a copy within memory"};
}

}  // namespace matte
