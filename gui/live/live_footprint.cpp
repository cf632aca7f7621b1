// SPDX-License-Identifier: Apache-2.0
#include "gui/live/live_footprint.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>

namespace matte {
namespace {

int entriesOf(const char* folder) {
    std::error_code error;
    int count = 0;
    for (auto entry = std::filesystem::directory_iterator(folder, error);
         !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        ++count;
    }
    return count;
}

}  // namespace

Footprint footprintNow(quint64 frame) {
    Footprint footprint;
    footprint.frame = frame;
    qint64 whole = 0, resident = 0;  // pages
    std::ifstream memory("/proc/self/statm");
    if (memory >> whole >> resident) footprint.residentBytes = resident * ::sysconf(_SC_PAGESIZE);
    footprint.threads = entriesOf("/proc/self/task");
    memory.close();
    const int open = entriesOf("/proc/self/fd");
    footprint.fileDescriptors = open > 0 ? open - 1 : 0;  // one is the listing's own
    return footprint;
}

}  // namespace matte
