// SPDX-License-Identifier: Apache-2.0
#include "gui/live/live_source.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QStringList>

#include <algorithm>
#include <functional>

#include "inference/core/error.h"

namespace matte {
namespace {

constexpr int kMostSide = 8192;
constexpr double kMostRate = 1000;
constexpr QChar kBetween = '\t';  // no source has it in its name: parseSource refuses control characters

QString text(const char* source) {
    return QCoreApplication::translate("matte::LiveSource", source);
}

}  // namespace

QString nameOf(const LiveSource& source) {
    QString name = QString::fromStdString(source.spec.name);
    switch (source.spec.kind) {
        case SourceSpec::Kind::camera: return name.isEmpty() ? text("First camera") : name;
        case SourceSpec::Kind::file: return QFileInfo(name).fileName();
        case SourceSpec::Kind::url: return QString::fromStdString(shownAddress(source.spec.name));
        case SourceSpec::Kind::test: break;
    }
    return text("Test person");
}

QString formatOf(const LiveSource& source) {
    QStringList parts;
    if (source.encoding != Encoding::any) parts.append(QString::fromStdString(nameOf(source.encoding)));
    if (source.size.width > 0) parts.append(QString("%1 × %2").arg(source.size.width).arg(source.size.height));
    if (source.rate > 0) parts.append(text("%1 a second").arg(source.rate, 0, 'g', 4));
    return parts.isEmpty() ? text("Automatic") : parts.join("  ");
}

QString toText(const LiveSource& source) {
    return QStringList{QString::fromStdString(toString(source.spec)), QString::number(int(source.encoding)),
                       QString::number(source.size.width), QString::number(source.size.height),
                       QString::number(source.rate)}
        .join(kBetween);
}

LiveSource liveSourceFrom(const QString& line, bool* damaged) {
    const QStringList parts = line.split(kBetween);
    LiveSource source;
    bool whole = parts.size() == 5 || parts.size() == 1;
    try {
        source.spec = parseSource(parts.value(0).toStdString());
    } catch (const Error&) {
        whole = false;
        source = {};
    }
    if (parts.size() == 5) {
        bool ok[4] = {};
        const int encoding = parts[1].toInt(&ok[0]), width = parts[2].toInt(&ok[1]), height = parts[3].toInt(&ok[2]);
        const double rate = parts[4].toDouble(&ok[3]);
        const bool knownEncoding = encoding >= 0 && encoding < int(Encoding::other);
        const bool knownSize = std::min(width, height) >= 0 && std::max(width, height) <= kMostSide;
        const bool knownRate = rate >= 0 && rate <= kMostRate;
        if (encoding > 0 && knownEncoding) source.encoding = Encoding(encoding);
        if (width > 0 && height > 0 && knownSize) source.size = {width, height};
        if (rate > 0 && knownRate) source.rate = rate;
        whole = whole && std::ranges::all_of(ok, std::identity()) && knownEncoding && knownSize && knownRate;
    }
    if (damaged) *damaged = !whole;
    return source;
}

}  // namespace matte
