// SPDX-License-Identifier: Apache-2.0
// The processing stages of a picture and their times. Every backend reports the same stages; programs add decode,
// download and encode. Any thread.
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
    decode,           ///< decoding the file, by the program
    prepare,          ///< allocation and the network's setup, once per size
    upload,           ///< copy to the GPU
    preprocess,       ///< the picture to the network's input
    network,          ///< the first pass
    secondPass,       ///< photos: matting/two_pass_refinement.h
    componentFilter,  ///< live: matte guard and component filter
    temporalFilter,   ///< live
    refine,           ///< guided filter
    foreground,       ///< local colours of foreground and background
    plate,            ///< fitting the background picture to the frame
    blur,             ///< background blur
    lightWrap,        ///< light wrap's blurred background
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
