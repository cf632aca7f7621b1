// SPDX-License-Identifier: Apache-2.0
// A CompositeParams in a settings file, in a group of its own. What is missing or damaged is as in a new
// CompositeParams, but for an old file's softness, which is as it was then; the background's picture is not kept: it is
// read again from its path. GUI thread.
#pragma once

#include <QString>

#include "inference/core/composite_params.h"

class QSettings;

namespace matte {

class StoredValues;

[[nodiscard]] CompositeParams loadParams(const StoredValues& from);
void saveParams(QSettings& store, const QString& group, const CompositeParams& params);

}  // namespace matte
