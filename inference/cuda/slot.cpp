// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/slot.h"

#include <new>
#include <utility>

#include "inference/matting/two_pass_refinement.h"

namespace matte {
Slot::Slot(std::shared_ptr<const CudaWeights> weights, CudaNetwork::Choose choose, CudaFault fault)
    : fault_(std::move(fault)), pass_(std::move(weights), std::move(choose)) {
    new (control_.as<Control>()) Control();
}

void Slot::upload(const Image& image, const FrameMemory& memory) {
    passStep(fault_, "upload");
    copy_.upload(image.row(0), image.bytes(), memory.pixels(), stream_.get());
    stages_.mark(Stage::upload, stream_.get());
}

void Slot::uploadParams(const ResolvedParams& params) {
    control().params = params;
    copy_.upload(&control().params, sizeof(ResolvedParams), paramsBlock_.data(), stream_.get());
}

void Slot::show(const device::Source& source,
                const device::GuidedCoefficients& guided,
                const CompositeParams& params,
                const PictureMemory& out) {
    passStep(fault_, "composite");
    const cudaStream_t stream = stream_.get();
    const std::uint8_t* plate = plate_.laid(params.background, source.size, copy_, stream);
    if (plate_.isNew()) stages_.mark(Stage::plate, stream);
    if (control().params.isLit()) {
        pass_.wrap(guided, deviceParams(), plate, source.size, stream);
        stages_.mark(Stage::lightWrap, stream);
    }
    out.read.waitOn(stream);
    device::compositeOver(source, guided, deviceParams(), plate, out.pixels.as<std::uint8_t>(), stream);
    stages_.mark(Stage::composite, stream);
    out.ready.record(stream);
}

void Slot::prepare(Size picture, Size input) {
    passStep(fault_, "prepare");
    pass_.prepare(picture, input);
}

void Slot::cutOut(const CudaCutout& cutout, const std::stop_token& stop) {
    const FrameMemory& memory = cutout.memory();
    stages_.start(stream_.get(), true);
    upload(*cutout.source(), memory);
    stopIfAsked(stop);
    passStep(fault_, "network");
    control().nonFinite = 0;
    pass_.run(memory, {.nonFinite = &control().nonFinite}, stream_.get(), stages_);
}

bool Slot::refineRegion(const CudaCutout& cutout, const std::stop_token& stop) {
    const device::Source& photo = cutout.memory().picture();
    const auto closer = [&](const ImageView& region) {
        stopIfAsked(stop);
        passStep(fault_, "second pass");
        return pass_.networkMatte({region.data, region.size, region.strideBytes, region.format},
                                  pass_.unet().photoInputSize(region.size), stream_.get());
    };
    const auto refined = refineInTwoPasses(pass_.matte(stream_.get()),
                                           {photo.data, photo.size, photo.strideBytes, photo.format}, closer);
    if (!refined) return false;
    stopIfAsked(stop);
    pass_.refine(cutout.memory(), *refined, stream_.get());
    return true;
}

void Slot::composite(CudaCutout& cutout, const CompositeParams& params, Size size, const PictureMemory& out) {
    const device::GuidedCoefficients& guided = cutout.memory().guided();
    const device::Source source = cutout.pictureAt(size, stream_.get());
    uploadParams(resolve(params, guided.size));
    stages_.start(stream_.get(), true);
    if (control().params.isBlurred() && cutout.needsBlur(control().params.blurRadius)) {
        pass_.blur(guided, deviceParams(), stream_.get());
        stages_.mark(Stage::blur, stream_.get());
    }
    show(source, guided, params, out);
}

void Slot::renderMatte(CudaCutout& cutout, const CompositeParams& params, Size size, const PictureMemory& out) {
    passStep(fault_, "composite");
    const device::Source source = cutout.pictureAt(size, stream_.get());
    uploadParams(resolve(params, cutout.memory().guided().size));
    stages_.start(stream_.get(), true);
    out.read.waitOn(stream_.get());
    device::renderMatte(source, cutout.memory().guided(), deviceParams(), out.pixels.as<std::uint8_t>(), stream_.get());
    stages_.mark(Stage::matte, stream_.get());
    out.ready.record(stream_.get());
}

void Slot::wait(StageTimes& times) const {
    passStep(fault_, "wait");
    stream_.wait();
    stages_.read([&](Stage stage, double ms) { times.push_back({stage, ms}); });
}

void Slot::start(const Frame& frame,
                 const CompositeParams& params,
                 const FrameSettings& settings,
                 std::shared_ptr<const PictureMemory> out) {
    frame_ = frame;
    out_ = std::move(out);
    timing_ = settings.timeLayers;
    bytesBefore_ = copy_.bytesUp();
    const ResolvedParams resolved = resolve(params, shrunkTo(frame.image->size(), kGuidedLongestSide));
    opaque_ = !resolved.isTransparent();
    prepareFrame(*frame.image, resolved.isFiltered(), settings);

    begin_.record(stream_.get());
    uploadParams(resolved);
    stages_.start(stream_.get(), timing_);
    upload(*frame.image, memory_);
    findMatte(settings);
    show(memory_.picture(), memory_.guided(), params, *out_);
    done_.record(stream_.get());
}

void Slot::prepareFrame(const Image& image, bool filtered, const FrameSettings& settings) {
    const Size size = image.size();
    const PixelFormat format = image.format();
    if (format == PixelFormat::gray8) {
        throw Error(ErrorCategory::input,
                    "A frame without colour can't be cut out: choose another format of the camera.");
    }
    const bool fits = memory_.picture().size == size && memory_.picture().format == format;
    if (!fits || !warm_) passStep(fault_, "prepare");
    pass_.prepare(size, settings.input, filtered);
    settings.live->prepare(settings.input, pass_.network().stateBytes(), filtered, stream_.get());
    if (fits) return;
    recorded_ = {};
    memory_ = {};
    memory_ = FrameMemory(size, format, std::make_shared<const DeviceBuffer>(FrameMemory::bytes(size, format)));
}

/// The whole way from the uploaded pixels to the coefficients, as one graph. It runs once before it is recorded,
/// because kernels are loaded when they first run, which must not be while a graph is recorded.
void Slot::findMatte(const FrameSettings& settings) {
    passStep(fault_, "network");
    const cudaStream_t stream = stream_.get();
    const Recording wanted{.size = memory_.picture().size,
                           .format = memory_.picture().format,
                           .blurred = control().params.isBlurred(),
                           .filtered = control().params.isFiltered(),
                           .passVersion = pass_.version(),
                           .liveVersion = settings.live->version()};
    const auto enqueue = [&] {
        pass_.run(memory_,
                  {&control().nonFinite, timing_ ? &layers_ : nullptr, settings.live, wanted.filtered, deviceParams()},
                  stream, stages_);
        if (!wanted.blurred) return;
        pass_.blur(memory_.guided(), deviceParams(), stream);
        stages_.mark(Stage::blur, stream);
    };
    if (!(recorded_ == wanted)) {
        plain_ = Graph();
        timed_ = Graph();
        warm_ = false;
        recorded_ = wanted;
    }
    control().nonFinite = 0;
    if (!warm_) {
        enqueue();
        warm_ = true;
        return;
    }
    Graph& graph = timing_ ? timed_ : plain_;
    if (!graph) {
        const std::size_t first = stages_.marks();
        graph = Graph(stream, enqueue);
        if (timing_) marks_ = stages_.marksFrom(first);
    } else {
        stages_.repeat(marks_);
    }
    graph.launch(stream);
}

Output Slot::finish(const std::shared_ptr<Readback>& readback) {
    passStep(fault_, "wait");
    done_.wait();
    Output output;
    output.picture = std::make_shared<CudaPicture>(std::move(out_), memory_.picture().size, opaque_, readback);
    output.frame = frame_.number;
    output.captured = frame_.captured;
    output.bytesUp = copy_.bytesUp() - bytesBefore_;
    output.matteFault = matteFault();
    if (timing_) {
        stages_.read([&](Stage stage, double ms) { output.times.push_back({stage, ms}); });
        layers_.read([&](int, double ms) { output.layerMs.push_back(float(ms)); });
    } else {
        output.times.push_back({Stage::total, double(done_.msSince(begin_))});
    }
    frame_ = {};
    return output;
}

void Slot::drop() {
    (void)cudaStreamSynchronize(stream_.get());  // errors of a dropped frame are ignored
    cudaGetLastError();
    frame_ = {};
    out_.reset();
}

}  // namespace matte
