// SPDX-License-Identifier: Apache-2.0
// Replaces the background of a video file: every frame keeps its time stamp, passes the live filters, and the sound is
// kept. Runs on the calling thread.
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
    CompositeParams params;                         ///< a transparent background gives a transparent video
    bool matteOnly = false;                         ///< write the matte in grey, white for the person
    std::vector<std::filesystem::path> alsoRead{};  ///< other files that the output must not replace, such as the model
};

struct VideoExportResult {
    Size size;
    std::uint64_t frames = 0;
    double seconds = 0;        ///< duration of the video
    std::string codec;         ///< "h264"
    EngineInfo engine;         ///< of the last frame
    Loss loss;                 ///< unreadable parts of video and sound; the rest is written
    Loss backgroundLoss;       ///< of the background video
    std::string inputProblem;  ///< why reading stopped before the end; else empty
    std::string matteProblem;  ///< how many frames show only the background for lack of a matte; else empty

    /// Whether there was no problem.
    [[nodiscard]] bool isWhole() const { return problem.empty(); }
    std::string problem;  ///< all problems, for display; else empty
};

/// `output` must not be an input file: see refuseReplacing(). `progress` is called after each frame with the number of
/// frames done and the total (0 if unknown). Throws Error (input: no video or no readable frame; output; engine),
/// NoMatte when no frame gets a matte, and Cancelled; on any exception the output is not created or replaced.
VideoExportResult exportVideo(LiveEngines engines,
                              const VideoExport& job,
                              const std::function<void(std::uint64_t done, double of)>& progress,
                              std::stop_token stop = {});

}  // namespace matte
