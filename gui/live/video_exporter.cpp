// SPDX-License-Identifier: Apache-2.0
#include "gui/live/video_exporter.h"

#include <QFileInfo>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "inference/core/thread.h"

namespace matte {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kBetweenNews{200};

/// "2 min left"; empty where it can't be told yet.
QString timeLeft(Clock::duration taken, double share) {
    if (share < 0.01) return {};
    const double seconds = std::chrono::duration<double>(taken).count() * (1 - share) / share;
    if (seconds < 60) return VideoExporter::tr("%1 s left").arg(int(std::ceil(seconds)));
    return VideoExporter::tr("%1 min left").arg(int(std::ceil(seconds / 60)));
}

}  // namespace

void VideoExporter::begin(const VideoExport& job) {
    if (busy_) return;
    // What the thread says comes through the event queue, after this.
    guarded(
        [&] {
            thread_ = startThread(
                "the video", ErrorCategory::output, [this, job](const std::stop_token& stop) { work(job, stop); },
                untold);
            busy_ = true;
        },
        [this](const char* sentence, ErrorCategory category) { Q_EMIT failed(sentence, category); });
    if (!busy_) return;
    Q_EMIT busyChanged(tr("Loading the model"), -1);
}

/// News of a video reach nobody once its end was told.
void VideoExporter::tell(const std::function<void()>& news) {
    QMetaObject::invokeMethod(this, [this, news] {
        if (busy_) news();
    });
}

void VideoExporter::end(const std::function<void()>& news) {
    tell([this, news] {
        busy_ = false;
        Q_EMIT busyChanged({}, -1);
        news();
    });
}

void VideoExporter::work(const VideoExport& job, const std::stop_token& stop) {
    const QString path = QString::fromStdString(job.output.string()), name = QFileInfo(path).fileName();
    Clock::time_point begin, told;
    const auto progress = [&](std::uint64_t done, double of) {
        const auto now = Clock::now();
        if (done == 1) begin = now;
        if (now - told < kBetweenNews) return;
        told = now;
        const double share = of > 0 ? std::min(1.0, double(done) / of) : -1;
        const QString left = timeLeft(now - begin, share);
        const QString stage =
            share < 0 ? tr("Frame %1 of %2").arg(done).arg(name) : tr("%1 % of %2").arg(int(100 * share)).arg(name);
        const QString text = left.isEmpty() ? stage : stage + ", " + left;
        tell([this, text, share] { Q_EMIT busyChanged(text, share); });
    };
    const auto write = [&] {
        const VideoExportResult result = exportVideo(makeEngines_(), job, progress, stop);
        end([this, path, remark = QString::fromStdString(result.problem)] { Q_EMIT saved(path, remark); });
    };
    const auto writeOrCancel = [&] {
        try {
            write();
        } catch (const Cancelled&) {
            end([this] { Q_EMIT cancelled(); });
        }
    };
    guarded(writeOrCancel, [this](const char* sentence, ErrorCategory category) {
        end([this, text = QString(sentence), category] { Q_EMIT failed(text, category); });
    });
}

}  // namespace matte
