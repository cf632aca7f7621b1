// SPDX-License-Identifier: Apache-2.0
// Photos on disk. Reading trusts nothing; writing is atomic: a temporary file beside the target is renamed over it once
// it is whole. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "inference/core/image.h"

namespace matte {

/// Decodes JPEG, PNG, WebP, TIFF, HEIF, AVIF, GIF (its first picture) or BMP to rgba8, turned upright by its EXIF
/// orientation, its colours (grey, RGB, Lab or inks, 8 or 16 bit) as those of sRGB. Throws Error(input): missing,
/// unreadable, a folder, empty, not a picture, damaged or cut off in any part, more than Image::kMaxPixels, or above
/// what DecodeBudget grants. Throws Cancelled soon after `stop` was asked for.
std::shared_ptr<const Image> readImage(const std::filesystem::path& path, const std::stop_token& stop = {});
/// The same from memory; `name` stands for the file in messages.
std::shared_ptr<const Image> decodeImage(std::span<const std::uint8_t> bytes,
                                         const std::string& name,
                                         const std::stop_token& stop = {});

/// Writes gray8, bgr8 or rgba8; the format is told by the extension (png, jpg, jpeg, webp, tif, tiff, bmp). Formats
/// without alpha get it blended over white. Throws Error(output): unknown extension, no such folder, not writable, disk
/// full; an existing file is then as it was.
void writeImage(const std::filesystem::path& path, const ImageView& image);

/// Whether a file that begins so is a still picture, which a GIF is not here. 64 bytes are enough.
bool beginsAsPicture(std::span<const std::uint8_t> begin);

/// Whether the name ends as a picture's does; folders are searched by it.
bool hasImageExtension(const std::filesystem::path& path);

/// Of the library that decodes and encodes them: "8.14.1".
std::string vipsVersion();

}  // namespace matte
