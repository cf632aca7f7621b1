// SPDX-License-Identifier: Apache-2.0
#include "gui/app/headless_run.h"

#include <algorithm>

#include "gui/app/command_line.h"
#include "gui/live/live_control.h"
#include "gui/photo/background_chooser.h"
#include "gui/photo/photo_control.h"
#include "gui/window/canvas.h"
#include "gui/window/main_window.h"
#include "gui/window/viewport.h"
#include "inference/core/error.h"

namespace matte {
namespace {

constexpr std::size_t kFootprints = 40;

}  // namespace

HeadlessRun::HeadlessRun(MainWindow& window, AutomationOptions automation, QObject* parent)
    : QObject(parent), window_(window), automation_(std::move(automation)) {
    LiveSession& live = window_.live();
    connect(&window_.photos(), &PhotoControl::engineKnown, this, &HeadlessRun::engineKnown);
    connect(&window_, &MainWindow::failed, this, &HeadlessRun::failed);
    connect(&live, &LiveSession::statusChanged, this, &HeadlessRun::statusChanged);
    connect(&live, &LiveSession::framePresented, this, &HeadlessRun::framePresented);
    connect(&window_.canvas().viewport(), &Viewport::failed, this,
            [this](const QString& sentence) { failed(sentence, ErrorCategory::engine); });
}

void HeadlessRun::framePresented(quint64 frames) {
    if (automation_.frames == 0 || code_) return;
    const quint64 step = std::max<quint64>(1, automation_.frames / kFootprints);
    if (frames % step == 0 && footprints_.size() < kFootprints)
        footprints_.push_back(window_.liveControl().footprint());
    if (frames >= automation_.frames) end(kExitOk);
}

void HeadlessRun::begin() {
    if (!window_.photos().engine().name.empty()) engineKnown(window_.photos().engine());
    if (!automation_.source || code_) return;
    if (automation_.frames > 0 && automation_.background && window_.backgrounds().isReading()) {
        connect(&window_.backgrounds(), &BackgroundChooser::settled, this, &HeadlessRun::begin,
                Qt::SingleShotConnection);
        return;
    }
    Viewport& viewport = window_.canvas().viewport();
    if (viewport.contextSeen()) return beginNow();
    // The engine is to run on the GPU that draws the window.
    connect(&viewport, &Viewport::deviceKnown, this, &HeadlessRun::beginNow, Qt::SingleShotConnection);
}

void HeadlessRun::beginNow() {
    if (!automation_.trace.isEmpty()) {
        trace_ = std::make_shared<Trace>(automation_.trace.toStdString());
        window_.live().record(trace_);
    }
    window_.liveControl().choose(*automation_.source);
    window_.liveControl().start();
}

void HeadlessRun::engineKnown(const EngineInfo& info) {
    if (!automation_.requireGpu || info.kind == EngineKind::cuda) return;
    const QString reason = QString::fromStdString(info.reason);
    end(kExitEngine, tr("No GPU does the work, as --require-gpu asks for. %1").arg(reason).trimmed());
}

/// Without frames to count it is the user's window, and only an engine that can't be had ends it. A remembered
/// background that is gone ends nothing: a colour stands in for it.
void HeadlessRun::failed(const QString& sentence, ErrorCategory category) {
    if (category == ErrorCategory::input && !automation_.background) return;
    const bool noEngine = automation_.requireGpu && window_.photos().engine().name.empty();
    if (automation_.frames > 0 || noEngine) end(exitCodeOf(category), sentence);
}

void HeadlessRun::statusChanged(const LiveStatus& status) {
    if (!status.engine.name.empty()) engineKnown(status.engine);
    if (automation_.frames == 0) return;
    if (!status.sourceProblem.empty()) {
        end(exitCodeOf(status.sourceCategory), QString::fromStdString(status.sourceProblem));
    } else if (!status.engineProblem.empty()) {
        end(exitCodeOf(status.engineCategory), QString::fromStdString(status.engineProblem));
    } else if (const std::string problem = window_.liveControl().report().implementation.problem; !problem.empty()) {
        end(kExitEngine, QString::fromStdString(problem));
    } else if (status.state == LiveStatus::State::ended) {
        end(kExitInput, tr("The source ended after %1 of %2 frames: ask for fewer.")
                            .arg(window_.live().framesPresented())
                            .arg(automation_.frames));
    }
}

void HeadlessRun::write() {
    window_.live().record(nullptr);
    if (trace_) trace_->finish();
    if (!automation_.statistics.isEmpty()) {
        LiveReport report = window_.liveControl().report();
        footprints_.push_back(window_.liveControl().footprint());
        report.footprints = std::move(footprints_);
        writeReport(automation_.statistics, report);
    }
    trace_.reset();
    automation_.statistics.clear();
}

int HeadlessRun::finish() {
    if (code_) return *code_;
    try {
        write();
        code_ = kExitOk;
    } catch (const Error& error) {
        complain(QString::fromStdString(error.what()));
        code_ = exitCodeOf(error.category);
    }
    return *code_;
}

void HeadlessRun::interrupt() {
    if (automation_.frames == 0) return;
    end(kExitInterrupted,
        tr("Interrupted after %1 of %2 frames.").arg(window_.live().framesPresented()).arg(automation_.frames));
}

void HeadlessRun::end(ExitCode code, const QString& sentence) {
    if (code_) return;
    if (!sentence.isEmpty()) complain(sentence);
    const int written = finish();
    if (code != kExitOk || written == kExitOk) code_ = code;
    window_.liveControl().stop();
    Q_EMIT ended(*code_);
}

}  // namespace matte
