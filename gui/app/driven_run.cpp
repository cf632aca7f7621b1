// SPDX-License-Identifier: Apache-2.0
#include "gui/app/driven_run.h"

#include <algorithm>

#include "gui/app/command_line.h"
#include "gui/live/live_control.h"
#include "gui/window/canvas.h"
#include "gui/window/main_window.h"
#include "gui/window/viewport.h"
#include "inference/core/error.h"

namespace matte {
namespace {

constexpr std::size_t kFootprints = 40;

}  // namespace

DrivenRun::DrivenRun(MainWindow& window, Orders orders, QObject* parent)
    : QObject(parent), window_(window), orders_(std::move(orders)) {
    LiveSession& live = window_.live();
    connect(&window_, &MainWindow::engineKnown, this, &DrivenRun::engineKnown);
    connect(&window_, &MainWindow::failed, this, &DrivenRun::failed);
    connect(&live, &LiveSession::statusChanged, this, &DrivenRun::statusChanged);
    connect(&live, &LiveSession::framePresented, this, &DrivenRun::framePresented);
    connect(&window_.canvas().viewport(), &Viewport::failed, this,
            [this](const QString& sentence) { failed(sentence, Area::engine); });
}

void DrivenRun::framePresented(quint64 frames) {
    if (orders_.frames == 0 || code_) return;
    const quint64 step = std::max<quint64>(1, orders_.frames / kFootprints);
    if (frames % step == 0 && footprints_.size() < kFootprints) footprints_.push_back(window_.footprint());
    if (frames >= orders_.frames) end(kExitOk);
}

void DrivenRun::begin() {
    if (!window_.engine().name.empty()) engineKnown(window_.engine());
    if (!orders_.source || code_) return;
    if (orders_.frames > 0 && orders_.background && window_.awaitsBackground()) {
        connect(&window_, &MainWindow::backgroundSettled, this, &DrivenRun::begin, Qt::SingleShotConnection);
        return;
    }
    Viewport& viewport = window_.canvas().viewport();
    if (viewport.contextSeen()) return beginNow();
    // The engine is to run on the GPU that draws the window.
    connect(&viewport, &Viewport::deviceKnown, this, &DrivenRun::beginNow, Qt::SingleShotConnection);
}

void DrivenRun::beginNow() {
    if (!orders_.trace.isEmpty()) {
        trace_ = std::make_shared<Trace>(orders_.trace.toStdString());
        window_.live().record(trace_);
    }
    window_.liveControl().choose(*orders_.source);
    window_.liveControl().start();
}

void DrivenRun::engineKnown(const EngineInfo& info) {
    if (!orders_.requireGpu || info.kind == EngineKind::cuda) return;
    const QString reason = QString::fromStdString(info.reason);
    end(kExitEngine, tr("No GPU does the work, as --require-gpu asks for. %1").arg(reason).trimmed());
}

/// Without frames to count it is the user's window, and only an engine that can't be had ends it. A remembered
/// background that is gone ends nothing: a colour stands in for it.
void DrivenRun::failed(const QString& sentence, Area area) {
    if (area == Area::input && !orders_.background) return;
    const bool noEngine = orders_.requireGpu && window_.engine().name.empty();
    if (orders_.frames > 0 || noEngine) end(exitCodeOf(area), sentence);
}

void DrivenRun::statusChanged(const LiveStatus& status) {
    if (!status.engine.name.empty()) engineKnown(status.engine);
    if (orders_.frames == 0) return;
    if (!status.sourceProblem.empty()) {
        end(exitCodeOf(status.sourceArea), QString::fromStdString(status.sourceProblem));
    } else if (!status.engineProblem.empty()) {
        end(exitCodeOf(status.engineArea), QString::fromStdString(status.engineProblem));
    } else if (const std::string problem = window_.methodStatus().problem; !problem.empty()) {
        end(kExitEngine, QString::fromStdString(problem));
    } else if (status.state == LiveStatus::State::ended) {
        end(kExitInput, tr("The source ended after %1 of %2 frames: ask for fewer.")
                            .arg(window_.live().framesPresented())
                            .arg(orders_.frames));
    }
}

void DrivenRun::write() {
    window_.live().record(nullptr);
    if (trace_) trace_->finish();
    if (!orders_.statistics.isEmpty()) {
        LiveReport report = window_.report();
        footprints_.push_back(window_.footprint());
        report.footprints = std::move(footprints_);
        writeReport(orders_.statistics, report);
    }
    trace_.reset();
    orders_.statistics.clear();
}

int DrivenRun::finish() {
    if (code_) return *code_;
    try {
        write();
        code_ = kExitOk;
    } catch (const Error& error) {
        complain(QString::fromStdString(error.what()));
        code_ = exitCodeOf(error.area);
    }
    return *code_;
}

void DrivenRun::interrupt() {
    if (orders_.frames == 0) return;
    end(kExitInterrupted,
        tr("Interrupted after %1 of %2 frames.").arg(window_.live().framesPresented()).arg(orders_.frames));
}

void DrivenRun::end(ExitCode code, const QString& sentence) {
    if (code_) return;
    if (!sentence.isEmpty()) complain(sentence);
    const int written = finish();
    if (code != kExitOk || written == kExitOk) code_ = code;
    window_.liveControl().stop();
    Q_EMIT ended(*code_);
}

}  // namespace matte
