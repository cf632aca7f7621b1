// SPDX-License-Identifier: Apache-2.0
// Engine: the U-Net, the refinement of its matte and the composite, on one device. Cutting out runs the network once; a
// changed Look only composites again.
//
//     auto engine = Engine::create(UNet::load(readModel(path)), {});
//     auto cutout = engine->cutOut(photo);
//     Output out = engine->composite(*cutout, look, photo->size());
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "inference/error.h"
#include "inference/image.h"
#include "inference/look.h"
#include "inference/model/unet.h"

namespace matte {

/// How long one stage took, in milliseconds of wall clock.
struct StageTime {
    std::string name;
    double ms = 0;
};
using StageTimes = std::vector<StageTime>;

enum class EngineKind { automatic = 1, cpu, cuda };

struct EngineOptions {
    EngineKind kind = EngineKind::automatic;
    int threads = 0;             ///< CPU threads; 0 means every core
    int networkLongestSide = 0;  ///< pixels of the network's input, longest side; 0 means the model's own
    bool allowBf16 = true;       ///< CPU: bf16 where the machine has AMX
    bool stageTimes = true;      ///< CUDA: measure each stage; without it cutOut() returns before the GPU is done
};

/// The device of an engine failed. `lasting`: for good, rather than for want of memory for one picture.
struct DeviceFailure : Error {
    DeviceFailure(const std::string& sentence, bool forGood) : Error(Area::engine, sentence), lasting(forGood) {}
    bool lasting;
};

struct EngineInfo {
    EngineKind kind = EngineKind::cpu;
    std::string name;                   ///< for people: "CPU, oneDNN 2.6.3, f32"
    std::string reason;                 ///< why a better engine was not taken; empty when this is the best
    std::vector<std::string> warnings;  ///< for instance a layer that runs on a reference primitive
};

/// One picture with its matte, ready to be composited. Belongs to the engine that made it, and may outlive it.
class Cutout {
public:
    virtual ~Cutout() = default;
    Cutout(const Cutout&) = delete;
    Cutout& operator=(const Cutout&) = delete;
    [[nodiscard]] virtual std::shared_ptr<const Image> source() const = 0;
    [[nodiscard]] virtual const StageTimes& times()
        const = 0;  ///< prepare (once a size), upload (CUDA), preprocess, network, refine, foreground

protected:
    Cutout() = default;
};

/// A finished picture: rgba8, opaque unless the background is transparent (straight alpha).
struct Output {
    std::shared_ptr<const Image> image;
    StageTimes times;
};

/// One thread at a time. Every call throws Error(engine) when the device fails and Cancelled when the token was
/// triggered.
class Engine {
public:
    /// The engine asked for; `automatic` takes CUDA when it is usable and the CPU otherwise. Throws Error(engine) when
    /// the one asked for is not there. Should the GPU fail later, the CPU takes over.
    static std::unique_ptr<Engine> create(UNet network, const EngineOptions& options);

    virtual ~Engine() = default;
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    [[nodiscard]] virtual EngineInfo info() const = 0;
    /// Runs the network on `source` (rgba8 or bgr8, any size) and refines its matte along the picture's edges.
    virtual std::shared_ptr<Cutout> cutOut(std::shared_ptr<const Image> source, std::stop_token stop = {}) = 0;
    /// The person over look.background at `size`: the source's size, or a smaller one of the same shape for a quick
    /// preview.
    virtual Output composite(Cutout& cutout, const Look& look, Size size, std::stop_token stop = {}) = 0;
    /// The matte alone, gray8 (255 = person), with the look's threshold and softness, at `size`.
    virtual Image matte(Cutout& cutout, const Look& look, Size size, std::stop_token stop = {}) = 0;

protected:
    Engine() = default;
};

}  // namespace matte
