// SPDX-License-Identifier: Apache-2.0
#include "inference/tools/cli/progress_bar.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace matte {
namespace {

bool isSet(const char* variable) {
    const char* value = std::getenv(variable);
    return value && *value;
}

bool canMoveCursor() {
    const char* terminal = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) && terminal && std::string_view(terminal) != "dumb";
}

int columns() {
    winsize size{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

ProgressBar::ProgressBar(int total, bool wanted)
    : total_(std::max(total, 1)), enabled_(wanted && canMoveCursor()), colored_(!isSet("NO_COLOR")) {}

void ProgressBar::show(int done, const std::string& what) {
    if (!enabled_) return;
    constexpr int kWidth = 24;
    const int filled = kWidth * done / total_;
    const std::string bar = std::string(std::size_t(filled), '#') + std::string(std::size_t(kWidth - filled), '-');
    const int room = std::max(0, columns() - kWidth - 9);  // brackets, per cent and spaces
    std::fprintf(stderr, "\r\x1b[K%s[%s]%s %3d%% %.*s", colored_ ? "\x1b[32m" : "", bar.c_str(),
                 colored_ ? "\x1b[0m" : "", 100 * done / total_, room, what.c_str());
    std::fflush(stderr);
    shown_ = true;
}

void ProgressBar::clear() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
    shown_ = false;
}

}  // namespace matte
