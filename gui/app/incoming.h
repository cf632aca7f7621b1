// SPDX-License-Identifier: Apache-2.0
// The photo in what was dropped on the window or pasted into it. GUI thread.
#pragma once

#include "gui/photo/photo_session.h"

class QMimeData;

namespace matte {

[[nodiscard]] bool mayHoldPhoto(const QMimeData& data);
/// The first local file, else the pixels. Throws Error(input) when there is neither.
[[nodiscard]] PhotoSource photoFrom(const QMimeData& data);

}  // namespace matte
