// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/slot.h"

#include <new>
#include <utility>

#include "inference/matting/closer_look.h"

namespace matte {
namespace {

/// Whether the look asks for anything that is done to live mattes alone.
bool isTended(const Look& look) {
    return look.steadiness > 0 || look.removeSpecks || look.nearestOnly;
}

}  // namespace

Slot::Slot(std::shared_ptr<const CudaWeights> weights, CudaNetwork::Choose choose, CudaFault fault)
    : fault_(std::move(fault)), pass_(std::move(weights), std::move(choose)) {
    new (control_.as<Control>()) Control();
}

void Slot::upload(const Image& image, const FrameMemory& memory) {
    passStep(fault_, "upload");
    copy_.upload(image.row(0), image.bytes(), memory.pixels(), stream_.get());
    stages_.mark("upload", stream_.get());
}

void Slot::uploadLook(const Look& look, Size grid) {
    control().look = device::lookBlock(look, grid);
    // Without its picture the background is its colour.
    if (look.background.kind == Background::Kind::image && !look.background.image) {
        control().look.kind = Background::Kind::color;
    }
    copy_.upload(&control().look, sizeof(device::LookBlock), look_.data(), stream_.get());
}

void Slot::show(const device::Source& source,
                const device::Fields& fields,
                const Look& look,
                const PictureMemory& out) {
    passStep(fault_, "composite");
    const cudaStream_t stream = stream_.get();
    const std::uint8_t* plate = plate_.laid(look.background, source.size, copy_, stream);
    if (plate_.isNew()) stages_.mark("plate", stream);
    if (look.lightWrap > 0 && look.background.kind != Background::Kind::transparent) {
        pass_.wrap(fields, deviceLook(), plate, source.size, stream);
        stages_.mark("wrap", stream);
    }
    out.read.holdUp(stream);
    device::compositeOver(source, fields, deviceLook(), plate, out.pixels.as<std::uint8_t>(), stream);
    stages_.mark("composite", stream);
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
    control().alarm = 0;
    pass_.run(memory, {.alarm = &control().alarm}, stream_.get(), stages_);
}

bool Slot::lookCloser(const CudaCutout& cutout, const std::stop_token& stop) {
    const device::Source& photo = cutout.memory().picture();
    const Planes whole = pass_.matte(stream_.get());
    const auto part = closerLook(whole, photo.size);
    if (!part) return false;
    stopIfAsked(stop);
    passStep(fault_, "closer look");
    const ImageView view = partOf({photo.data, photo.size, photo.strideBytes, photo.format}, *part);
    const Planes closer = pass_.lookAt({view.data, view.size, view.strideBytes, view.format},
                                       pass_.unet().photoInputSize(view.size), stream_.get());
    if (!allFinite(closer.values)) throw NoMatte();
    stopIfAsked(stop);
    pass_.refine(cutout.memory(), joinLooks(whole, closer, *part, photo.size), stream_.get());
    return true;
}

void Slot::composite(CudaCutout& cutout, const Look& look, Size size, const PictureMemory& out) {
    const device::Fields& fields = cutout.memory().fields();
    const device::Source source = cutout.pictureAt(size, stream_.get());
    uploadLook(look, fields.size);
    stages_.start(stream_.get(), true);
    if (look.background.kind == Background::Kind::blur && cutout.needsBlur(look.background.blurStrength)) {
        pass_.blur(fields, deviceLook(), stream_.get());
        stages_.mark("blur", stream_.get());
    }
    show(source, fields, look, out);
}

void Slot::renderMatte(CudaCutout& cutout, const Look& look, Size size, const PictureMemory& out) {
    passStep(fault_, "composite");
    const device::Source source = cutout.pictureAt(size, stream_.get());
    uploadLook(look, cutout.memory().fields().size);
    stages_.start(stream_.get(), true);
    out.read.holdUp(stream_.get());
    device::renderMatte(source, cutout.memory().fields(), deviceLook(), out.pixels.as<std::uint8_t>(), stream_.get());
    stages_.mark("matte", stream_.get());
    out.ready.record(stream_.get());
}

void Slot::wait(StageTimes& times) const {
    passStep(fault_, "wait");
    stream_.wait();
    stages_.read(times);
}

void Slot::start(const Frame& frame,
                 const Look& look,
                 const FrameSettings& settings,
                 std::shared_ptr<const PictureMemory> out) {
    frame_ = frame;
    looked_ = look;
    out_ = std::move(out);
    timing_ = settings.timeLayers;
    bytesBefore_ = copy_.bytesUp();
    prepareFrame(*frame.image, look, settings);

    begin_.record(stream_.get());
    uploadLook(look, memory_.fields().size);
    stages_.start(stream_.get(), timing_);
    upload(*frame.image, memory_);
    findMatte(look, settings);
    show(memory_.picture(), memory_.fields(), look, *out_);
    done_.record(stream_.get());
}

void Slot::prepareFrame(const Image& image, const Look& look, const FrameSettings& settings) {
    const Size size = image.size();
    const PixelFormat format = image.format();
    if (format == PixelFormat::gray8) {
        throw Error(Area::input, "A frame without colour can't be cut out: choose another format of the camera.");
    }
    const bool fits = memory_.picture().size == size && memory_.picture().format == format;
    if (!fits || !warm_) passStep(fault_, "prepare");
    pass_.prepare(size, settings.input, isTended(look));
    settings.live->prepare(settings.input, isTended(look), stream_.get());
    if (fits) return;
    recorded_ = {};
    memory_ = {};
    memory_ = FrameMemory(size, format, std::make_shared<const DeviceBuffer>(FrameMemory::bytes(size, format)));
}

/// The whole way from the uploaded pixels to the fields, as one graph. It runs once before it is recorded, because
/// kernels are loaded when they first run, which must not be while a graph is recorded.
void Slot::findMatte(const Look& look, const FrameSettings& settings) {
    passStep(fault_, "network");
    const cudaStream_t stream = stream_.get();
    const Recording wanted{.size = memory_.picture().size,
                           .format = memory_.picture().format,
                           .blurred = look.background.kind == Background::Kind::blur,
                           .tended = isTended(look),
                           .passVersion = pass_.version(),
                           .liveVersion = settings.live->version()};
    const auto enqueue = [&] {
        pass_.run(memory_, {&control().alarm, timing_ ? &layers_ : nullptr, settings.live, wanted.tended, deviceLook()},
                  stream, stages_);
        if (!wanted.blurred) return;
        pass_.blur(memory_.fields(), deviceLook(), stream);
        stages_.mark("blur", stream);
    };
    if (!(recorded_ == wanted)) {
        plain_ = Graph();
        timed_ = Graph();
        warm_ = false;
        recorded_ = wanted;
    }
    control().alarm = 0;
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

Output Slot::finish(const std::shared_ptr<Downloader>& downloader) {
    passStep(fault_, "wait");
    done_.wait();
    Output output;
    output.picture = std::make_shared<CudaPicture>(
        std::move(out_), memory_.picture().size, looked_.background.kind != Background::Kind::transparent, downloader);
    output.frame = frame_.number;
    output.captured = frame_.captured;
    output.bytesUp = copy_.bytesUp() - bytesBefore_;
    output.matteFault = matteFault();
    if (timing_) {
        stages_.read(output.times);
        StageTimes layers;
        layers_.read(layers);
        for (const StageTime& layer : layers) output.layerMs.push_back(float(layer.ms));
    } else {
        output.times.push_back({"total", double(done_.msSince(begin_))});
    }
    frame_ = {};
    looked_ = {};
    return output;
}

void Slot::drop() {
    (void)cudaStreamSynchronize(stream_.get());  // an error of what is dropped is nobody's any more
    cudaGetLastError();
    frame_ = {};
    looked_ = {};
    out_.reset();
}

}  // namespace matte
