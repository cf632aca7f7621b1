// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/cuda_engine.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "inference/cpu/refine.h"
#include "inference/cuda/cuda_network.h"
#include "inference/cuda/devices.h"
#include "inference/cuda/plate.h"
#include "inference/cuda/probe.h"
#include "inference/cuda/stage_clock.h"
#include "inference/cuda/transfer.h"
#include "inference/error.h"

namespace matte {
namespace {

constexpr int kLeastMajor = 8;  // tensor cores with asynchronous copies

std::string capability(const CudaDevice& device) {
    return device.name + " (compute capability " + std::to_string(device.computeMajor) + "." +
           std::to_string(device.computeMinor) + ")";
}

/// Index of the device with the most multiprocessors among those that are new enough.
int chooseDevice(const CudaStatus& status) {
    if (!status.unavailable.empty()) throw DeviceFailure(status.unavailable, true);
    const auto usable = [](const CudaDevice& device) { return device.computeMajor >= kLeastMajor; };
    const auto rank = [&](const CudaDevice& device) { return usable(device) ? device.multiprocessors : -1; };
    const auto best = std::ranges::max_element(status.devices, {}, rank);
    if (!usable(*best)) {
        throw DeviceFailure("The " + capability(*best) + " is too old: a GPU of compute capability " +
                                std::to_string(kLeastMajor) + ".0 or newer is needed.",
                            true);
    }
    return int(best - status.devices.begin());
}

/// Makes `index` the thread's device, or says why it can't be used.
void openDevice(const CudaStatus& status, int index) {
    cudaError_t error = cudaSetDevice(index);
    if (error == cudaSuccess) error = probeKernels();
    if (error == cudaSuccess) return;
    cudaGetLastError();
    if (error == cudaErrorNoKernelImageForDevice) {
        throw DeviceFailure("This program was built for other GPUs (" MATTE_CUDA_ARCHITECTURES ") than the " +
                                capability(status.devices[std::size_t(index)]) +
                                ": build it with that one in CMAKE_CUDA_ARCHITECTURES.",
                            true);
    }
    throw DeviceFailure(cudaUnavailable(error, cudaGetErrorString(error), status.runtimeVersion, status.driverVersion),
                        true);
}

ConvKernel builtKernel() {
#ifdef MATTE_HAVE_SM90
    return CudaNetwork::bestKernel();
#else
    return ConvKernel::mma;
#endif
}

EngineInfo describe(const CudaStatus& status, int index, ConvKernel kernel) {
    EngineInfo info;
    info.kind = EngineKind::cuda;
    info.name = status.devices[std::size_t(index)].name + " (CUDA " + status.runtimeVersion +
                (kernel == ConvKernel::sm90 ? ", wgmma, f16)" : ", mma, f16)");
    return info;
}

void stopIfAsked(const std::stop_token& stop) {
    if (stop.stop_requested()) throw Cancelled{};
}

CudaCutout& mine(Cutout& cutout) {
    auto* own = dynamic_cast<CudaCutout*>(&cutout);
    if (!own) throw Error(Area::engine, "This cut-out was made by another engine: cut the picture out again.");
    return *own;
}

std::string tooSmall(Size picture) {
    return "The GPU's memory is too small for a picture of " + std::to_string(picture.width) + "x" +
           std::to_string(picture.height) + " pixels: close other programs that use it.";
}

/// Makes `resampling` that from one size to another; whether it was not that before.
bool change(device::Resampling& resampling, Size from, Size to) {
    if (resampling.from() == from && resampling.to() == to) return false;
    resampling = device::Resampling(from, to);
    return true;
}

}  // namespace

/// Everything on the device that is not a cut-out's.
struct CudaEngine::State {
    State(const UNet& unet, ConvKernel kernel, bool timed) : network(unet, kernel), clock(timed) {}

