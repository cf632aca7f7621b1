// SPDX-License-Identifier: Apache-2.0
// What decoding one picture may cost, so that a few bytes take neither gigabytes nor minutes, and whether somebody
// still waits for it. Decoders fill the picture row by row: its memory is not taken before the data is there. What is
// left are formats that say with next to no data that all is alike, and say it over and over; those limits are here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>

#include "inference/core/image.h"

namespace matte {

/// Made by the thread that decodes, and asked by it alone.
class DecodeBudget {
public:
    /// `name` stands for the file in messages; `fileBytes` are its bytes; `seconds` are granted to any picture.
    DecodeBudget(std::string name, std::size_t fileBytes, std::stop_token stop, double seconds = kSeconds);

    [[nodiscard]] const std::string& name() const { return name_; }
    /// Begins a picture, before memory is taken for it, and gives its size. Throws Error(input): no pixels, more than
    /// Image::kMaxPixels, a side above kMaxSide, or too few bytes for so many pixels.
    Size begin(std::uint64_t width, std::uint64_t height);
    /// Throws Cancelled when stopped, and Error(input) when out of time. Cheap beside a few rows of pixels.
    void check() const;

    /// PNG files have no longer ones in practice.
    static constexpr std::uint64_t kMaxSide = 1'000'000;
    /// A picture of so many pixels is no matter, whatever holds it.
    static constexpr std::size_t kFreePixels = 32'000'000;
    /// More than deflate (1032 bytes, each eight pixels of a bit) and LZW can pack into one, and than libwebp does with
    /// a single colour (25 000), but when it is told to take no trouble.
    static constexpr std::size_t kPixelsPerByte = 32'768;
    /// Of this thread's processor time. Many times what the slowest format takes on a slow machine.
    static constexpr double kSeconds = 5, kSecondsPerPixel = 0.3e-6;

private:
    std::string name_;
    std::size_t fileBytes_;
    std::stop_token stop_;
    double begun_, seconds_;  ///< of processor time: a busy machine is no reason to give up
};

}  // namespace matte
