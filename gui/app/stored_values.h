// SPDX-License-Identifier: Apache-2.0
// StoredValues: one group of a settings file, for reading or for writing, so that one description of the values serves
// both. Nothing that is read is trusted: a value that is missing keeps its default. One that is damaged or of another
// type keeps its default or becomes the nearest allowed one, and its name is noted. GUI thread.
//
//     StoredValues values(store, "look", damaged);   // or (store, "look") to write
//     values.number("threshold", params.threshold, 0, 1);
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>
#include <QVariant>

#include <functional>

class QSettings;

namespace matte {

class StoredValues {
public:
    /// Reads. Both outlive this; `damaged` takes the names, such as "look/blur".
    StoredValues(const QSettings& store, const QString& group, QStringList& damaged);
    /// Writes. `store` outlives this.
    StoredValues(QSettings& store, const QString& group);

    /// The version of the file, or `newest` where it has none.
    [[nodiscard]] int version(int newest) const;
    [[nodiscard]] bool has(const char* key) const;
    /// Finite, between `least` and `most`.
    void number(const char* key, float& value, float least, float most);
    void flag(const char* key, bool& value);
    /// Valid UTF-8, no longer than a path.
    void text(const char* key, QString& value);
    void text(const char* key, std::string& value);
    /// Of a list, the first `most` valid texts.
    void texts(const char* key, QStringList& values, qsizetype most);
    void bytes(const char* key, QByteArray& value);
    /// An enum with the values 1 to `last`.
    template <typename Enum>
    void choice(const char* key, Enum& value, Enum last) {
        value = Enum(choice(key, int(value), int(last)));
    }
    /// Notes a value that only its reader can judge.
    void tellDamaged(const char* key);

private:
    /// When writing, writes `value`. When reading, gives the value that is there to `take`, which returns whether it is
    /// in order.
    void exchange(const char* key, const QVariant& value, const std::function<bool(const QVariant&)>& take);
    int choice(const char* key, int value, int last);

    const QSettings& read_;
    QSettings* written_ = nullptr;
    QString group_;
    QStringList* damaged_ = nullptr;
};

}  // namespace matte
