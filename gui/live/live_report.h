// SPDX-License-Identifier: Apache-2.0
// LiveReport: the figures of a live run, and their JSON and CSV forms. A plain value; any thread.
#pragma once

#include <QByteArray>
#include <QString>

#include <cstddef>
#include <vector>

#include "inference/baselines/live/implementation_switch.h"
#include "inference/pipeline/pipeline.h"

namespace matte {

/// What the program holds of the system at one moment of a run: what grows with the frames is a leak. 0 for what the
/// system does not tell.
struct Footprint {
    quint64 frame = 0;         ///< that many were presented up to then
    qint64 residentBytes = 0;  ///< memory
    int threads = 0;
    int fileDescriptors = 0;
    int glObjects = 0;  ///< of the viewport's context
};

/// Without the OpenGL objects. Reads a few files of the system: some tenths of a millisecond. Any thread.
[[nodiscard]] Footprint footprintNow(quint64 frame);

/// The path of the pictures to the screen.
struct PresentFacts {
    QString renderer;         ///< the graphics driver's name for its device
    QString path = "upload";  ///< "interop" when pictures stay on the device, or "upload"
    QString reason;           ///< why it is not interop
    std::size_t bytesUp = 0;  ///< of the newest picture, to the graphics driver
    bool operator==(const PresentFacts&) const = default;
};

/// What the overlay itself costs; 0 for what was not measured yet, or on too few frames to tell.
struct OverlayCost {
    double drawMs = 0;                    ///< of the GUI thread for each second that it is shown
    float frameOnMs = 0, frameOffMs = 0;  ///< a frame's p50 with the overlay and before it was shown
};

struct LiveReport {
    LiveStatus status;
    LiveStatistics statistics;
    PresentFacts present;
    OverlayCost overlay;
    std::vector<Footprint> footprints{};  ///< the newest last; empty unless the report is to be written
    baselines::ImplementationStatus implementation{};
};

/// One object with every number; times are in milliseconds.
[[nodiscard]] QByteArray toJson(const LiveReport& report);
/// One line for each time: group, name, newest, p50, p95, p99, most, samples.
[[nodiscard]] QByteArray toCsv(const LiveReport& report);
/// JSON, or CSV when the path ends so. Throws Error(output).
void writeReport(const QString& path, const LiveReport& report);

}  // namespace matte
