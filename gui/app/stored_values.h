// SPDX-License-Identifier: Apache-2.0
// StoredValues: one group of a settings file, read with suspicion. A value that is missing is the fallback. One that is
// there, and is damaged or of another kind, is the fallback or the nearest allowed one, and its name is kept for
// whoever tells the user. GUI thread.
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>
#include <QVariant>

class QSettings;

namespace matte {

class StoredValues {
public:
    /// Both outlive this; `damaged` takes the names, such as "look/blur".
    StoredValues(const QSettings& store, const QString& group, QStringList& damaged);

    /// Of the whole file; `newest` where it doesn't say.
    [[nodiscard]] int version(int newest) const;
    [[nodiscard]] bool has(const char* key) const;
    /// Finite, and brought between `least` and `most`.
    [[nodiscard]] float number(const char* key, float fallback, float least, float most) const;
    [[nodiscard]] bool flag(const char* key, bool fallback) const;
    /// No longer than a path may be, and text throughout.
    [[nodiscard]] QString text(const char* key, const QString& fallback = {}) const;
    /// Those that are text, the first `most` of them.
    [[nodiscard]] QStringList texts(const char* key, qsizetype most) const;
    [[nodiscard]] QByteArray bytes(const char* key) const;
    /// An enum that counts from 1 to `last`.
    template <typename Enum>
    [[nodiscard]] Enum choice(const char* key, Enum fallback, Enum last) const {
        const int value = number(key, int(fallback), int(last));
        return value > 0 ? Enum(value) : fallback;
    }
    /// For a value that only its reader can judge.
    void tellDamaged(const char* key) const { damaged_.append(group_ + key); }

private:
    [[nodiscard]] QVariant value(const char* key) const;
    /// 1 to `most`, or the fallback.
    [[nodiscard]] int number(const char* key, int fallback, int most) const;

    const QSettings& store_;
    QString group_;
    QStringList& damaged_;
};

}  // namespace matte
