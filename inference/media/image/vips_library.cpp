// SPDX-License-Identifier: Apache-2.0
#include "inference/media/image/vips_library.h"

#include <vips/vips.h>

#include "inference/core/error.h"

namespace matte {
namespace {

thread_local std::string* warnings = nullptr;

/// Takes the place of GLib's own, which prints.
void collect(const gchar*, GLogLevelFlags, const gchar* message, gpointer) {
    if (warnings) warnings->append(message).append("\n");
}

bool start() {
    g_log_set_handler("VIPS", GLogLevelFlags(G_LOG_LEVEL_MASK), collect, nullptr);
    if (vips_init("matte") != 0) return false;
    vips_block_untrusted_set(TRUE);
    vips_cache_set_max(0);  // a picture is read once
    // Reading runs on its caller's thread. Encoders do too, but for one thread that hands them the rows.
    vips_concurrency_set(1);
    return true;
}

}  // namespace

void startVips() {
    static const bool started = start();
    if (!started) {
        throw Error(ErrorCategory::input,
                    "The library that reads pictures (libvips) can't be started: install it again.");
    }
}

VipsWarnings::VipsWarnings() {
    warnings = &text_;
}

VipsWarnings::~VipsWarnings() {
    warnings = nullptr;
}

}  // namespace matte
