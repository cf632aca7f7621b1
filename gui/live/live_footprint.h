// SPDX-License-Identifier: Apache-2.0
// Footprint: what the program holds of the system at one moment of a live run. What grows with the frames is a leak.
#pragma once

#include <QtGlobal>

namespace matte {

/// A plain value. 0 for what the system does not tell.
struct Footprint {
    quint64 frame = 0;         ///< that many were presented up to then
    qint64 residentBytes = 0;  ///< memory
    int threads = 0;
    int fileDescriptors = 0;
    int glObjects = 0;  ///< of the viewport's context
};

/// Without the OpenGL objects. Reads a few files of the system: some tenths of a millisecond. Any thread.
[[nodiscard]] Footprint footprintNow(quint64 frame);

}  // namespace matte
