// SPDX-License-Identifier: Apache-2.0
// What an engine is: the U-Net, the refinement of its matte and the composite, on one device. PhotoEngine cuts a photo
// out once and composites it again when the parameters change; LiveEngine takes frames in order. A backend is both.
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

/// fast: half precision (CUDA) or bf16 where the processor has AMX (CPU), sums in single precision. fp32: everything in
/// single precision, for comparing and finding faults.
enum class Precision { fast = 1, fp32 };

constexpr int kAnyDevice = -1;

struct EngineOptions {
    EngineKind kind = EngineKind::automatic;
    int threads = 0;             ///< CPU threads; 0 means every core
    int networkLongestSide = 0;  ///< pixels of the network's input, longest side; 0 means the model's own
    Precision precision = Precision::fast;
    bool tune = true;  ///< CUDA: time the kernels' configurations once for each input size; false: repeatable runs
    int device = kAnyDevice;      ///< CUDA: index of the GPU; kAnyDevice: the one that draws the window, or the fastest
    std::string windowsDevice{};  ///< CUDA: UUID of the GPU that draws the window, 16 bytes; empty when it isn't known
    /// Loads what a CPU runs in place of the network given, from the beginning or once the GPU has failed; empty: the
    /// same. Called by whoever calls the engine, and may throw Error(model).
    std::function<UNet()> cpuNetwork{};

    /// Photos of people far away get a second pass (matting/two_pass_refinement.h), unless the input's size was given.
    [[nodiscard]] bool hasSecondPass() const { return networkLongestSide == 0; }
};

/// The device of an engine failed. `lasting`: for good, rather than for want of memory for one picture.
struct DeviceFailure : Error {
    DeviceFailure(const std::string& sentence, bool forGood)
        : Error(ErrorCategory::engine, sentence), lasting(forGood) {}
    bool lasting;
};

/// The network's output for a photo is not finite, which is no matte.
struct NoMatte : Error {
    NoMatte()
        : Error(ErrorCategory::model,
                "The model gives values that are not finite, which is no matte: choose another model.") {}
};

struct EngineInfo {
    EngineKind kind = EngineKind::cpu;
    std::string name;                   ///< for people: "CPU, oneDNN 2.6.3, f32"
    std::string reason;                 ///< why a better engine was not taken; empty when this is the best
    std::vector<std::string> warnings;  ///< for instance a layer that runs on a reference primitive
    bool fineDetail = false;  ///< live frames follow CompositeParams::fineDetail: photos have a larger input than they
};

/// One picture with its matte, ready to be composited. Belongs to the engine that made it, and may outlive it.
class Cutout {
public:
    virtual ~Cutout() = default;
    Cutout(const Cutout&) = delete;
    Cutout& operator=(const Cutout&) = delete;
    [[nodiscard]] virtual std::shared_ptr<const Image> source() const = 0;
    [[nodiscard]] virtual const StageTimes& times() const = 0;  ///< from prepare to foreground

protected:
    Cutout() = default;
};

/// One layer of the network as it runs: for people who want to see where the time goes.
struct LayerInfo {
    std::string name;    ///< "down2.conv1"
    std::string shape;   ///< "64 -> 64, 3x3, 192x112"
    std::string kernel;  ///< what runs it: "wgmma 128x64x64, 4 stages"
    double flops = 0;    ///< of one frame: a multiplication and an addition are two
    double bytes = 0;    ///< that must at least be read and written
};

/// A finished picture and what it took.
struct Output {
    std::shared_ptr<const Picture> picture;
    StageTimes times;
    // Live only:
    std::uint64_t frame = 0;  ///< Frame::number of the frame that is shown; its matte is of the same frame
    std::chrono::steady_clock::time_point captured;
    std::size_t bytesUp = 0, bytesDown = 0;    ///< between host and device for this frame
    std::vector<float> layerMs;                ///< as LiveEngine::layers(); empty unless timeLayers() is on
    MatteFault matteFault = MatteFault::none;  ///< if it is one, the picture is the background alone
    [[nodiscard]] bool matteUsable() const { return matteFault == MatteFault::none; }
};

/// Photos. One thread at a time. Every call throws DeviceFailure when the device fails and Cancelled when the token was
/// triggered.
class PhotoEngine {
public:
    virtual ~PhotoEngine() = default;
    PhotoEngine(const PhotoEngine&) = delete;
    PhotoEngine& operator=(const PhotoEngine&) = delete;

    [[nodiscard]] virtual EngineInfo info() const = 0;
    /// Runs the network on `source` (rgba8 or bgr8, any size), with a second pass where EngineOptions::hasSecondPass()
    /// says so, and refines its matte along the picture's edges. Throws NoMatte.
    virtual std::shared_ptr<Cutout> cutOut(std::shared_ptr<const Image> source, std::stop_token stop = {}) = 0;
    /// The person over params.background at `size`: the source's size, or a smaller one of the same shape for a quick
    /// preview.
    virtual Output composite(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop = {}) = 0;
    /// The matte alone, gray8 (255 = person), with the parameters' threshold and softness, at `size`.
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
    /// Where a source should keep its frames, so that submit() need not copy them. Lasts longer than the engine.
    [[nodiscard]] virtual PixelMemory frameMemory() const { return {}; }
    /// How many frames may be between submit() and take() now; at least 1.
    [[nodiscard]] virtual int slots() const = 0;
    /// Starts on a frame, as far as the device does so by itself; false, and nothing happens, when all slots are taken.
    /// The engine holds the frame until take() has given its output, or it was dropped.
    virtual bool submit(const Frame& frame, const CompositeParams& params) = 0;
    /// The oldest frame's output at the frame's size, finished; waits for it. The picture's memory is used again once
    /// nobody holds the picture.
    virtual Output take() = 0;
    /// Drops every frame under way, and what filters remember of earlier ones: something failed, or another engine goes
    /// on. The doubt about a matte that jumps is kept (matte_guard.h).
    virtual void drop() = 0;
    /// Drops every frame under way and what was remembered of earlier ones: another source begins.
    virtual void reset() = 0;
    /// The network's layers at the size of the last frame or picture; empty before the first.
    [[nodiscard]] virtual std::vector<LayerInfo> layers() const = 0;
    /// While on, outputs say how long each layer took: the next one first. Where timing makes frames slower, only one
    /// in a few is timed after that.
    virtual void timeLayers(bool on) = 0;
    /// What this engine's device reaches at best; its known() is false where that can't be measured. Nothing as long as
    /// more steps are needed: one call is one step, of some tens of milliseconds at most, while no frame is under way.
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
