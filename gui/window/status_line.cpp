// SPDX-License-Identifier: Apache-2.0
#include "gui/window/status_line.h"

#include <QLabel>

#include <algorithm>

namespace matte {
namespace {

QString milliseconds(double ms) {
    return QString::number(ms, 'f', ms < 10 ? 1 : 0) + " ms";
}

QString details(const StageTimes& times) {
    QStringList lines;
    for (const StageTime& stage : times) {
        lines.append(QString("%1: %2").arg(QString(stageName(stage.stage)), milliseconds(stage.ms)));
    }
    return lines.join('\n');
}

QString liveStageName(LiveStage stage) {
    switch (stage) {
        case LiveStage::off: return StatusLine::tr("Off");
        case LiveStage::closing: return StatusLine::tr("Closing…");
        case LiveStage::opening: return StatusLine::tr("Opening…");
        case LiveStage::waiting: return StatusLine::tr("Waiting…");
        case LiveStage::running: break;
    }
    return {};
}

}  // namespace

StatusLine::StatusLine(QWidget* parent)
    : QStatusBar(parent), photo_(new QLabel(tr("No photo"))), times_(new QLabel), engine_(new QLabel) {
    setSizeGripEnabled(false);
    photo_->setAccessibleName(tr("Photo"));
    times_->setAccessibleName(tr("Times"));
    engine_->setAccessibleName(tr("Engine"));
    // It gives way: what does not fit is in the tool tip.
    engine_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    engine_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    addWidget(photo_);
    addWidget(times_);
    addPermanentWidget(engine_, 1);
}

void StatusLine::showPhoto(const OpenedPhoto& photo) {
    const Size size = photo.image->size();
    const QString name = fontMetrics().elidedText(photo.name, Qt::ElideMiddle, 260);
    photo_->setText(QString("%1   %2 × %3").arg(name).arg(size.width).arg(size.height));
    photo_->setToolTip(photo.path);
    networkMs_ = -1;
    for (const StageTime& time : photo.times) {
        if (time.stage == Stage::network || time.stage == Stage::secondPass)
            networkMs_ = std::max(networkMs_, 0.0) + time.ms;
    }
    compositeMs_ = -1;
    times_->setToolTip(details(photo.times));
    showTimes();
}

void StatusLine::showComposite(const Rendered& picture) {
    compositeMs_ = picture.ms;
    showTimes();
}

void StatusLine::showTimes() {
    QStringList parts;
    if (networkMs_ >= 0) parts.append(tr("Network %1").arg(milliseconds(networkMs_)));
    if (compositeMs_ >= 0) parts.append(tr("Composite %1").arg(milliseconds(compositeMs_)));
    times_->setText(parts.join("   "));
    fitEngine();
}

void StatusLine::clearPhoto() {
    photo_->setText(tr("No photo"));
    photo_->setToolTip({});
    times_->setToolTip({});
    networkMs_ = compositeMs_ = -1;
    showTimes();
}

void StatusLine::showStage(LiveStage stage, const LiveSource& source) {
    photo_->setText(fontMetrics().elidedText(nameOf(source), Qt::ElideMiddle, 260));
    photo_->setToolTip(formatOf(source));
    times_->setToolTip({});
    times_->setText(liveStageName(stage));
    fitEngine();
}

void StatusLine::showLive(const LiveStatus& status, const LiveStatistics& statistics) {
    const SourceInfo& source = status.source;
    const QString name = fontMetrics().elidedText(QString::fromStdString(source.name), Qt::ElideMiddle, 220);
    photo_->setText(QString("%1   %2 × %3").arg(name).arg(source.size.width).arg(source.size.height));
    photo_->setToolTip(QString::fromStdString(source.format));
    times_->setText(tr("%1 of %2 frames a second   %3 a frame")
                        .arg(statistics.fpsOut, 0, 'f', 1)
                        .arg(statistics.fpsIn, 0, 'f', 1)
                        .arg(milliseconds(double(statistics.frame.ms.p50))));
    times_->setToolTip(tr("%1 dropped, because the engine was busy").arg(statistics.framesDropped));
    fitEngine();
}

void StatusLine::showEngine(const EngineInfo& info) {
    engineText_ = QString::fromStdString(info.name);
    QStringList tip{engineText_};
    if (!info.reason.empty()) {
        engineText_ += "   " + QString::fromStdString(info.reason);
        tip.append(QString::fromStdString(info.reason));
    }
    for (const std::string& warning : info.warnings) tip.append(QString::fromStdString(warning));
    engine_->setToolTip(tip.join('\n'));
    fitEngine();
}

void StatusLine::fitEngine() {
    const int room = width() - photo_->sizeHint().width() - times_->sizeHint().width() - 60;
    engine_->setText(fontMetrics().elidedText(engineText_, Qt::ElideRight, std::max(room, 80)));
}

void StatusLine::resizeEvent(QResizeEvent* event) {
    QStatusBar::resizeEvent(event);
    fitEngine();
}

QString StatusLine::text() const {
    return QStringList{photo_->text(), times_->text(), engineText_}.join("   ");
}

}  // namespace matte
