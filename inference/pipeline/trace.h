// SPDX-License-Identifier: Apache-2.0
// Trace: spans of time on the program's threads and the GPU's streams, written in the Trace Event Format, which
// chrome://tracing and Perfetto open. add() and Span by any thread: they take a lock for the time of a copy and
// allocate nothing.
//
//     Trace trace(path);
//     { const Trace::Span span(&trace, "worker", "submit"); engine.submit(frame, params); }
//     trace.finish();
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <vector>

#include "inference/engine/engine.h"

namespace matte {

class Trace {
public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr std::size_t kMostSpans = 1'000'000;  ///< some minutes of live video; later spans are counted only

    /// Nothing is written before finish().
    explicit Trace(std::filesystem::path path);

    /// `track` and `name` are copied; what is longer than kNameBytes - 1 characters is cut.
    void add(const char* track, const char* name, Time begin, Time end, std::uint64_t frame);
    /// The stages of a frame, one after the other up to `done`, where take() returned: the device's own clock is
    /// another.
    void addStages(const Output& output, Time done);
    [[nodiscard]] std::size_t spans() const;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    /// Writes the file with what was recorded up to the call, and holds up nobody who records. Throws Error(output);
    /// what was recorded stays, and finish() may be tried again.
    void finish() const;

    /// Records its own lifetime; does nothing without a trace.
    class Span {
    public:
        Span(Trace* trace, const char* track, const char* name, std::uint64_t frame = 0)
            : trace_(trace), track_(track), name_(name), frame_(frame) {
            if (trace_) begin_ = std::chrono::steady_clock::now();
        }
        ~Span() {
            if (trace_) trace_->add(track_, name_, begin_, std::chrono::steady_clock::now(), frame_);
        }
        Span(const Span&) = delete;
        Span& operator=(const Span&) = delete;

    private:
        Trace* trace_;
        const char *track_, *name_;
        std::uint64_t frame_;
        Time begin_;
    };

private:
    static constexpr std::size_t kNameBytes = 24;
    struct Event {
        char track[kNameBytes], name[kNameBytes];
        Time begin, end;
        std::uint64_t frame;
    };

    std::filesystem::path path_;
    Time zero_ = std::chrono::steady_clock::now();
    mutable std::mutex mutex_;  ///< guards what follows
    std::vector<Event> events_;
    std::size_t missed_ = 0;
};

}  // namespace matte
