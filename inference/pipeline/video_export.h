// SPDX-License-Identifier: Apache-2.0
// A whole video with another background, written to a file: every frame, at its time, as steady as live ones, with the
// video's sound. The calling thread does it all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "inference/core/composite_params.h"
#include "inference/engine/live_queue.h"
#include "inference/media/loss.h"

namespace matte {

struct VideoExport {
    std::filesystem::path input, output;
    CompositeParams params;                         ///< a transparent background: the file is transparent
    bool matteOnly = false;                         ///< the matte as grey pictures, white for the person
    std::vector<std::filesystem::path> alsoRead{};  ///< what else the output may not replace, such as the model
};

struct VideoExportResult {
    Size size;
    std::uint64_t frames = 0;
    double seconds = 0;        ///< of the video
    std::string codec;         ///< "h264"
    EngineInfo engine;         ///< of the last frame
    Loss loss;                 ///< of the video and its sound. What could be read is written
    Loss backgroundLoss;       ///< of the video behind the person
    std::string inputProblem;  ///< why the video could not be read on; else empty
    std::string matteProblem;  ///< how many pictures show the background alone for want of a matte; else empty

    /// Nothing is missing.
    [[nodiscard]] bool isWhole() const { return problem.empty(); }
    std::string problem;  ///< all of these as sentences; else empty
};

/// `output` may not be a file that is read: see refuseReplacing(). `progress` is called after each frame with how many
/// are done, and of how many (0: not known). Throws Error (input: no video, or none of its frames can be read; output;
/// engine), NoMatte when no frame gets one, and Cancelled: then there is no file, or the old one.
VideoExportResult exportVideo(LiveEngines engines,
                              const VideoExport& job,
                              const std::function<void(std::uint64_t done, double of)>& progress,
                              std::stop_token stop = {});

}  // namespace matte
