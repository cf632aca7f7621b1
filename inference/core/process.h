// SPDX-License-Identifier: Apache-2.0
// Process setup, common to both programs.
#pragma once

namespace matte {

/// Call first in main(). Exceeding RLIMIT_FSIZE becomes a write error instead of a fatal signal. An uncaught exception
/// ends the program with one sentence and kExitUnexpected. `name` is the program's, a string literal.
void prepareProcess(const char* name);

}  // namespace matte
