// SPDX-License-Identifier: Apache-2.0
// A Look in a settings file, below a group of its own. What is missing or damaged is as in a new Look; the background's
// picture is not kept: it is read again from its path. GUI thread.
#pragma once

#include <QString>

#include "inference/look.h"

class QSettings;

namespace matte {

[[nodiscard]] Look loadLook(const QSettings& store, const QString& group);
void saveLook(QSettings& store, const QString& group, const Look& look);

/// An enum that counts from 1 to `last`, as it was stored; `fallback` when it was not.
template <typename Enum>
[[nodiscard]] Enum storedChoice(int value, Enum fallback, Enum last) {
    return value >= 1 && value <= int(last) ? Enum(value) : fallback;
}

}  // namespace matte
