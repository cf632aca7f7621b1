// SPDX-License-Identifier: Apache-2.0
// libvips as this program uses it: only its readers of common formats that are safe with any file, no cache of
// operations, nothing printed. For .cpp files that speak libvips. Any thread.
#pragma once

#include <string>

namespace matte {

/// Starts libvips, once. Throws Error(input) when it can't be.
void startVips();

/// Collects what libvips warns of on this thread while it lives. One at a time on a thread.
class VipsWarnings {
public:
    VipsWarnings();
    ~VipsWarnings();
    VipsWarnings(const VipsWarnings&) = delete;
    VipsWarnings& operator=(const VipsWarnings&) = delete;

    /// One a line.
    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] bool mention(const char* words) const { return text_.find(words) != std::string::npos; }

private:
    std::string text_;
};

}  // namespace matte
