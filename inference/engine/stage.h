// SPDX-License-Identifier: Apache-2.0
// The stages of a picture's way through an engine, and how long each took. Every backend reports the same stages; a
// program adds its own reading and writing. Any thread.
//
//     { const StageTimer timer(output.times, Stage::blur); blur(); }
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace matte {

enum class Stage : std::uint8_t {
    decode,           ///< the file, by the program
    prepare,          ///< once a size: memory, and the network for its input
    upload,           ///< to the GPU
    preprocess,       ///< the picture as the network's input
    network,          ///< the first pass
    secondPass,       ///< photos: matting/two_pass_refinement.h
    componentFilter,  ///< live: the guard, and without small regions and other people
    temporalFilter,   ///< live
    refine,           ///< the guided filter
    foreground,       ///< both sides' local colours
    plate,            ///< the background picture laid into the frame
    blur,             ///< the background
    lightWrap,        ///< the new background's light on the person
    composite,
    matte,     ///< the matte alone, in place of the composite
    compare,   ///< live: a baseline's matte with the product's
    download,  ///< from the GPU, by the program
    encode,    ///< the file, by the program
    total,     ///< all of it, where it is not timed by stages
};
constexpr std::size_t kStages = std::size_t(Stage::total) + 1;

/// As people read it, and as it is written into files.
constexpr const char* stageName(Stage stage) {
    constexpr std::array<const char*, kStages> kNames{
        "decode",          "prepare", "upload",     "preprocess", "network", "second pass", "component filter",
        "temporal filter", "refine",  "foreground", "plate",      "blur",    "wrap",        "composite",
        "matte",           "compare", "download",   "encode",     "total"};
    return kNames[std::size_t(stage)];
}

/// Milliseconds of wall clock.
struct StageTime {
    Stage stage{};
    double ms = 0;
};
using StageTimes = std::vector<StageTime>;

/// Appends its own life to a list of times.
class StageTimer {
public:
    StageTimer(StageTimes& times, Stage stage) : times_(times), stage_(stage) {}
    ~StageTimer() {
        const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin_;
        times_.push_back({stage_, elapsed.count()});
    }
    StageTimer(const StageTimer&) = delete;
    StageTimer& operator=(const StageTimer&) = delete;

private:
    StageTimes& times_;
    Stage stage_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace matte
