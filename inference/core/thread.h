// SPDX-License-Identifier: Apache-2.0
// Exception barriers for the top of every thread and for callbacks from C libraries. Any thread.
//
//     const auto work = [this](const std::stop_token& stop) { read(stop); };
//     const auto failed = [this](const char* sentence, ErrorCategory category) { tell(sentence, category); };
//     thread_ = startThread("a camera", ErrorCategory::source, work, failed);
#pragma once

#include <cstdio>
#include <exception>
#include <new>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "inference/core/error.h"

namespace matte {

/// Runs `work` and reports its exception to `failed` as a sentence and a category (`otherwise` unless it is an Error).
/// Cancelled is not reported, nor is an exception when there is no memory left for the report.
template <typename Work, typename Failed>
void guarded(const Work& work, const Failed& failed, ErrorCategory otherwise = ErrorCategory::engine) noexcept {
    const auto tell = [&failed](const char* sentence, ErrorCategory category) {
        try {
            failed(sentence, category);
        } catch (...) {  // NOLINT(bugprone-empty-catch): the report itself failed
        }
    };
    try {
        work();
    } catch (const Cancelled&) {  // NOLINT(bugprone-empty-catch)
    } catch (const Error& error) {
        tell(error.what(), error.category);
    } catch (const std::bad_alloc&) {
        tell("There is not enough memory: close other programs.", otherwise);
    } catch (const std::exception& error) {
        char sentence[256];
        std::snprintf(sentence, sizeof sentence, "Something unexpected happened (%s): please report it.", error.what());
        tell(sentence, otherwise);
    } catch (...) {
        tell("Something unexpected happened: please report it.", otherwise);
    }
}

/// Ignores the failure.
inline void untold(const char*, ErrorCategory) {}

/// For callbacks from C libraries whose context pointer is a Self; no exception escapes.
template <typename Self, typename Call>
void calledBack(void* self, const Call& call) noexcept {
    guarded([&] { call(*static_cast<Self*>(self)); }, untold);
}

/// A thread that runs `work(stop)` in guarded() with `category`. Throws Error(`category`) when the system can't create
/// a thread for `what`, such as "a virtual camera".
template <typename Work, typename Failed>
[[nodiscard]] std::jthread startThread(const char* what, ErrorCategory category, Work work, Failed failed) {
    try {
        return std::jthread([category, work = std::move(work), failed = std::move(failed)](
                                const std::stop_token& stop) { guarded([&] { work(stop); }, failed, category); });
    } catch (const std::system_error&) {
        throw Error(category, std::string("The system has no thread left for ") + what + ": close other programs.");
    }
}

}  // namespace matte
