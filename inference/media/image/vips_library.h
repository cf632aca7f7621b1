// SPDX-License-Identifier: Apache-2.0
// libvips as this program uses it: nothing that it does not trust with any file, no cache of operations, nothing
// printed. Any thread.
#pragma once

#include <string>

namespace matte {

/// Starts libvips, once. Throws Error(input) when it can't be.
void startVips();

/// What libvips has warned of on this thread since this was last called, one a line.
std::string takeVipsWarnings();

}  // namespace matte
