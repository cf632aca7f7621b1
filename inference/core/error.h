// SPDX-License-Identifier: Apache-2.0
// The one exception type of the program. Thrown anywhere, caught at the borders only: the worker loop, each window
// action that opens something, and the command line's main. The message is one sentence that says what happened and
// what to do.
#pragma once

#include <stdexcept>
#include <stop_token>
#include <string>

namespace matte {

/// Which part of the world the error is about; the command line turns it into its exit code.
/// `source` is a camera or another live source that can't be had now, and perhaps later.
enum class ErrorCategory { input = 1, output, model, engine, usage, source };

struct Error : std::runtime_error {
    Error(ErrorCategory where, const std::string& sentence) : std::runtime_error(sentence), category(where) {}
    ErrorCategory category;
};

/// Thrown out of a long operation when its stop token was triggered. Not an error: nobody is told.
struct Cancelled {};

inline void stopIfAsked(const std::stop_token& stop) {
    if (stop.stop_requested()) throw Cancelled{};
}

}  // namespace matte
