// SPDX-License-Identifier: Apache-2.0
// One line on the terminal that shows how far a batch is; nothing at all when stderr is no terminal. Main thread.
#pragma once

#include <string>

namespace matte {

class ProgressBar {
public:
    /// `total` steps. Colourless when NO_COLOR is set (no-color.org).
    ProgressBar(int total, bool wanted);
    ~ProgressBar() { clear(); }
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    void show(int done, const std::string& what);
    /// Takes the line away, so that something else can be printed.
    void clear();

private:
    int total_;
    bool enabled_, colored_, shown_ = false;
};

}  // namespace matte
