// SPDX-License-Identifier: Apache-2.0
// Deinterlacer: whole pictures of those whose even and odd rows were filmed one after the other, as camcorders and
// television do; else each edge that moves would be a comb. One for each, in its time, by FFmpeg's bwdif (Weston's
// 3-field filter, BBC R&D, with yadif's checks), which is one picture late. Others pass as they are. One thread at a
// time.
#pragma once

#include <memory>

#include "inference/media/video/ffmpeg.h"

namespace matte {

class Deinterlacer {
public:
    static bool isNeededFor(const AVFrame& frame);

    /// For pictures like this one. Null where this FFmpeg has no such filter.
    static std::unique_ptr<Deinterlacer> make(const AVFrame& like, AVRational timeBase);
    ~Deinterlacer();
    Deinterlacer(const Deinterlacer&) = delete;
    Deinterlacer& operator=(const Deinterlacer&) = delete;

    /// Takes the next picture, which is empty afterwards; null: there are no more.
    void push(AVFrame* frame);
    /// Gives the next one that is ready; false when another must be pushed first.
    bool pull(AVFrame* frame);

private:
    struct State;
    explicit Deinterlacer(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace matte
