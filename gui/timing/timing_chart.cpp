// SPDX-License-Identifier: Apache-2.0
#include "gui/timing/timing_chart.h"

#include <QCoreApplication>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gui/timing/timing_text.h"

namespace matte {
namespace {

constexpr int kMargin = 14, kGap = 18, kSummary = 36, kChart = 182, kDetails = 52, kTitle = 20, kRow = 17;
constexpr int kStageNames = 165, kFigurePixels = 10, kFigureRow = 14, kFigureRows = 3,
              kFigures = kFigureRows * kFigureRow, kFigureNames = 64;
constexpr QRgb kPaper = qRgba(16, 17, 20, 224), kInk = qRgb(240, 241, 243), kFaint = qRgb(166, 171, 180),
               kRule = qRgba(255, 255, 255, 36), kFill = qRgb(116, 143, 252), kWarn = qRgb(255, 146, 73);
constexpr double kHotShare = 0.15;  // of a frame: a layer that takes so much is red

QString text(const char* source) {
    return QCoreApplication::translate("matte::TimingChart", source);
}

/// From green over amber to red; the number stands beside it, so that the colour is never alone.
QColor heat(double share) {
    const double t = std::clamp(share / kHotShare, 0.0, 1.0);
    return QColor::fromHsvF(float(0.36 * (1 - t)), 0.62F, 0.92F);
}

/// Writes in one colour, elided at the rectangle's end.
void write(QPainter& painter, const QRect& rect, const QString& words, QRgb color, int flags = Qt::AlignLeft) {
    painter.setPen(QColor::fromRgb(color));
    painter.drawText(rect, flags | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(words, Qt::ElideRight, rect.width()));
}

void title(QPainter& painter, const QRect& area, const QString& words, const QString& right = {}) {
    const QRect line(area.left(), area.top(), area.width(), kTitle - 4);
    const int taken = right.isEmpty() ? 0 : painter.fontMetrics().horizontalAdvance(right) + 8;
    write(painter, line.adjusted(0, 0, -taken, 0), words, kFaint);
    write(painter, line, right, kInk, Qt::AlignRight);
}

void paintSummary(QPainter& painter, const QRect& area, const LiveReport& report) {
    const LiveStatistics& s = report.statistics;
    const QString path =
        report.present.path == "interop"
            ? text("pictures stay on the GPU")
            : text("upload%1").arg(report.present.reason.isEmpty() ? "" : ": " + report.present.reason);
    const QString first = text("%1 of %2 frames a second    %3 dropped    %4 stale    %5 without a matte    %6 failed")
                              .arg(s.fpsOut, 0, 'f', 1)
                              .arg(s.fpsIn, 0, 'f', 1)
                              .arg(s.framesDropped)
                              .arg(s.staleComposites)
                              .arg(s.matteFailures)
                              .arg(s.engineFailures);
    const QString second = text("A frame: %1 up, %2 down, %3 to the screen (%4)")
                               .arg(dataSize(double(s.bytesUp)), dataSize(double(s.bytesDown)),
                                    dataSize(double(report.present.bytesUp)), path);
    const QString losses = matteLosses(s);  // matter more than how much is copied
    const int half = area.height() / 2;
    const QRect below(area.left(), area.top() + half, area.width(), half);
    write(painter, QRect(area.left(), area.top(), area.width(), half), first, kInk);
    write(painter, below, losses.isEmpty() ? second : losses, losses.isEmpty() ? kFaint : kWarn);
}

void paintStages(QPainter& painter, const QRect& area, const LiveStatistics& statistics) {
    title(painter, area, text("Stages"), text("frame %1").arg(milliseconds(double(statistics.frame.ms.p50))));
    std::vector<StageStatistics> rows;
    for (const auto& stage : statistics.stages) {
        // What happens once for each size is no part of a frame.
        if (2 * stage.ms.samples >= statistics.frame.ms.samples) rows.push_back(stage);
    }
    rows.push_back(statistics.present);
    float longest = 1e-3F;
    for (const auto& row : rows) longest = std::max(longest, row.ms.p50);
    // All of them, however many: closer together, and smaller, where they need to be.
    const int step = std::min(kRow, (area.height() - kTitle) / int(rows.size()));
    const QFont usual = painter.font();
    QFont fitting = usual;
    fitting.setPixelSize(std::min(usual.pixelSize(), step - 3));
    painter.setFont(fitting);
    int y = area.top() + kTitle;
    for (const auto& row : rows) {
        const QRect line(area.left(), y, area.width(), step - 2);
        QRect bar = line;
        bar.setWidth(std::max(1, int(float(area.width()) * row.ms.p50 / longest)));
        painter.fillRect(bar, QColor::fromRgba((kFill & 0xffffffU) | 0x50000000U));
        write(painter, line.adjusted(4, 0, -70, 0), QString::fromStdString(row.name), kInk);
        write(painter, line.adjusted(0, 0, -4, 0), milliseconds(double(row.ms.p50)), kInk, Qt::AlignRight);
        y += step;
    }
    painter.setFont(usual);
}

double sumOf(const std::vector<StageStatistics>& stages) {
    double sum = 0;
    for (const auto& stage : stages) sum += double(stage.ms.p50);
    return sum;
}

/// One row of figures below the bars. Where they don't fit side by side, the slowest layers have theirs.
template <typename Figure>
void paintFigures(QPainter& painter,
                  const TimingLayout& layout,
                  int row,
                  const QString& name,
                  const std::vector<int>& slowestFirst,
                  const Figure& figure) {
    const QRect line(layout.layers.left(), layout.layers.bottom() + 1 - (kFigureRows - row) * kFigureRow,
                     layout.layers.width(), kFigureRow);
    write(painter, line, name, kFaint);
    std::vector<QRect> taken{QRect(line.left(), line.top(), kFigureNames, line.height())};
    for (const int i : slowestFirst) {
        const QString words = figure(std::size_t(i));
        const QRect column = layout.column(i, int(slowestFirst.size()));
        const int width = painter.fontMetrics().horizontalAdvance(words) + 4;
        const QRect place(column.center().x() - width / 2, line.top(), width, line.height());
        const auto inTheWay = [&](const QRect& other) { return other.intersects(place); };
        if (place.right() > line.right() + kGap / 2 || std::ranges::any_of(taken, inTheWay)) continue;
        taken.push_back(place);
        write(painter, place.adjusted(0, 0, 8, 0), words, kInk);
    }
}

void paintAllFigures(QPainter& painter, const TimingLayout& layout, const LiveStatistics& s) {
    std::vector<int> slowestFirst(s.layerMs.size());
    std::iota(slowestFirst.begin(), slowestFirst.end(), 0);
    std::ranges::stable_sort(slowestFirst, std::greater(), [&](int i) { return s.layerMs[std::size_t(i)].ms.p50; });
    const QFont usual = painter.font();
    QFont small = usual;
    small.setPixelSize(kFigurePixels);
    painter.setFont(small);
    const auto whole = [](std::optional<double> share) {
        return share ? QString::number(std::lround(100 * *share)) : QString("–");
    };
    paintFigures(painter, layout, 0, text("ms"), slowestFirst, [&](std::size_t i) {
        const double ms = double(s.layerMs[i].ms.p50);
        return QString::number(ms, 'f', ms < 0.1 ? 3 : ms < 1 ? 2 : 1);
    });
    paintFigures(painter, layout, 1, text("% of frame"), slowestFirst,
                 [&](std::size_t i) { return whole(shareOfFrame(s, i)); });
    paintFigures(painter, layout, 2, text("% of limit"), slowestFirst,
                 [&](std::size_t i) { return whole(shareOfLimit(s, i)); });
    painter.setFont(usual);
}

void paintLayers(QPainter& painter, const TimingLayout& layout, const TimingView& view) {
    const LiveStatistics& s = view.report.statistics;
    title(painter, layout.layers, text("Layers"),
          s.layerMs.empty() ? QString() : text("%1 together").arg(milliseconds(sumOf(s.layerMs))));
    const QRect chart = layout.layers.adjusted(0, kTitle, 0, -kFigures);
    painter.fillRect(chart.left(), chart.bottom() + 1, chart.width(), 1, QColor::fromRgba(kRule));
    if (s.layerMs.empty()) return write(painter, chart, text("Not measured yet"), kFaint, Qt::AlignHCenter);
    float longest = 1e-6F;
    for (const auto& layer : s.layerMs) longest = std::max(longest, layer.ms.p50);
    const int count = int(s.layerMs.size());
    for (int i = 0; i < count; ++i) {
        const QRect column = layout.column(i, count);
        const float ms = s.layerMs[std::size_t(i)].ms.p50;
        QRect bar = column.width() > 3 ? column.adjusted(1, 0, -1, 0) : column;  // a hundred layers leave no gaps
        bar.setTop(column.bottom() - std::max(1, int(float(column.height() - 4) * ms / longest)));
        painter.fillRect(bar, heat(shareOfFrame(s, std::size_t(i))));
        if (i == view.selected) {
            painter.setPen(QPen(QColor::fromRgb(kInk), 1));
            painter.setBrush(Qt::NoBrush);
            painter.drawRect(bar.adjusted(-1, -1, 0, 0));
        }
    }
    paintAllFigures(painter, layout, s);
}

void paintLatency(QPainter& painter, const QRect& area, const LiveStatistics& statistics) {
    const Percentiles& ms = statistics.latency.ms;
    title(painter, area, text("Camera to screen"), milliseconds(double(ms.p50)));
    const QRect chart = area.adjusted(0, kTitle, 0, -kRow);
    painter.fillRect(chart.left(), chart.bottom(), chart.width(), 1, QColor::fromRgba(kRule));
    const auto& bins = statistics.latencyHistogram;
    const int most = std::max(1, *std::max_element(bins.begin(), bins.end()));
    const double width = double(chart.width()) / double(bins.size());
    for (std::size_t i = 0; i < bins.size(); ++i) {
        const double height = double(chart.height()) * bins[i] / most;
        const QRectF bar(chart.left() + double(i) * width + 0.5, chart.bottom() - height, width - 1, height);
        painter.fillRect(bar, QColor::fromRgb(i + 1 == bins.size() ? kWarn : kFill));
    }
    const QRect below(area.left(), chart.bottom() + 2, area.width(), kRow);
    const QString line = percentiles(double(ms.p95), double(ms.p99));
    const QString end = text("%1 ms").arg(double(statistics.histogramMs));
    write(painter, below.adjusted(0, 0, -painter.fontMetrics().horizontalAdvance(end) - 8, 0), line, kFaint);
    write(painter, below, end, kFaint, Qt::AlignRight);
}

void paintSparkline(QPainter& painter, const QRect& area, const std::deque<float>& history) {
    if (history.size() < 2) return;
    const float most = std::max(1e-6F, *std::max_element(history.begin(), history.end()));
    QPolygonF line;
    for (std::size_t i = 0; i < history.size(); ++i) {
        line.append({area.left() + double(area.width()) * double(i) / double(history.size() - 1),
                     area.bottom() - double(area.height()) * double(history[i] / most)});
    }
    painter.setPen(QPen(QColor::fromRgb(kFill), 1.5));
    painter.drawPolyline(line);
}

void paintDetails(QPainter& painter, const QRect& area, const TimingView& view) {
    const LiveStatistics& s = view.report.statistics;
    const auto index = std::size_t(view.selected);
    const QStringList lines = layerDetails(s, index);
    if (lines.isEmpty()) return;
    const int sparkline = std::min(160, area.width() / 4), half = area.height() / 2;
    const QRect words = area.adjusted(0, 0, -sparkline - kGap, 0);
    write(painter, QRect(words.left(), words.top(), words.width(), half), lines[0], kInk);
    write(painter, QRect(words.left(), words.top() + half, words.width(), half), lines[1], kFaint);
    if (view.history && index < view.history->size()) {
        paintSparkline(painter, QRect(area.right() - sparkline, area.top() + 6, sparkline, area.height() - 12),
                       (*view.history)[index]);
    }
}

}  // namespace

TimingLayout::TimingLayout(QSize size) {
    const int width = size.width() - 2 * kMargin;
    summary = QRect(kMargin, kMargin - 2, width, kSummary);
    const int top = summary.bottom() + kGap / 2;
    const int side = std::min(240, (width - 2 * kGap) / 4);
    // Where the stages' names would not fit, they have the room of the latency.
    const bool isNarrow = side < kStageNames;
    stages = QRect(kMargin, top, isNarrow ? std::min(kStageNames, width / 2) : side, kChart);
    latency = isNarrow ? QRect(size.width() - kMargin + kGap, top, 0, kChart)
                       : QRect(size.width() - kMargin - side, top, side, kChart);
    layers = QRect(stages.right() + kGap, top, latency.left() - stages.right() - 2 * kGap, kChart);
    details = QRect(kMargin, top + kChart + kGap / 2, width, kDetails - kGap);
}

QRect TimingLayout::column(int layer, int count) const {
    const int left = layers.left() + kFigureNames, width = layers.width() - kFigureNames;
    const auto at = [&](int i) { return left + width * i / std::max(1, count); };
    return {at(layer), layers.top() + kTitle, std::max(2, at(layer + 1) - at(layer)),
            layers.height() - kTitle - kFigures};
}

int TimingLayout::layerAt(QPoint at, int count) const {
    for (int i = 0; i < count; ++i) {
        if (column(i, count).contains(at)) return i;
    }
    return -1;
}

int timingHeight(bool details) {
    return 2 * kMargin + kSummary + kGap / 2 + kChart + kRow + (details ? kDetails : 0);
}

void paintTiming(QPainter& painter, QSize size, const TimingView& view) {
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(QColor::fromRgba(kPaper));
    painter.drawRoundedRect(QRectF(QPointF(), QSizeF(size)), 10, 10);
    const TimingLayout layout(size);
    const LiveStatistics& statistics = view.report.statistics;
    paintSummary(painter, layout.summary, view.report);
    paintStages(painter, layout.stages, statistics);
    paintLayers(painter, layout, view);
    if (!layout.latency.isEmpty()) paintLatency(painter, layout.latency, statistics);
    if (view.selected >= 0) paintDetails(painter, layout.details, view);
    const OverlayCost& cost = view.report.overlay;
    const QString own = cost.frameOffMs > 0 && cost.frameOnMs > 0
                            ? text("This overlay: %1 a second to draw, frame %2 with it, %3 before")
                                  .arg(milliseconds(cost.drawMs), milliseconds(double(cost.frameOnMs)),
                                       milliseconds(double(cost.frameOffMs)))
                            : text("This overlay: %1 a second to draw").arg(milliseconds(cost.drawMs));
    const QRect foot(kMargin, size.height() - kMargin - kRow + 6, size.width() - 2 * kMargin, kRow);
    write(painter, foot, own, kFaint, Qt::AlignRight);
    const int left = foot.width() - painter.fontMetrics().horizontalAdvance(own) - kGap;
    write(painter, foot.adjusted(0, 0, left - foot.width(), 0), limitText(statistics), kFaint);
}

}  // namespace matte
