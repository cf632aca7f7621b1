// SPDX-License-Identifier: Apache-2.0
#include "gui/app/stored_values.h"

#include <QSettings>

#include <algorithm>
#include <cmath>

namespace matte {
namespace {

constexpr qsizetype kLongestText = 4096;

/// What was no UTF-8 in the file has become the replacement character.
bool isText(const QString& text) {
    return text.size() <= kLongestText && !text.contains(QChar::ReplacementCharacter) && !text.contains(QChar::Null);
}

}  // namespace

StoredValues::StoredValues(const QSettings& store, const QString& group, QStringList& damaged)
    : store_(store), group_(group + '/'), damaged_(damaged) {}

/// QSettings::beginGroup() would change the store, which is only read.
QVariant StoredValues::value(const char* key) const {
    return store_.value(group_ + key);
}

int StoredValues::version(int newest) const {
    bool ok = false;
    const int version = store_.value("version", newest).toInt(&ok);
    return ok ? version : newest;
}

bool StoredValues::has(const char* key) const {
    return store_.contains(group_ + key);
}

float StoredValues::number(const char* key, float fallback, float least, float most) const {
    const QVariant stored = value(key);
    if (!stored.isValid()) return fallback;
    bool ok = false;
    const float read = stored.toFloat(&ok);
    const bool finite = ok && std::isfinite(read);
    if (!finite || read < least || read > most) tellDamaged(key);
    return finite ? std::clamp(read, least, most) : fallback;
}

int StoredValues::number(const char* key, int fallback, int most) const {
    const QVariant stored = value(key);
    if (!stored.isValid()) return fallback;
    bool ok = false;
    const int read = stored.toInt(&ok);
    if (ok && read >= 1 && read <= most) return read;
    tellDamaged(key);
    return fallback;
}

bool StoredValues::flag(const char* key, bool fallback) const {
    const QVariant stored = value(key);
    if (!stored.isValid()) return fallback;
    const QString word = stored.toString();
    if (word == "true" || word == "1") return true;
    if (word == "false" || word == "0") return false;
    tellDamaged(key);
    return fallback;
}

QString StoredValues::text(const char* key, const QString& fallback) const {
    const QVariant stored = value(key);
    if (!stored.isValid()) return fallback;
    if (stored.typeId() == QMetaType::QString && isText(stored.toString())) return stored.toString();
    tellDamaged(key);
    return fallback;
}

QStringList StoredValues::texts(const char* key, qsizetype most) const {
    const QVariant stored = value(key);
    if (!stored.isValid()) return {};
    QStringList list;
    if (stored.typeId() == QMetaType::QString || stored.typeId() == QMetaType::QStringList) {
        list = stored.toStringList();
        if (!std::ranges::all_of(list, isText)) tellDamaged(key);
        list.removeIf([](const QString& text) { return !isText(text) || text.isEmpty(); });
    } else {
        tellDamaged(key);
    }
    return list.mid(0, most);
}

QByteArray StoredValues::bytes(const char* key) const {
    const QVariant stored = value(key);
    if (!stored.isValid()) return {};
    if (stored.typeId() == QMetaType::QByteArray) return stored.toByteArray();
    if (!stored.toString().isEmpty()) tellDamaged(key);
    return {};
}

}  // namespace matte
