// SPDX-License-Identifier: Apache-2.0
// Engine on an NVIDIA GPU: everything between the upload of the picture and the download of the result runs there, in
// one stream. Every failure of the device leaves as DeviceFailure. See engine.h for the rules.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "inference/cuda/cuda_cutout.h"
#include "inference/engine.h"

namespace matte {

/// Called before each step ("start", "prepare", "upload", "network", "composite", "download"); what it returns is taken
/// for that step's result. For tests.
using CudaFault = std::function<cudaError_t(const std::string& step)>;

class CudaEngine final : public Engine {
public:
    /// On the fastest device that the program's kernels run on. Throws DeviceFailure.
    CudaEngine(std::shared_ptr<const UNet> unet, const EngineOptions& options, CudaFault fault = {});
    ~CudaEngine() override;

    [[nodiscard]] EngineInfo info() const override;
    std::shared_ptr<Cutout> cutOut(std::shared_ptr<const Image> source, std::stop_token stop) override;
    Output composite(Cutout& cutout, const Look& look, Size size, std::stop_token stop) override;
    Image matte(Cutout& cutout, const Look& look, Size size, std::stop_token stop) override;

private:
    struct State;
    template <typename Work>
    auto guarded(const Work& work);
    void step(const char* name) const;
    std::shared_ptr<CudaCutout> cutOutWith(const std::shared_ptr<const Image>& source,
                                           int longestSide,
                                           const std::stop_token& stop);
    void prepare(Size picture, int longestSide);
    void fillNetwork(const CudaCutout& cutout, const std::stop_token& stop);
    void refine(const CudaCutout& cutout);
    [[nodiscard]] device::Scratch scratchFor(Size grid);
    const device::LookBlock* useLook(const Look& look, Size grid);
    std::uint8_t* outputOf(std::size_t bytes);
    Image download(Size size, PixelFormat format);

    std::shared_ptr<const UNet> unet_;
    EngineOptions options_;
    CudaFault fault_;
    int device_;
    EngineInfo info_;
    std::shared_ptr<DevicePool> pool_ = std::make_shared<DevicePool>();
    std::unique_ptr<State> state_;
};

}  // namespace matte
