// SPDX-License-Identifier: Apache-2.0
// Photos with the true mattes beside them, as data sets and `matte-cli image --matte-only` lay them out. Any thread.
#pragma once

#include <filesystem>
#include <stop_token>
#include <vector>

#include "inference/core/image.h"

namespace matte {

/// A photo and the grey pictures about it, as large as it is; what there is none of is empty.
struct MattePair {
    std::filesystem::path photo;
    std::filesystem::path matte;   ///< 255 is the person
    std::filesystem::path limbs;   ///< 255 is an arm, a hand or a leg of the person
    std::filesystem::path things;  ///< 255 is furniture, or another thing that is not of the person
};

/// The photos in `folder` and in the folders below it, in the order of their paths. The matte of NAME.jpg (or another
/// format) is NAME.png or NAME-matte.png beside it, that of NAME.png is NAME-matte.png; the labels are NAME.limb.png
/// and NAME.thing.png. Throws Error(input) when the folder can't be read.
std::vector<MattePair> findMattePairs(const std::filesystem::path& folder);

/// A matte, or a label, from its file, [h, w, 1] of 0 to 1. Throws Error(input), also when it is not of the photo's
/// size, and Cancelled.
Planes readMatte(const std::filesystem::path& path, Size photo, const std::stop_token& stop = {});

/// A channel of 8 bits as [h, w, 1] of 0 to 1.
Planes planeOf(const Image& image, int channel);

}  // namespace matte
