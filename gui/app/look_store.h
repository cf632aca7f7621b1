// SPDX-License-Identifier: Apache-2.0
// A Look in a settings file, in a group of its own. What is missing or damaged is as in a new Look, but for an old
// file's softness, which is as it was then; the background's picture is not kept: it is read again from its path. GUI
// thread.
#pragma once

#include <QString>

#include "inference/core/look.h"

class QSettings;

namespace matte {

class StoredValues;

[[nodiscard]] Look loadLook(const StoredValues& from);
void saveLook(QSettings& store, const QString& group, const Look& look);

}  // namespace matte
