// SPDX-License-Identifier: Apache-2.0
// The engine interfaces. An engine runs the U-Net, the refinement of its matte and the composite on one device.
// PhotoEngine cuts a photo out once and composites it again when parameters change; LiveEngine processes frames in
// order. A backend implements both.
//
//     auto photos = createPhotoEngine(UNet::load(readModel(path)), {});
//     auto cutout = photos->cutOut(photo);
//     Output out = photos->composite(*cutout, params, photo->size());
//
//     while (engine.submit(frame, params)) frame = next();  // until it is full
//     Output shown = engine.take();
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "inference/core/composite_params.h"
#include "inference/core/error.h"
#include "inference/core/frame.h"
#include "inference/core/image.h"
#include "inference/core/machine_rates.h"
#include "inference/core/picture.h"
#include "inference/engine/stage.h"
#include "inference/matting/matte_guard.h"
#include "inference/model/unet.h"

namespace matte {

enum class EngineKind { automatic = 1, cpu, cuda };

/// fast: half precision (CUDA), or bf16 on processors with AMX (CPU), with single-precision accumulation. fp32: single
/// precision throughout, for comparison and debugging.
enum class Precision { fast = 1, fp32 };

constexpr int kAnyDevice = -1;

struct EngineOptions {
    EngineKind kind = EngineKind::automatic;
    int threads = 0;             ///< CPU threads; 0: one per processor
    int networkLongestSide = 0;  ///< longest side of the network's input, in pixels; 0: the model's default
    Precision precision = Precision::fast;
    bool tune = true;             ///< CUDA: time kernel configurations once per input size; false: repeatable runs
    int device = kAnyDevice;      ///< CUDA: index of the GPU; kAnyDevice: the one that draws the window, or the fastest
    std::string windowsDevice{};  ///< CUDA: 16-byte UUID of the GPU that draws the window; empty if unknown
    /// Loads the network to use on the CPU, from the start or after the GPU has failed; empty: the same network. Called
    /// on the thread that calls the engine; may throw Error(model).
    std::function<UNet()> cpuNetwork{};

    /// Whether photos of distant people get a second pass (matting/two_pass_refinement.h): unless an input size is set.
    [[nodiscard]] bool hasSecondPass() const { return networkLongestSide == 0; }
};

/// An engine's device failed. `lasting`: permanently; else it only lacked memory for one picture.
struct DeviceFailure : Error {
    DeviceFailure(const std::string& sentence, bool forGood)
        : Error(ErrorCategory::engine, sentence), lasting(forGood) {}
    bool lasting;
};

/// The network's output for a photo is not finite.
struct NoMatte : Error {
    NoMatte()
        : Error(ErrorCategory::model,
                "The model gives values that are not finite, which is no matte: choose another model.") {}
};

struct EngineInfo {
    EngineKind kind = EngineKind::cpu;
    std::string name;                   ///< for display: "CPU, oneDNN 2.6.3, f32"
    std::string reason;                 ///< why a better engine is not used; empty if this is the best
    std::vector<std::string> warnings;  ///< for example a layer that runs on a reference primitive
    bool fineDetail = false;  ///< CompositeParams::fineDetail has an effect: photos have a larger input than frames
};

/// A picture with its matte, ready for compositing. Only for the engine that created it; may outlive that engine.
class Cutout {
public:
    virtual ~Cutout() = default;
    Cutout(const Cutout&) = delete;
    Cutout& operator=(const Cutout&) = delete;
    [[nodiscard]] virtual std::shared_ptr<const Image> source() const = 0;
    [[nodiscard]] virtual const StageTimes& times() const = 0;  ///< stages prepare to foreground

protected:
    Cutout() = default;
};

/// A layer of the network as it runs, for profiling.
struct LayerInfo {
    std::string name;    ///< "down2.conv1"
    std::string shape;   ///< "64 -> 64, 3x3, 192x112"
    std::string kernel;  ///< its implementation: "wgmma 128x64x64, 4 stages"
    double flops = 0;    ///< per frame; a multiply-add counts as two
    double bytes = 0;    ///< minimum memory traffic per frame
};

/// A finished picture with its times.
struct Output {
    std::shared_ptr<const Picture> picture;
    StageTimes times;
    // Live only:
    std::uint64_t frame = 0;  ///< Frame::number of the frame shown, whose own matte is used
    std::chrono::steady_clock::time_point captured;
    std::size_t bytesUp = 0, bytesDown = 0;    ///< transfers between host and device for this frame
    std::vector<float> layerMs;                ///< per LiveEngine::layers(); empty unless timed by timeLayers()
    MatteFault matteFault = MatteFault::none;  ///< on a fault the picture is the background alone
    [[nodiscard]] bool matteUsable() const { return matteFault == MatteFault::none; }
};

/// Photos. One thread at a time. Every call throws DeviceFailure when the device fails and Cancelled when its token is
/// triggered.
class PhotoEngine {
public:
    virtual ~PhotoEngine() = default;
    PhotoEngine(const PhotoEngine&) = delete;
    PhotoEngine& operator=(const PhotoEngine&) = delete;