    Stream stream;  // first, so that it goes last
    CudaNetwork network;
    Graph run;  ///< the network at its size
    device::Resampling toInput, toGrid, enlarge;
    DeviceBuffer scratch, look{sizeof(device::LookBlock)}, output;
    Transfer transfer;
    Plate plate;
    StageClock clock;
};

/// The border at which the device's errors become DeviceFailure.
template <typename Work>
auto CudaEngine::guarded(const Work& work) {
    try {
        CUDA_CHECK(cudaSetDevice(device_));
        return work();
    } catch (const CudaError& error) {
        if (error.code == cudaErrorMemoryAllocation) {
            pool_->clear();
            throw DeviceFailure("The GPU's memory is full: close other programs that use it.", false);
        }
        throw DeviceFailure(
            std::string("The GPU failed (") + cudaGetErrorString(error.code) + "): start the program again to use it.",
            true);
    }
}

CudaEngine::CudaEngine(std::shared_ptr<const UNet> unet, const EngineOptions& options, CudaFault fault)
    : unet_(std::move(unet)), options_(options), fault_(std::move(fault)) {
    const CudaStatus status = queryCuda();
    device_ = chooseDevice(status);
    openDevice(status, device_);
    guarded([&] {
        step("start");
        const ConvKernel kernel = builtKernel();
        info_ = describe(status, device_, kernel);
        state_ = std::make_unique<State>(*unet_, kernel, options_.stageTimes);
    });
}

CudaEngine::~CudaEngine() = default;

EngineInfo CudaEngine::info() const {
    return info_;
}

void CudaEngine::step(const char* name) const {
    if (!fault_) return;
    if (const cudaError_t code = fault_(name); code != cudaSuccess) throw CudaError(code, name);
}

std::shared_ptr<Cutout> CudaEngine::cutOut(std::shared_ptr<const Image> source, std::stop_token stop) {
    return guarded([&]() -> std::shared_ptr<Cutout> {
        info_.warnings.clear();
        constexpr int kLeastSide = 128;
        const Size full = unet_->inputSize(source->size(), options_.networkLongestSide);
        for (int side = options_.networkLongestSide, next = full.longest() / 2;; side = next, next /= 2) {
            try {
                return cutOutWith(source, side, stop);
            } catch (const CudaError& error) {
                if (error.code != cudaErrorMemoryAllocation) throw;
                state_->run = Graph();
                pool_->clear();
                if (next < kLeastSide) throw DeviceFailure(tooSmall(source->size()), false);
                info_.warnings = {"The GPU's memory is nearly full: the network saw the last picture at " +
                                  std::to_string(next) + " instead of " + std::to_string(full.longest()) + " pixels."};
            }
        }
    });
}

std::shared_ptr<CudaCutout> CudaEngine::cutOutWith(const std::shared_ptr<const Image>& source,
                                                   int longestSide,
                                                   const std::stop_token& stop) {
    State& state = *state_;
    const auto begin = std::chrono::steady_clock::now();
    stopIfAsked(stop);
    step("prepare");
    auto cutout = std::make_shared<CudaCutout>(source, *pool_);
    prepare(source->size(), longestSide);
    const std::chrono::duration<double, std::milli> prepared = std::chrono::steady_clock::now() - begin;

    const cudaStream_t stream = state.stream.get();
    state.clock.start(stream);
    step("upload");
    state.transfer.upload(source->row(0), source->bytes(), cutout->pictureMemory(), stream);
    state.clock.mark("upload", stream);
    fillNetwork(*cutout, stop);
    refine(*cutout);
    if (state.clock.on()) {
        state.stream.wait();
        cutout->times_.push_back({"prepare", prepared.count()});
        state.clock.read(cutout->times_);
    }
    return cutout;
}

void CudaEngine::prepare(Size picture, int longestSide) {
    State& state = *state_;
    const Size input = unet_->inputSize(picture, longestSide), grid = shrunkTo(picture, kFieldLongestSide);
    bool changed = change(state.toInput, picture, input);
    changed = change(state.toGrid, picture, grid) || changed;
    changed = change(state.enlarge, input, grid) || changed;
    (void)scratchFor(grid);
    if (!state.run || !(state.network.size() == input)) {
        state.run = Graph();
        state.network.configure(input);
        CUDA_CHECK(cudaMemset(state.network.input(), 0, input.pixels() * 16));
        CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));
        // Once without the graph: kernels are loaded when they first run, which must not be while a graph is recorded.
        state.network.forward(state.stream.get());
        state.stream.wait();
        state.run = Graph(state.stream.get(), [&] { state.network.forward(state.stream.get()); });
    }
    // The weights were copied by the default stream, for which this one does not wait.
    if (changed) CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));
}

