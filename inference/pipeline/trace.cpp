// SPDX-License-Identifier: Apache-2.0
#include "inference/pipeline/trace.h"

#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "inference/core/atomic_file.h"

namespace matte {

Trace::Trace(std::filesystem::path path) : path_(std::move(path)) {
    checkTarget(path_);
    events_.reserve(kMostSpans);  // so that they stay where they are; no page of it is touched before it is needed
}

void Trace::add(const char* track, const char* name, Time begin, Time end, std::uint64_t frame) {
    const std::scoped_lock lock(mutex_);
    if (events_.size() == kMostSpans) {
        ++missed_;
        return;
    }
    Event& event = events_.emplace_back();
    std::snprintf(event.track, sizeof event.track, "%s", track);
    std::snprintf(event.name, sizeof event.name, "%s", name);
    event.begin = begin;
    event.end = end;
    event.frame = frame;
}

void Trace::addStages(const Output& output, Time done) {
    for (auto stage = output.times.rbegin(); stage != output.times.rend(); ++stage) {
        const std::chrono::duration<double, std::milli> took(stage->ms);
        const Time begin = done - std::chrono::duration_cast<Time::duration>(took);
        add("engine", stageName(stage->stage), begin, done, output.frame);
        done = begin;
    }
}

std::size_t Trace::spans() const {
    const std::scoped_lock lock(mutex_);
    return events_.size();
}

void Trace::finish() const {
    const auto microseconds = [](auto duration) { return std::chrono::duration<double, std::micro>(duration).count(); };
    const auto [events, missed] = [this] {  // what is there already is never changed nor moved
        const std::scoped_lock lock(mutex_);
        return std::pair(std::span(events_), missed_);
    }();
    std::map<std::string, int> tracks;
    std::string text = "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"spansMissed\":" + std::to_string(missed) +
                       "},\"traceEvents\":[\n";
    auto append = [&text, first = true](const nlohmann::json& event) mutable {
        if (!first) text += ",\n";
        first = false;
        text += event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    };
    for (const Event& event : events) {
        const auto [track, isNew] = tracks.try_emplace(event.track, int(tracks.size()) + 1);
        if (isNew) {
            append(nlohmann::json{{"ph", "M"},
                                  {"name", "thread_name"},
                                  {"pid", 1},
                                  {"tid", track->second},
                                  {"args", {{"name", track->first}}}});
        }
        append(nlohmann::json{{"ph", "X"},
                              {"name", event.name},
                              {"pid", 1},
                              {"tid", track->second},
                              {"ts", microseconds(event.begin - zero_)},
                              {"dur", microseconds(event.end - event.begin)},
                              {"args", {{"frame", event.frame}}}});
    }
    text += "\n]}\n";
    writeFile(path_, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace matte
