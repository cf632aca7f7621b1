// SPDX-License-Identifier: Apache-2.0
// The pictures of a folder in the order of their names, as a source at a rate. One thread reads; info() by any thread.
#pragma once

#include <filesystem>
#include <mutex>
#include <vector>

#include "inference/media/frame_clock.h"
#include "inference/media/frame_source.h"

namespace matte {

class FolderSource : public FrameSource {
public:
    /// Throws Error(input) when the folder has no picture. 30 pictures a second when the settings don't say. Decoding a
    /// picture allocates it, unlike the other sources; its size and format (rgba8) are its own.
    FolderSource(const std::filesystem::path& folder, const CaptureSettings& settings);

    /// Pictures that can't be read are left out and counted; throws Error(input) with the reason when none can.
    std::optional<Frame> read(std::stop_token stop) override;
    [[nodiscard]] SourceInfo info() const override;
    [[nodiscard]] Loss loss() const override { return loss_; }

private:
    mutable std::mutex mutex_;  // guards the size in info_: read() against info()
    SourceInfo info_;
    bool repeat_;
    std::vector<std::filesystem::path> pictures_;
    FrameClock clock_;
    Loss loss_;
};

}  // namespace matte
