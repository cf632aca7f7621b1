// SPDX-License-Identifier: Apache-2.0
// The program's only exception type. Thrown anywhere, caught only at the boundaries: the worker loop, window actions
// that open something, and the command line's main. The message says in one sentence what happened and what to do.
#pragma once

#include <stdexcept>
#include <stop_token>
#include <string>

namespace matte {

/// What the error is about; the command line maps it to an exit code. `source`: a camera or another live source is not
/// available now, but may be later.
enum class ErrorCategory { input = 1, output, model, engine, usage, source };

struct Error : std::runtime_error {
    Error(ErrorCategory where, const std::string& sentence) : std::runtime_error(sentence), category(where) {}
    ErrorCategory category;
};

/// Thrown by a long operation whose stop token was triggered. Not an error, and not reported to the user.
struct Cancelled {};

inline void stopIfAsked(const std::stop_token& stop) {
    if (stop.stop_requested()) throw Cancelled{};
}

}  // namespace matte
