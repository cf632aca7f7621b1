// SPDX-License-Identifier: Apache-2.0
#include "gui/live/live_report.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "gui/timing/timing_text.h"
#include "inference/core/atomic_file.h"

namespace matte {
namespace {

QString text(const std::string& bytes) {
    return QString::fromStdString(bytes);
}

QJsonObject json(const StageStatistics& stage) {
    return {{"name", text(stage.name)},           {"newest", double(stage.newest)}, {"p50", double(stage.ms.p50)},
            {"p95", double(stage.ms.p95)},        {"p99", double(stage.ms.p99)},    {"most", double(stage.ms.most)},
            {"samples", qint64(stage.ms.samples)}};
}

QJsonArray json(const std::vector<StageStatistics>& stages) {
    QJsonArray array;
    for (const auto& stage : stages) array.append(json(stage));
    return array;
}

QJsonArray layers(const LiveStatistics& statistics) {
    QJsonArray array;
    for (std::size_t i = 0; i < statistics.layers.size(); ++i) {
        const LayerInfo& layer = statistics.layers[i];
        QJsonObject object = i < statistics.layerMs.size() ? json(statistics.layerMs[i]) : QJsonObject();
        object["name"] = text(layer.name);
        object["shape"] = text(layer.shape);
        object["kernel"] = text(layer.kernel);
        object["flops"] = layer.flops;
        object["bytes"] = layer.bytes;
        object["shareOfFrame"] = shareOfFrame(statistics, i);
        const auto share = shareOfLimit(statistics, i);
        object["shareOfLimit"] = share ? QJsonValue(*share) : QJsonValue();
        array.append(object);
    }
    return array;
}

QJsonObject engine(const EngineInfo& info) {
    QJsonArray warnings;
    for (const auto& warning : info.warnings) warnings.append(text(warning));
    return {{"kind", info.kind == EngineKind::cuda ? "cuda" : "cpu"},
            {"name", text(info.name)},
            {"reason", text(info.reason)},
            {"warnings", warnings}};
}

QJsonValue limit(const LiveStatistics& statistics) {
    if (!statistics.rates || !statistics.rates->known()) return {};
    return QJsonObject{{"flopsASecond", statistics.rates->flopsPerSecond},
                       {"bytesASecond", statistics.rates->bytesPerSecond},
                       {"by", text(statistics.rates->text)}};
}

QJsonObject implementation(const baselines::ImplementationStatus& status) {
    const auto name = [](const baselines::Implementation* by) {
        return by ? text(std::string(by->name)) : QString("product");
    };
    QJsonObject object{
        {"name", name(status.running)}, {"chosen", name(status.chosen)}, {"problem", text(status.problem)}};
    if (!status.running) return object;
    object["networkMs"] = status.ms;
    if (status.ms > 0) object["input"] = QString("%1x%2").arg(status.input.width).arg(status.input.height);
    if (!status.smaller.empty()) object["smallerBecause"] = text(status.smaller);
    if (!status.difference) return object;
    object["productMs"] = status.productMs;
    object["alphaDifference"] = QJsonObject{{"mean", status.difference->mean}, {"maximum", status.difference->maximum}};
    return object;
}

QJsonObject counters(const LiveStatistics& statistics) {
    return {{"in", qint64(statistics.framesIn)},
            {"out", qint64(statistics.framesOut)},
            {"dropped", qint64(statistics.framesDropped)},
            {"presented", qint64(statistics.framesPresented)},
            {"staleComposites", qint64(statistics.staleComposites)},
            {"matteFailures", qint64(statistics.matteFailures)},
            {"mattesRefused", qint64(statistics.mattesRefused)},
            {"matteLosses", matteLosses(statistics)},
            {"engineFailures", qint64(statistics.engineFailures)}};
}

QJsonArray json(const std::vector<Footprint>& footprints) {
    QJsonArray array;
    for (const Footprint& at : footprints) {
        array.append(QJsonObject{{"frame", qint64(at.frame)},
                                 {"residentBytes", at.residentBytes},
                                 {"threads", at.threads},
                                 {"fileDescriptors", at.fileDescriptors},
                                 {"glObjects", at.glObjects}});
    }
    return array;
}

QString csvLine(const QString& group, const StageStatistics& stage) {
    const auto number = [](float value) { return QString::number(double(value), 'f', 4); };
    return QStringList{group,
                       '"' + text(stage.name).replace('"', "\"\"") + '"',
                       number(stage.newest),
                       number(stage.ms.p50),
                       number(stage.ms.p95),
                       number(stage.ms.p99),
                       number(stage.ms.most),
                       QString::number(stage.ms.samples)}
               .join(',') +
           '\n';
}

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

QByteArray toJson(const LiveReport& report) {
    const LiveStatistics& statistics = report.statistics;
    const SourceInfo& source = report.status.source;
    QJsonArray histogram;
    for (const int count : statistics.latencyHistogram) histogram.append(count);
    const QJsonObject object{
        {"version", 1},
        {"program", "matte " MATTE_VERSION},
        {"source", QJsonObject{{"name", text(source.name)},
                               {"width", source.size.width},
                               {"height", source.size.height},
                               {"rate", source.rate},
                               {"format", text(source.format)}}},
        {"engine", engine(report.status.engine)},
        {"method", implementation(report.implementation)},
        {"graphics", QJsonObject{{"renderer", report.present.renderer},
                                 {"path", report.present.path},
                                 {"reason", report.present.reason},
                                 {"bytesUpAFrame", qint64(report.present.bytesUp)}}},
        {"frames", counters(statistics)},
        {"framesASecond", QJsonObject{{"in", statistics.fpsIn}, {"out", statistics.fpsOut}}},
        {"bytesAFrame", QJsonObject{{"up", qint64(statistics.bytesUp)}, {"down", qint64(statistics.bytesDown)}}},
        {"bytesInAll",
         QJsonObject{{"up", qint64(statistics.totalBytesUp)}, {"down", qint64(statistics.totalBytesDown)}}},
        {"frameMs", json(statistics.frame)},
        {"stagesMs", json(statistics.stages)},
        {"presentMs", json(statistics.present)},
        {"latencyMs", json(statistics.latency)},
        {"latencyHistogram", QJsonObject{{"mostMs", double(statistics.histogramMs)}, {"counts", histogram}}},
        {"layers", layers(statistics)},
        {"limit", limit(statistics)},
        {"footprint", json(report.footprints)},
        {"overlay", QJsonObject{{"drawMsASecond", report.overlay.drawMs},
                                {"frameOnMs", double(report.overlay.frameOnMs)},
                                {"frameOffMs", double(report.overlay.frameOffMs)}}},
    };
    return QJsonDocument(object).toJson();
}

QByteArray toCsv(const LiveReport& report) {
    const LiveStatistics& statistics = report.statistics;
    QString lines = "group,name,newest_ms,p50_ms,p95_ms,p99_ms,most_ms,samples\n";
    for (const auto* whole : {&statistics.frame, &statistics.present, &statistics.latency}) {
        lines += csvLine("frame", *whole);
    }
    for (const auto& stage : statistics.stages) lines += csvLine("stage", stage);
    for (const auto& layer : statistics.layerMs) lines += csvLine("layer", layer);
    return lines.toUtf8();
}

void writeReport(const QString& path, const LiveReport& report) {
    const QByteArray bytes = path.endsWith(".csv", Qt::CaseInsensitive) ? toCsv(report) : toJson(report);
    writeFile(path.toStdString(),
              {reinterpret_cast<const std::uint8_t*>(bytes.constData()), std::size_t(bytes.size())});
}

}  // namespace matte
