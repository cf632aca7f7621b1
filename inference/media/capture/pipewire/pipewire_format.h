// SPDX-License-Identifier: Apache-2.0
// PipeWire's description of pictures to ours and back. Any thread. What is read comes from another program: nothing in
// it is trusted.
#pragma once

#include <optional>
#include <vector>

#include <spa/pod/builder.h>
#include <spa/pod/pod.h>

#include "inference/media/capture/camera.h"

namespace matte {

/// The modes in one EnumFormat of a node: a format may stand for several encodings, sizes and rates.
std::vector<CameraMode> readModes(const spa_pod* format);

/// What a stream has agreed on; null when it isn't a picture that we know.
std::optional<CaptureChoice> readChoice(const spa_pod* format);

/// An EnumFormat that allows that one mode alone.
const spa_pod* offerMode(spa_pod_builder& builder, const CaptureChoice& choice);
/// Any size and rate in any encoding that can be read: for a camera that another program has already set.
const spa_pod* offerAnyRaw(spa_pod_builder& builder);
const spa_pod* offerAnyJpeg(spa_pod_builder& builder);

/// Buffers in memory that both programs can see, and a time with each.
const spa_pod* askForBuffers(spa_pod_builder& builder);
const spa_pod* askForHeader(spa_pod_builder& builder);

}  // namespace matte
