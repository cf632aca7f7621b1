// SPDX-License-Identifier: Apache-2.0
// Engine on an NVIDIA GPU: everything between the upload of a picture and its finished composite happens there, and the
// composite stays there until somebody asks for it. Two live frames are under way at a time, each in a slot of its own.
// Every failure of the device leaves as DeviceFailure. See engine.h for the rules.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "inference/cuda/device/page_locked.h"
#include "inference/cuda/slot.h"
#include "inference/engine/engine.h"

namespace matte {

class CudaEngine final : public Engine {
public:
    /// On the device that the options say, as chooseDevice() does. Throws DeviceFailure, also when the network fails
    /// its self-test there.
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
    std::shared_ptr<BufferPool<DeviceBuffer>> memory_;     ///< of cut-outs
    std::shared_ptr<BufferPool<PictureMemory>> pictures_;  ///< of what is shown
    std::shared_ptr<Readback> readback_;
    std::shared_ptr<const CudaWeights> weights_;
    CudaNetwork::Choose choose_;
    std::unique_ptr<LiveMemory> live_;          ///< of the current source
    std::vector<std::unique_ptr<Slot>> slots_;  ///< the first serves stills too, the second is made when it is needed
    std::vector<Slot*> underWay_;               ///< submitted and not taken, the oldest first
    int slotLimit_;
    int liveSide_;  ///< of the network's input for live frames: options_.networkLongestSide, or less on a full device
    bool timeLayers_ = false;
    int untilTimed_ = 0;  ///< frames
};

}  // namespace matte
