// SPDX-License-Identifier: Apache-2.0
// Engine on an NVIDIA GPU: all steps from the upload of a picture to its composite run there, and the composite stays
// in device memory until its pixels are requested. Up to two live frames are under way, each in its own slot. Every
// device error becomes DeviceFailure. See engine.h for the rules.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "inference/cuda/slot.h"
#include "inference/engine/engine.h"

namespace matte {

class CudaEngine final : public Engine {
public:
    /// Uses the device from chooseDevice(). Throws DeviceFailure, also when the network fails its self-test.
    CudaEngine(std::shared_ptr<const UNet> unet, const EngineOptions& options, CudaFault fault = {});
    ~CudaEngine() override;

    [[nodiscard]] EngineInfo info() const override { return info_; }
    std::shared_ptr<Cutout> cutOut(std::shared_ptr<const Image> source, std::stop_token stop) override;
    Output composite(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) override;
    Image matte(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) override;

    [[nodiscard]] PixelMemory frameMemory() const override { return pageLockedMemory(); }
    [[nodiscard]] int slots() const override { return slotLimit_; }
    bool submit(const Frame& frame, const CompositeParams& params) override;
    Output take() override;
    void drop() override;
    void reset() override;
    [[nodiscard]] std::vector<LayerInfo> layers() const override;
    void timeLayers(bool on) override;
    std::optional<MachineRates> measureRates() override;

private:
    template <typename Work>
    auto guarded(const Work& work);
    [[nodiscard]] Planes testMatte(const Image& picture) const;
    void refineRegion(const CudaCutout& cutout, StageTimes& times, const std::stop_token& stop);
    std::shared_ptr<CudaCutout> cutOutAt(const std::shared_ptr<const Image>& source,
                                         Size input,
                                         const std::stop_token& stop);
    Slot* idleSlot();
    bool makeRoom(Size picture);
    bool timesNext();

    std::shared_ptr<const UNet> unet_;
    EngineOptions options_;
    CudaFault fault_;
    int device_;
    EngineInfo info_;
    std::shared_ptr<BufferPool<DeviceBuffer>> memory_;     ///< for cut-outs
    std::shared_ptr<BufferPool<PictureMemory>> pictures_;  ///< for finished pictures
    std::shared_ptr<Readback> readback_;
    std::shared_ptr<const CudaWeights> weights_;
    CudaNetwork::Choose choose_;
    std::unique_ptr<LiveMemory> live_;          ///< of the current source
    std::vector<std::unique_ptr<Slot>> slots_;  ///< the first also serves stills; the second is created on demand
    std::vector<Slot*> underWay_;               ///< submitted and not taken, oldest first
    int slotLimit_;
    int liveSide_;  ///< longest input side of live frames: options_.networkLongestSide, or less when memory is short
    bool timeLayers_ = false;
    int untilTimed_ = 0;  ///< frames until the next timed one
};

}  // namespace matte
