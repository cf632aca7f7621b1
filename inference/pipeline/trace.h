// SPDX-License-Identifier: Apache-2.0
// Trace: a timeline of the program's threads and the GPU's streams, written in the Trace Event Format for
// chrome://tracing and Perfetto. add() and Span on any thread: they hold a lock only to copy, and never allocate.
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
    static constexpr std::size_t kMostSpans = 1'000'000;  ///< some minutes of live video; later spans are only counted

    /// finish() writes the file.
    explicit Trace(std::filesystem::path path);

    /// Copies `track` and `name`, truncated to kNameBytes - 1 characters.
    void add(const char* track, const char* name, Time begin, Time end, std::uint64_t frame);
    /// Adds a frame's stages back to back, ending at `done`, when take() returned, because the device's clock can't be
    /// compared with the host's.
    void addStages(const Output& output, Time done);
    [[nodiscard]] std::size_t spans() const;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    /// Writes the spans recorded so far without blocking threads that record. Throws Error(output); the spans are kept,
    /// and finish() may be called again.
    void finish() const;

    /// Records the time from its construction to its destruction; does nothing if `trace` is null.
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
    mutable std::mutex mutex_;  ///< guards the members below
    std::vector<Event> events_;
    std::size_t missed_ = 0;
};

}  // namespace matte
