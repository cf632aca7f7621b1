// SPDX-License-Identifier: Apache-2.0
// HeadlessRun: runs the window by the options of the command line. Starts the source, ends after a number of frames,
// writes the statistics and the trace, and returns the exit code. GUI thread.
//
//     HeadlessRun run(window, {.frames = 600, .statistics = "run.json"});
//     run.begin();   // ends the event loop with the exit code
#pragma once

#include <QObject>
#include <QString>

#include <memory>
#include <optional>
#include <vector>

#include "gui/live/live_report.h"
#include "gui/live/live_source.h"
#include "inference/core/exit_code.h"
#include "inference/pipeline/trace.h"

namespace matte {

struct EngineInfo;
struct LiveStatus;
class MainWindow;

struct AutomationOptions {
    std::optional<LiveSource> source{};  ///< started at once
    quint64 frames = 0;                  ///< end after so many were presented; 0 for never
    QString statistics{}, trace{};       ///< files to write at the end; empty for none
    bool requireGpu = false;             ///< end when the CPU would be used
    bool background = false;  ///< one was asked for: counted frames are over it, and end where it can't be read
};

class HeadlessRun : public QObject {
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(HeadlessRun)

public:
    HeadlessRun(MainWindow& window, AutomationOptions automation, QObject* parent = nullptr);
    /// A background of the command line is read before frames are counted; a stored one may come later.
    void begin();
    /// Writes the files that are not written yet, after the user has closed the window. Returns the exit code.
    int finish();
    /// Ends it after a signal of the system; with kExitInterrupted when frames are counted.
    void interrupt();

Q_SIGNALS:
    void ended(int exitCode);

private:
    void engineKnown(const EngineInfo& info);
    void failed(const QString& sentence, ErrorCategory category);
    void statusChanged(const LiveStatus& status);
    void end(ExitCode code, const QString& sentence = {});
    void write();
    void beginNow();
    void framePresented(quint64 frames);

    MainWindow& window_;
    AutomationOptions automation_;
    std::shared_ptr<Trace> trace_;
    std::vector<Footprint> footprints_;  ///< at equal steps over the run
    std::optional<int> code_;            ///< once it has ended
};

}  // namespace matte
