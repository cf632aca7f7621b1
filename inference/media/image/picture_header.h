// SPDX-License-Identifier: Apache-2.0
// What an encoded picture says about itself, checked before any of its pixels is decoded: so that a file of absurd
// dimensions costs no memory, and one that was cut off is told from a whole one. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "inference/core/image.h"

namespace matte {

enum class PictureFormat { jpeg = 1, png, webp, tiff, bmp };

struct PictureHeader {
    PictureFormat format = PictureFormat::jpeg;
    Size size;  ///< as stored, before it is turned upright; 0x0 for JPEG, whose decoder reads it itself
    bool premultiplied = false;      ///< the colours are stored multiplied by the alpha
    bool masksWithoutAlpha = false;  ///< a 32-bit BMP that says where its three colours lie, and has no alpha
};

/// Checks size and wholeness (not the compressed data itself). Throws Error(input) with `name` in the sentence: not one
/// of the five formats, too large, of a kind that is not supported, or damaged.
PictureHeader inspectPicture(std::span<const std::uint8_t> bytes, const std::string& name);

/// Whether the first bytes of a file are those of one of the five formats. 16 are enough.
bool beginsAsPicture(std::span<const std::uint8_t> bytes);

/// Throws Error(input) for a picture with no pixels, with more than Image::kMaxPixels or with a side that is longer
/// than PNG files have in practice.
Size checkedSize(std::uint64_t width, std::uint64_t height, const std::string& name);

[[noreturn]] void refuseCutOff(const std::string& name);
[[noreturn]] void refuseForMemory(const std::string& name);
[[noreturn]] void refuseDamaged(const std::string& name);

}  // namespace matte
