// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/cuda_engine.h"

#include <algorithm>

#include "inference/core/stopwatch.h"
#include "inference/cuda/conv/conv_tune.h"
#include "inference/cuda/device/device_rates.h"
#include "inference/engine/self_test.h"
#include "inference/model/layer_cost.h"

namespace matte {
namespace {

constexpr int kSlots = 2;
constexpr int kTimedEvery = 8;       // frames: layers that are timed can't overlap, which makes a frame a tenth slower
constexpr std::size_t kBuffers = 3;  // what a slow reader, a writer and one between them hold
constexpr std::size_t kPictureBuffers = kBuffers + kSlots;

CudaCutout& mine(Cutout& cutout) {
    auto* own = dynamic_cast<CudaCutout*>(&cutout);
    if (!own) throw Error(ErrorCategory::engine, "This cut-out was made by another engine: cut the picture out again.");
    return *own;
}

DeviceFailure tooSmall(Size picture) {
    return {"The GPU's memory is too small for a picture of " + std::to_string(picture.width) + "x" +
                std::to_string(picture.height) + " pixels: close other programs that use it.",
            false};
}

std::string seenAt(int side, int full) {
    return "The GPU's memory is nearly full: the network sees pictures at " + std::to_string(side) + " instead of " +
           std::to_string(full) + " pixels.";
}

}  // namespace

/// The border at which the device's errors become DeviceFailure. What was under way is lost then.
template <typename Work>
auto CudaEngine::guarded(const Work& work) {
    try {
        return onDevice(device_, work);
    } catch (const DeviceFailure&) {
        drop();
        memory_->clear();
        pictures_->clear();
        throw;
    }
}

void CudaEngine::drop() {
    for (const auto& slot : slots_) slot->drop();
    underWay_.clear();
    if (live_) live_->drop();
}

CudaEngine::CudaEngine(std::shared_ptr<const UNet> unet, const EngineOptions& options, CudaFault fault)
    : unet_(std::move(unet)),
      options_(options),
      fault_(std::move(fault)),
      device_(openDevice(options)),
      memory_(std::make_shared<BufferPool<DeviceBuffer>>(kBuffers)),
      pictures_(std::make_shared<BufferPool<PictureMemory>>(kPictureBuffers)),
      slotLimit_(kSlots),
      liveSide_(options.networkLongestSide) {
    underWay_.reserve(kSlots);
    slots_.reserve(kSlots);
    guarded([&] {
        passStep(fault_, "start");
        const ConvKernel kernel = options_.precision == Precision::fp32 ? ConvKernel::fp32 : builtKernel();
        info_ = describeDevice(device_, kernel);
        weights_ = std::make_shared<CudaWeights>(*unet_, kernel);
        live_ = std::make_unique<LiveMemory>();
        readback_ = std::make_shared<Readback>(device_, fault_);
        // One for all slots: what runs in one must run in the other.
        choose_ = options_.tune ? ConvTuner::choose(weights_) : CudaNetwork::chooseFirst;
        slots_.push_back(std::make_unique<Slot>(weights_, choose_, fault_));
        const std::string problem = selfTest(*unet_, [this](const Image& picture) { return testMatte(picture); });
        if (problem.empty()) return;
        throw DeviceFailure("The GPU can't be used with the model '" + unet_->name() + "': " + problem + ".", true);
    });
}

/// By kernels that need not be timed first, in memory that is given back.
Planes CudaEngine::testMatte(const Image& picture) const {
    const DeviceBuffer pixels(picture.bytes());
    CUDA_CHECK(cudaMemcpy(pixels.data(), picture.row(0), picture.bytes(), cudaMemcpyHostToDevice));
    const Stream stream;
    MattingPass pass(weights_, CudaNetwork::chooseFirst);
    return pass.networkMatte({pixels.as<std::uint8_t>(), picture.size(), picture.strideBytes(), picture.format()},
                             picture.size(), stream.get());
}

// Frames under way may be read from their page-locked memory still.
CudaEngine::~CudaEngine() {
    drop();
}

// Stills

std::shared_ptr<Cutout> CudaEngine::cutOut(std::shared_ptr<const Image> source, std::stop_token stop) {
    return guarded([&] {
        info_.warnings.clear();
        const Size full = unet_->photoInputSize(source->size(), options_.networkLongestSide);
        Size input = full;
        std::shared_ptr<Cutout> cutout;
        while (!fitsMemory([&] { cutout = cutOutAt(source, input, stop); })) {
            memory_->clear();
            pictures_->clear();
            if (slots_.size() > 1 && underWay_.empty()) {
                slots_.pop_back();
                continue;
            }
            const int next = unet_->smallerSide(source->size(), input);
            if (next == 0) throw tooSmall(source->size());
            input = unet_->inputSize(source->size(), next);
            info_.warnings = {seenAt(input.longest(), full.longest())};
        }
        return cutout;
    });
}

std::shared_ptr<CudaCutout> CudaEngine::cutOutAt(const std::shared_ptr<const Image>& source,
                                                 Size input,
                                                 const std::stop_token& stop) {
    Slot& slot = *slots_.front();
    const Stopwatch watch;
    stopIfAsked(stop);
    auto cutout = std::make_shared<CudaCutout>(source, *memory_);
    slot.prepare(source->size(), input);
    StageTimes times{{Stage::prepare, watch.ms()}};
    slot.cutOut(*cutout, stop);
    slot.wait(times);
    if (slot.matteFault() != MatteFault::none) throw NoMatte();
    if (options_.hasSecondPass()) refineRegion(*cutout, times, stop);
    cutout->took(std::move(times));
    return cutout;
}

/// The first pass's matte stays when there is no memory for a second pass, or that gives no matte.
void CudaEngine::refineRegion(const CudaCutout& cutout, StageTimes& times, const std::stop_token& stop) {
    const Stopwatch watch;
    fitsMemory([&] {
        if (slots_.front()->refineRegion(cutout, stop)) times.push_back({Stage::secondPass, watch.ms()});
    });
}

Output CudaEngine::composite(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) {
    CudaCutout& own = mine(cutout);
    return guarded([&] {
        Slot& slot = *slots_.front();
        stopIfAsked(stop);
        auto out = pictures_->take(size.pixels() * 4);
        slot.composite(own, params, size, *out);
        Output output;
        slot.wait(output.times);
        stopIfAsked(stop);
        output.picture = std::make_shared<CudaPicture>(
            std::move(out), size, params.background.kind != Background::Kind::transparent, readback_);
        return output;
    });
}

Image CudaEngine::matte(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) {
    CudaCutout& own = mine(cutout);
    return guarded([&] {
        stopIfAsked(stop);
        const auto out = pictures_->take(size.pixels());
        slots_.front()->renderMatte(own, params, size, *out);
        stopIfAsked(stop);
        return readback_->fetch(*out, size, PixelFormat::gray8);
    });
}

// Live

bool CudaEngine::submit(const Frame& frame, const CompositeParams& params) {
    const Size picture = frame.image->size();
    return guarded([&] {
        Slot* slot = nullptr;
        const auto start = [&] {
            slot = nullptr;  // or that of the last attempt would stay when idleSlot() throws
            slot = idleSlot();
            if (!slot) return;
            slot->start(frame, params, {unet_->inputSize(picture, liveSide_), live_.get(), timesNext()},
                        pictures_->take(picture.pixels() * 4));
            underWay_.push_back(slot);
        };
        while (!fitsMemory(start)) {
            if (slot) slot->drop();
            if (!makeRoom(picture)) throw tooSmall(picture);
        }
        return slot != nullptr;
    });
}

Output CudaEngine::take() {
    if (underWay_.empty()) throw Error(ErrorCategory::engine, "No frame is under way: submit one first.");
    return guarded([&] {
        Output output = underWay_.front()->finish(readback_);
        underWay_.erase(underWay_.begin());
        return output;
    });
}

/// Null when all are busy.
Slot* CudaEngine::idleSlot() {
    const auto isBusy = [&](const auto& slot) { return std::ranges::find(underWay_, slot.get()) != underWay_.end(); };
    if (int(underWay_.size()) >= slotLimit_) return nullptr;
    if (int(slots_.size()) > slotLimit_ && !isBusy(slots_.back())) slots_.pop_back();
    const auto idle = std::ranges::find_if_not(slots_, isBusy);
    if (idle != slots_.end()) return idle->get();
    return slots_.emplace_back(std::make_unique<Slot>(weights_, choose_, fault_)).get();
}

/// Makes do with less of the device's memory; false when there is nothing left to do without.
bool CudaEngine::makeRoom(Size picture) {
    memory_->clear();
    pictures_->clear();
    if (slotLimit_ > 1) {
        slotLimit_ = 1;
        info_.warnings = {"The GPU's memory is nearly full: it works on one frame at a time."};
        return true;
    }
    const int next = unet_->smallerSide(picture, unet_->inputSize(picture, liveSide_));
    if (next == 0) return false;
    liveSide_ = next;
    info_.warnings = {seenAt(unet_->inputSize(picture, next).longest(),
                             unet_->inputSize(picture, options_.networkLongestSide).longest())};
    return true;
}

void CudaEngine::reset() {
    drop();
    slotLimit_ = kSlots;
    liveSide_ = options_.networkLongestSide;
    live_->reset();
    info_.warnings.clear();
}

void CudaEngine::timeLayers(bool on) {
    if (on && !timeLayers_) untilTimed_ = 0;
    timeLayers_ = on;
}

std::optional<MachineRates> CudaEngine::measureRates() {
    return guarded([&] {
        MachineRates rates;  // nothing, where there is not enough memory to measure
        fitsMemory([&] { rates = matte::measureRates(weights_->kernel()); });
        return rates;
    });
}

/// Whether the frame that begins now is timed.
bool CudaEngine::timesNext() {
    if (!timeLayers_) return false;
    const bool timed = untilTimed_ == 0;
    untilTimed_ = timed ? kTimedEvery - 1 : untilTimed_ - 1;
    return timed;
}

std::vector<LayerInfo> CudaEngine::layers() const {
    const CudaNetwork& network = slots_.front()->network();
    std::vector<LayerInfo> layers;
    for (std::size_t i = 0; i < network.choices().size(); ++i) {
        const Conv& layer = unet_->layers()[i];
        layers.push_back({layer.name, layerShape(*unet_, layer, network.size()), network.choices()[i],
                          layerFlops(*unet_, layer, network.size()),
                          layerBytes(*unet_, layer, network.size(), valueBytes(weights_->kernel()))});
    }
    return layers;
}

}  // namespace matte
