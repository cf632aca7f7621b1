// SPDX-License-Identifier: Apache-2.0
#include "gui/timing/timing_text.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>

namespace matte {
namespace {

QString text(const char* source) {
    return QCoreApplication::translate("matte::TimingChart", source);
}

bool isMeasured(const LiveStatistics& statistics, std::size_t layer) {
    return layer < statistics.layers.size() && layer < statistics.layerMs.size();
}

QString digits(double ms) {
    return QString::number(ms, 'f', ms < 1 ? 3 : ms < 10 ? 2 : ms < 100 ? 1 : 0);
}

}  // namespace

QString milliseconds(double ms) {
    return digits(ms) + " ms";
}

QString percentiles(double p95, double p99) {
    return text("p95 %1   p99 %2 ms").arg(digits(p95), digits(p99));
}

QString dataSize(double bytes) {
    return QLocale::system().formattedDataSize(qint64(bytes), 1, QLocale::DataSizeSIFormat);
}

QString percent(std::optional<double> share) {
    return share ? QString::number(100 * *share, 'f', *share < 0.1 ? 1 : 0) + " %" : QString("–");
}

double shareOfFrame(const LiveStatistics& statistics, std::size_t layer) {
    const double frame = double(statistics.frame.ms.p50);
    return frame > 0 && isMeasured(statistics, layer) ? double(statistics.layerMs[layer].ms.p50) / frame : 0;
}

std::optional<double> shareOfLimit(const LiveStatistics& statistics, std::size_t layer) {
    if (!statistics.rates || !isMeasured(statistics, layer)) return std::nullopt;
    const LayerInfo& info = statistics.layers[layer];
    return shareOfLimit(info.flops, info.bytes, double(statistics.layerMs[layer].ms.p50), *statistics.rates);
}

QStringList layerDetails(const LiveStatistics& statistics, std::size_t layer) {
    if (!isMeasured(statistics, layer)) return {};
    const LayerInfo& info = statistics.layers[layer];
    const double ms = std::max(double(statistics.layerMs[layer].ms.p50), 1e-6);
    return {
        QString("%1    %2    %3")
            .arg(QString::fromStdString(info.name), QString::fromStdString(info.shape),
                 QString::fromStdString(info.kernel)),
        text("%1, %2 of the frame, %3 of the hardware's limit    %4 MFLOP, %5 GFLOP/s    %6, %7 GB/s")
            .arg(milliseconds(ms), percent(shareOfFrame(statistics, layer)), percent(shareOfLimit(statistics, layer)))
            .arg(info.flops / 1e6, 0, 'f', 1)
            .arg(info.flops / ms / 1e6, 0, 'f', 1)
            .arg(dataSize(info.bytes))
            .arg(info.bytes / ms / 1e6, 0, 'f', 1)};
}

QString matteLosses(const LiveStatistics& statistics) {
    if (statistics.matteFailures == 0) return {};
    return text(
               "Frames not shown for want of a matte: %1 (not finite: %2; suddenly covering the whole picture, which "
               "hardly changed: %3).")
        .arg(statistics.matteFailures)
        .arg(statistics.matteFailures - statistics.mattesRefused)
        .arg(statistics.mattesRefused);
}

QString limitText(const LiveStatistics& statistics) {
    if (!statistics.rates) return text("The hardware's limit is not measured yet");
    if (!statistics.rates->known()) return text("The hardware's limit is not known for this engine");
    const double flops = statistics.rates->flopsPerSecond;
    const QString rate =
        flops < 1e12 ? text("%1 GFLOP/s").arg(flops / 1e9, 0, 'f', 0) : text("%1 TFLOP/s").arg(flops / 1e12, 0, 'f', 1);
    return text("The hardware's limit: %1, %2 GB/s").arg(rate).arg(statistics.rates->bytesPerSecond / 1e9, 0, 'f', 0);
}

}  // namespace matte
