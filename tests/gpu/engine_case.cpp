// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/engine_case.h"

#include <algorithm>

#include "inference/core/pixel_math.h"
#include "inference/matting/composite.h"
#include "inference/matting/guided_filter.h"
#include "inference/matting/resample.h"
#include "inference/matting/two_pass_refinement.h"
#include "tests/gpu/pixel_case.h"
#include "tests/support/pictures/one_picture.h"

namespace matte::test {
namespace {

class RoundCutout final : public Cutout {
public:
    explicit RoundCutout(std::shared_ptr<const Image> picture)
        : host(picture, roundMatte({96, 64})), source_(std::move(picture)) {}
    [[nodiscard]] std::shared_ptr<const Image> source() const override { return source_; }
    [[nodiscard]] const StageTimes& times() const override { return times_; }
    HostSteps host;

private:
    std::shared_ptr<const Image> source_;
    StageTimes times_{{Stage::refine, 1}};
};

HostSteps& stepsOf(Cutout& cutout) {
    auto* own = dynamic_cast<RoundCutout*>(&cutout);
    if (!own) throw Error(ErrorCategory::engine, "This cut-out was made by another engine: cut the picture out again.");
    return own->host;
}

}  // namespace

HostSteps::HostSteps(std::shared_ptr<const Image> source, const Planes& coarse) : source_(std::move(source)) {
    const Planes guide = resampleToPlanes(source_->view(), shrunkTo(source_->size(), kGuidedLongestSide));
    guided_ = Planes(guide.size, guided::kChannels);
    fitGuidedFilter(guide, coarse, guided_);
    alpha_ = evaluateAlpha(guide, guided_);
    linear_ = toLinear(guide);
    estimateColors(linear_, alpha_, guided_);
}

Image HostSteps::at(Size size) const {
    if (!(size == source_->size())) return resampleToImage(source_->view(), size);
    Image copy(size, source_->format());
    std::copy_n(source_->row(0), copy.bytes(), copy.row(0));
    return copy;
}

Image HostSteps::composite(const CompositeParams& params, Size size) {
    const Background& background = params.background;
    blurBackground(linear_, alpha_, blurSigma(background.blurStrength, guided_.size.longest()), guided_);
    Image plate;
    if (background.image) plate = layInto(background.image->view(), size, background.placement, background.color);
    return compositeOver(at(size).view(), guided_, params, background.image ? &plate : nullptr, {});
}

Image HostSteps::matte(const CompositeParams& params, Size size) {
    return renderMatte(at(size).view(), guided_, params);
}

NetworkMatte::NetworkMatte(std::shared_ptr<const UNet> unet, int longestSide)
    : unet_(std::move(unet)), longestSide_(longestSide), network_(*unet_, CudaNetwork::bestKernel()) {}

Planes NetworkMatte::operator()(const Image& source) {
    Planes whole = onePass(source);
    const auto part = longestSide_ == 0 ? regionToRefine(whole, source.size()) : std::nullopt;
    if (!part) return whole;
    Image cut(part->size, source.format());
    const ImageView view = regionOf(source.view(), *part);
    for (int y = 0; y < view.size.height; ++y) std::copy_n(view.row(y), cut.strideBytes(), cut.row(y));
    return mergePasses(whole, onePass(cut), *part, source.size());
}

Planes NetworkMatte::onePass(const Image& source) {
    const Size size = unet_->photoInputSize(source.size(), longestSide_);
    network_.configure(size);
    const device::Resampling shrink(source.size(), size);
    const DeviceBuffer picture = upload(std::vector<std::uint8_t>(source.row(0), source.row(0) + source.bytes()));
    CUDA_CHECK(cudaDeviceSynchronize());
    const Stream stream;
    device::shrinkToInput({picture.as<std::uint8_t>(), source.size(), source.strideBytes(), source.format()}, shrink,
                          {network_.input(), false, unet_->mean(), unet_->deviation()}, stream.get());
    network_.forward(stream.get());
    Planes coarse(size, 1);
    coarse.values = download<float>(network_.alpha(), size.pixels());
    return coarse;
}

std::shared_ptr<Cutout> RoundEngine::cutOut(std::shared_ptr<const Image> source, std::stop_token stop) {
    stopIfAsked(stop);
    return std::make_shared<RoundCutout>(std::move(source));
}

Output RoundEngine::composite(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) {
    HostSteps& steps = stepsOf(cutout);
    stopIfAsked(stop);
    Output output;
    output.picture = std::make_shared<HostPicture>(std::make_shared<Image>(steps.composite(params, size)));
    return output;
}

bool RoundEngine::submit(const Frame& frame, const CompositeParams& params) {
    if (underWay_) return false;
    underWay_ = {frame, params};
    return true;
}

Output RoundEngine::take() {
    if (!underWay_) throw Error(ErrorCategory::engine, "No frame is under way.");
    const auto [frame, params] = *std::exchange(underWay_, std::nullopt);
    const auto cutout = cutOut(frame.image, {});
    Output output = composite(*cutout, params, frame.image->size(), {});
    output.frame = frame.number;
    output.captured = frame.captured;
    return output;
}

Image RoundEngine::matte(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) {
    HostSteps& steps = stepsOf(cutout);
    stopIfAsked(stop);
    return steps.matte(params, size);
}

std::vector<float> premultiplied(const Image& rgba) {
    std::vector<float> values(rgba.row(0), rgba.row(0) + rgba.bytes());
    for (std::size_t i = 0; i < values.size(); i += 4) {
        for (std::size_t c = 0; c < 3; ++c) values[i + c] *= values[i + 3] / 255;
    }
    return values;
}

}  // namespace matte::test
