// SPDX-License-Identifier: Apache-2.0
#include "inference/cpu/cpu_engine.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "inference/core/error.h"
#include "inference/core/parallel.h"
#include "inference/core/stopwatch.h"
#include "inference/engine/self_test.h"
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

    CpuFrame frame;
    StageTimes times_;

private:
    std::shared_ptr<const Image> source_;
    Image preview_;
};

/// Longest side of the coefficients' grid of live frames, whose default network has no larger input: the guided filter
/// brings the matte to the picture's own pixels from there.
constexpr int kLiveGuidedLongestSide = 384;

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
    : network_(std::move(network)),
      options_(options),
      reason_(std::move(reason)),
      photoPass_(*network_),
      livePass_(*network_) {
    setThreads(options_.threads);
    const std::string problem =
        selfTest(network_->unet(), [&](const Image& picture) { return network_->matteOf(picture.view()); });
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

std::shared_ptr<Cutout> CpuEngine::cutOut(std::shared_ptr<const Image> source, std::stop_token stop) {
    setThreads(options_.threads);
    started_ = true;
    auto cutout = std::make_shared<CpuCutout>(source);
    StageTimes& times = cutout->times_;
    CpuPass pass(*network_);  // whose memory, for a grid as large as a photo's, is given back
    const auto networkMatte = [&](const ImageView& picture, Output& output) {
        Planes matte = pass.networkMatte(picture, inputFor(picture.size, true), stop, output);
        stopIfAsked(stop);
        return matte;
    };
    Output first, second;
    Planes matte = networkMatte(source->view(), first);
    if (!allFinite(matte.values)) throw NoMatte();
    times = std::move(first.times);
    if (options_.hasSecondPass()) {
        const Stopwatch watch;
        const auto closer = [&](const ImageView& region) { return networkMatte(region, second); };
        if (auto refined = refineInTwoPasses(matte, source->view(), closer)) {
            matte = std::move(*refined);
            times.push_back({Stage::secondPass, watch.ms()});
        }
    }
    pass.refine(source->view(), matte, shrunkTo(source->size(), kGuidedLongestSide), stop, cutout->frame, times);
    return cutout;
}

Output CpuEngine::composite(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) {
    CpuCutout& own = mine(cutout);
    Output output;
    auto image = std::make_shared<Image>(size, PixelFormat::rgba8);
    photoPass_.composite(own.sourceAt(size).view(), own.frame, params, stop, *image, output.times);
    output.picture = std::make_shared<HostPicture>(std::move(image));
    return output;
}

Image CpuEngine::matte(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) {
    CpuCutout& own = mine(cutout);
    Image image(size, PixelFormat::gray8);
    photoPass_.matte(own.sourceAt(size).view(), own.frame, params, stop, image);
    return image;
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
    const Image& picture = *now.frame.image;
    if (picture.format() == PixelFormat::gray8) {
        throw Error(ErrorCategory::input,
                    "A frame without colour can't be cut out: choose another format of the camera.");
    }
    const Size input = inputFor(picture.size(), now.params.fineDetail && hasFineDetail());
    const Size grid = shrunkTo(picture.size(), std::max(kLiveGuidedLongestSide, input.longest()));
    Output output;
    output.times.reserve(kStages);
    output.frame = now.frame.number;
    output.captured = now.frame.captured;
    const ImageView source = rgba_.of(picture.view());
    Planes& matte = livePass_.networkMatte(source, input, {}, output, &live_, timeLayers_);
    output.matteFault = live_.judge(livePass_.input(), matte);
    if (output.matteUsable()) live_.filter(livePass_.input(), resolve(now.params, grid), matte, output.times);
    livePass_.refine(source, matte, grid, {}, liveFrame_, output.times);
    const Shown& shown = unused(source.size);
    livePass_.composite(source, liveFrame_, now.params, {}, *shown.image, output.times);
    output.picture = shown.picture;
    return output;
}

const CpuEngine::Shown& CpuEngine::unused(Size size) {
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
