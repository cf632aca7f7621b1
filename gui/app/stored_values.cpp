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
std::optional<QVariant> StoredValues::exchange(const char* key, const QVariant& value) {
    if (written_) {
        written_->setValue(group_ + key, value);
        return std::nullopt;
    }
    const QVariant stored = read_.value(group_ + key);
    return stored.isValid() ? std::optional(stored) : std::nullopt;
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
    const auto stored = exchange(key, double(value));
    if (!stored) return;
    bool ok = false;
    const float read = stored->toFloat(&ok);
    const bool finite = ok && std::isfinite(read);
    if (!finite || read < least || read > most) tellDamaged(key);
    if (finite) value = std::clamp(read, least, most);
}

int StoredValues::choice(const char* key, int value, int last) {
    const auto stored = exchange(key, value);
    if (!stored) return value;
    bool ok = false;
    const int read = stored->toInt(&ok);
    if (ok && read >= 1 && read <= last) return read;
    tellDamaged(key);
    return value;
}

void StoredValues::flag(const char* key, bool& value) {
    const auto stored = exchange(key, value);
    if (!stored) return;
    const QString word = stored->toString();
    const bool on = word == "true" || word == "1";
    if (on || word == "false" || word == "0") {
        value = on;
    } else {
        tellDamaged(key);
    }
}

void StoredValues::text(const char* key, QString& value) {
    const auto stored = exchange(key, value);
    if (!stored) return;
    if (stored->typeId() == QMetaType::QString && isText(stored->toString())) {
        value = stored->toString();
    } else {
        tellDamaged(key);
    }
}

void StoredValues::text(const char* key, std::string& value) {
    QString text = QString::fromStdString(value);
    this->text(key, text);
    value = text.toStdString();
}

void StoredValues::texts(const char* key, QStringList& values, qsizetype most) {
    const auto stored = exchange(key, values);
    if (!stored) return;
    QStringList list;
    const bool isList = stored->typeId() == QMetaType::QString || stored->typeId() == QMetaType::QStringList;
    if (isList) list = stored->toStringList();
    if (!isList || !std::ranges::all_of(list, isText)) tellDamaged(key);
    list.removeIf([](const QString& text) { return !isText(text) || text.isEmpty(); });
    values = list.mid(0, most);
}

void StoredValues::bytes(const char* key, QByteArray& value) {
    const auto stored = exchange(key, value);
    if (!stored) return;
    if (stored->typeId() == QMetaType::QByteArray) {
        value = stored->toByteArray();
    } else if (!stored->toString().isEmpty()) {
        tellDamaged(key);
    }
}

}  // namespace matte
