// SPDX-License-Identifier: Apache-2.0
// HeadlessRun: the window driven from the command line: it starts the source by itself, ends after so many frames,
// writes the statistics and the trace, and gives the exit code. GUI thread.
//
//     HeadlessRun run(window, {.frames = 600, .statistics = "run.json"});
//     run.begin();   // ends the event loop with the exit code
#pragma once

#include <QObject>
#include <QString>

#include <memory>
#include <optional>
#include <vector>

#include "gui/live/live_footprint.h"
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
    /// A background that was asked for is read before frames are counted; one that is remembered may come later.
    void begin();
    /// Writes what is still to be written: the window was closed by hand. The exit code so far.
    int finish();
    /// A signal ends it: with a code of its own, unless it was the user's window with no frames to count.
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
