// SPDX-License-Identifier: Apache-2.0
// What both programs do before everything else.
#pragma once

namespace matte {

/// A file that may not grow any further (RLIMIT_FSIZE) fails to be written, where a signal would end the program. What
/// nobody catches ends it with one sentence and kExitUnexpected. `name`, a literal, is the program's.
void prepareProcess(const char* name);

}  // namespace matte
