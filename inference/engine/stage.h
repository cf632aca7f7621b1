// SPDX-License-Identifier: Apache-2.0
// The processing stages of a picture and their times. Every backend reports the same stages; programs add decode,
// download and encode. Any thread.
//
//     { const StageTimer timer(output.times, Stage::blur); blur(); }
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "inference/core/stopwatch.h"

namespace matte {

enum class Stage : std::uint8_t {
    decode,           ///< decoding the file, by the program
    prepare,          ///< allocation and the network's setup, once per size
    upload,           ///< copy to the GPU
    preprocess,       ///< the picture to the network's input
    network,          ///< the first pass
    secondPass,       ///< photos: matting/two_pass_refinement.h
    componentFilter,  ///< live; on a GPU with the matte guard
    temporalFilter,   ///< live
    refine,           ///< guided filter
    foreground,       ///< local colours of foreground and background
    plate,            ///< fitting the background picture to the frame
    blur,             ///< background blur
    lightWrap,        ///< the new background's light near the person
    composite,
    matte,     ///< the matte, in place of the composite
    compare,   ///< live: comparing a baseline's matte with the product's
    download,  ///< copy from the GPU, by the program
    encode,    ///< encoding the file, by the program
    total,     ///< the whole, if single stages are not timed
};
constexpr std::size_t kStages = std::size_t(Stage::total) + 1;

/// The stage's name, for display and in files.
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

/// Appends the time from its construction to its destruction to a list.
class StageTimer {
public:
    StageTimer(StageTimes& times, Stage stage) : times_(times), stage_(stage) {}
    ~StageTimer() { times_.push_back({stage_, watch_.ms()}); }
    StageTimer(const StageTimer&) = delete;
    StageTimer& operator=(const StageTimer&) = delete;

private:
    StageTimes& times_;
    Stage stage_;
    Stopwatch watch_;
};

}  // namespace matte
