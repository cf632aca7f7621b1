// SPDX-License-Identifier: Apache-2.0
#include "inference/media/image/vips_library.h"

#include <utility>

#include <vips/vips.h>

#include "inference/core/error.h"

namespace matte {
namespace {

thread_local std::string warnings;

/// Takes the place of GLib's own, which prints.
void collect(const gchar*, GLogLevelFlags, const gchar* message, gpointer) {
    constexpr std::size_t kMost = 4096;
    if (warnings.size() < kMost) warnings.append(message).append("\n");
}

bool start() {
    g_log_set_handler("VIPS", GLogLevelFlags(G_LOG_LEVEL_MASK), collect, nullptr);
    if (vips_init("matte") != 0) return false;
    vips_block_untrusted_set(TRUE);
    vips_cache_set_max(0);    // a picture is read once
    vips_concurrency_set(1);  // readers run on their caller's thread, and encoders need one that hands them rows
    return true;
}

}  // namespace

void startVips() {
    static const bool started = start();
    if (started) return;
    throw Error(ErrorCategory::input, "The library that reads pictures (libvips) can't be started: install it again.");
}

std::string takeVipsWarnings() {
    return std::exchange(warnings, {});
}

}  // namespace matte