    [[nodiscard]] virtual EngineInfo info() const = 0;
    /// Runs the network on `source` (rgba8 or bgr8, any size), with a second pass if EngineOptions::hasSecondPass(),
    /// and refines the matte by the guided filter. Throws NoMatte.
    virtual std::shared_ptr<Cutout> cutOut(std::shared_ptr<const Image> source, std::stop_token stop = {}) = 0;
    /// The person over params.background at `size`: the source's size, or a smaller one of the same aspect ratio for a
    /// fast preview.
    virtual Output composite(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop = {}) = 0;
    /// The matte at `size`, gray8 (255 = person), with the parameters' threshold and softness.
    virtual Image matte(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop = {}) = 0;

protected:
    PhotoEngine() = default;
};

/// Live frames, in order. One thread at a time. Every call throws DeviceFailure when the device fails.
class LiveEngine {
public:
    virtual ~LiveEngine() = default;
    LiveEngine(const LiveEngine&) = delete;
    LiveEngine& operator=(const LiveEngine&) = delete;

    [[nodiscard]] virtual EngineInfo info() const = 0;
    /// The memory in which a source should allocate its frames, so that submit() need not copy them. It outlives the
    /// engine.
    [[nodiscard]] virtual PixelMemory frameMemory() const { return {}; }
    /// The number of frames that may currently be between submit() and take(); at least 1.
    [[nodiscard]] virtual int slots() const = 0;
    /// Queues a frame; an asynchronous device starts on it at once. False, without effect, when all slots are in use.
    /// The engine holds the frame until take() returns its output, or it is dropped.
    virtual bool submit(const Frame& frame, const CompositeParams& params) = 0;
    /// Waits for the oldest frame and returns its finished output at the frame's size. The picture's memory is reused
    /// once its last owner releases it.
    virtual Output take() = 0;
    /// Drops all frames under way, the filters' history and the recurrent state, after a failure or a change of engine.
    /// Keeps the matte guard's history (matte_guard.h).
    virtual void drop() = 0;
    /// Drops all frames under way and all history, for a new source.
    virtual void reset() = 0;
    /// The network's layers at the size of the last frame or picture; empty before the first.
    [[nodiscard]] virtual std::vector<LayerInfo> layers() const = 0;
    /// While on, outputs contain the time of each layer, starting with the next one. Where timing slows frames down,
    /// only some of the following frames are timed.
    virtual void timeLayers(bool on) = 0;
    /// Measures the device's peak rates in steps of at most some tens of milliseconds, one per call, while no frame is
    /// under way. Empty while steps remain; rates with known() false if they can't be measured.
    virtual std::optional<MachineRates> measureRates() { return MachineRates{}; }

protected:
    LiveEngine() = default;
};

/// A backend.
class Engine : public PhotoEngine, public LiveEngine {
public:
    [[nodiscard]] EngineInfo info() const override = 0;
};

}  // namespace matte