void CudaEngine::fillNetwork(const CudaCutout& cutout, const std::stop_token& stop) {
    State& state = *state_;
    const cudaStream_t stream = state.stream.get();
    device::shrinkToInput(cutout.picture(), state.toInput, unet_->mean(), unet_->deviation(), state.network.input(),
                          stream);
    state.clock.mark("preprocess", stream);
    stopIfAsked(stop);
    step("network");
    state.run.launch(stream);
    state.clock.mark("network", stream);
}

void CudaEngine::refine(const CudaCutout& cutout) {
    State& state = *state_;
    const cudaStream_t stream = state.stream.get();
    const Size grid = cutout.fields().size;
    const device::Scratch scratch = scratchFor(grid);
    device::shrinkToGuide(cutout.picture(), state.toGrid, scratch.guide, stream);
    device::resampleMatte(state.network.alpha(), state.enlarge, scratch.target, stream);
    device::fitGuidedFilter(cutout.fields(), scratch, guidedRadius(grid.longest(), state.network.size().longest()),
                            stream);
    state.clock.mark("refine", stream);
    device::estimateColors(cutout.fields(), scratch, stream);
    state.clock.mark("foreground", stream);
}

device::Scratch CudaEngine::scratchFor(Size grid) {
    DeviceBuffer& scratch = state_->scratch;
    if (scratch.bytes() < device::Scratch::bytes(grid)) {
        scratch = DeviceBuffer();
        scratch = DeviceBuffer(device::Scratch::bytes(grid));
    }
    return device::Scratch::in(scratch.data(), grid);
}

const device::LookBlock* CudaEngine::useLook(const Look& look, Size grid) {
    device::LookBlock block = device::lookBlock(look, grid);
    // Without its picture the background is its colour.
    if (block.kind == Background::Kind::image && !look.background.image) block.kind = Background::Kind::color;
    // Memory that is not page-locked has been read when this returns.
    CUDA_CHECK(
        cudaMemcpyAsync(state_->look.data(), &block, sizeof block, cudaMemcpyHostToDevice, state_->stream.get()));
    return state_->look.as<device::LookBlock>();
}

std::uint8_t* CudaEngine::outputOf(std::size_t bytes) {
    DeviceBuffer& output = state_->output;
    if (output.bytes() < bytes) {
        output = DeviceBuffer();
        output = DeviceBuffer(bytes);
    }
    return output.as<std::uint8_t>();
}

Image CudaEngine::download(Size size, PixelFormat format) {
    step("download");
    Image image(size, format);
    state_->transfer.download(state_->output.data(), image.bytes(), image.row(0), state_->stream.get());
    state_->clock.mark("download", state_->stream.get());
    return image;
}

Output CudaEngine::composite(Cutout& cutout, const Look& look, Size size, std::stop_token stop) {
    CudaCutout& own = mine(cutout);
    return guarded([&] {
        State& state = *state_;
        const cudaStream_t stream = state.stream.get();
        stopIfAsked(stop);
        step("composite");
        const device::Source source = own.pictureAt(size, stream);
        const device::LookBlock* block = useLook(look, own.fields().size);
        const std::uint8_t* plate = state.plate.laid(look.background, size, state.transfer, stream);
        std::uint8_t* out = outputOf(size.pixels() * 4);
        state.clock.start(stream);
        if (look.background.kind == Background::Kind::blur) {
            own.blur(look.background.blurStrength, scratchFor(own.fields().size), block, stream);
            state.clock.mark("blur", stream);
        }
        device::compositeOver(source, own.fields(), block, plate, out, stream);
        state.clock.mark("composite", stream);
        stopIfAsked(stop);
        Output output;
        output.image = std::make_shared<Image>(download(size, PixelFormat::rgba8));
        state.stream.wait();
        state.clock.read(output.times);
        return output;
    });
}

Image CudaEngine::matte(Cutout& cutout, const Look& look, Size size, std::stop_token stop) {
    CudaCutout& own = mine(cutout);
    return guarded([&] {
        State& state = *state_;
        stopIfAsked(stop);
        step("composite");
        const device::Source source = own.pictureAt(size, state.stream.get());
        const device::LookBlock* block = useLook(look, own.fields().size);
        state.clock.start(state.stream.get());
        device::renderMatte(source, own.fields(), block, outputOf(size.pixels()), state.stream.get());
        stopIfAsked(stop);
        return download(size, PixelFormat::gray8);
    });
}

}  // namespace matte
