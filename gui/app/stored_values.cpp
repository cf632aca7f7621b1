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
    : read_(store), group_(group + '/'), damaged_(&damaged) {}

StoredValues::StoredValues(QSettings& store, const QString& group)
    : read_(store), written_(&store), group_(group + '/') {}

// QSettings::beginGroup() would change a store that is only read.
void StoredValues::exchange(const char* key, const QVariant& value, const std::function<bool(const QVariant&)>& take) {
    if (written_) return written_->setValue(group_ + key, value);
    const QVariant stored = read_.value(group_ + key);
    if (stored.isValid() && !take(stored)) tellDamaged(key);
}

void StoredValues::tellDamaged(const char* key) {
    if (damaged_) damaged_->append(group_ + key);
}

int StoredValues::version(int newest) const {
    bool ok = false;
    const int version = read_.value("version", newest).toInt(&ok);
    return ok ? version : newest;
}

bool StoredValues::has(const char* key) const {
    return read_.contains(group_ + key);
}

void StoredValues::number(const char* key, float& value, float least, float most) {
    exchange(key, double(value), [&](const QVariant& stored) {
        bool ok = false;
        const float read = stored.toFloat(&ok);
        if (!ok || !std::isfinite(read)) return false;
        value = std::clamp(read, least, most);
        return value == read;
    });
}

int StoredValues::choice(const char* key, int value, int last) {
    exchange(key, value, [&](const QVariant& stored) {
        bool ok = false;
        const int read = stored.toInt(&ok);
        const bool known = ok && read >= 1 && read <= last;
        if (known) value = read;
        return known;
    });
    return value;
}

void StoredValues::flag(const char* key, bool& value) {
    exchange(key, value, [&](const QVariant& stored) {
        const QString word = stored.toString();
        const bool on = word == "true" || word == "1", known = on || word == "false" || word == "0";
        if (known) value = on;
        return known;
    });
}

void StoredValues::text(const char* key, QString& value) {
    exchange(key, value, [&](const QVariant& stored) {
        const bool good = stored.typeId() == QMetaType::QString && isText(stored.toString());
        if (good) value = stored.toString();
        return good;
    });
}

void StoredValues::text(const char* key, std::string& value) {
    QString text = QString::fromStdString(value);
    this->text(key, text);
    value = text.toStdString();
}

void StoredValues::texts(const char* key, QStringList& values, qsizetype most) {
    exchange(key, values, [&](const QVariant& stored) {
        const bool isList = stored.typeId() == QMetaType::QString || stored.typeId() == QMetaType::QStringList;
        QStringList list = isList ? stored.toStringList() : QStringList();
        const bool good = isList && std::ranges::all_of(list, isText);
        list.removeIf([](const QString& text) { return !isText(text) || text.isEmpty(); });
        values = list.mid(0, most);
        return good;
    });
}

void StoredValues::bytes(const char* key, QByteArray& value) {
    exchange(key, value, [&](const QVariant& stored) {
        const bool good = stored.typeId() == QMetaType::QByteArray;
        if (good) value = stored.toByteArray();
        return good || stored.toString().isEmpty();
    });
}

}  // namespace matte
