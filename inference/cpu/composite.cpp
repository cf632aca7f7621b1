// SPDX-License-Identifier: Apache-2.0
#include "inference/cpu/composite.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "inference/cpu/refine.h"
#include "inference/cpu/resample.h"
#include "inference/error.h"
#include "inference/pixel_math.h"

namespace matte {
namespace {

/// Transfer functions as tables; 16 bits of linear light keep every one of the 256 encoded values apart.
struct Transfer {
    std::array<float, 256> linear{};
    std::vector<std::uint8_t> encoded = std::vector<std::uint8_t>(65536);
    Transfer() {
        for (int i = 0; i < 256; ++i) linear[std::size_t(i)] = srgbToLinear(float(i) / 255);
        for (int i = 0; i < 65536; ++i) {
            encoded[std::size_t(i)] = std::uint8_t(linearToSrgb(float(i) / 65535) * 255 + 0.5F);
        }
    }
    [[nodiscard]] std::uint8_t encode(float value) const {
        return encoded[std::size_t(clampUnit(value) * 65535 + 0.5F)];
    }
};

const Transfer& transfer() {
    static const Transfer tables;
    return tables;
}

struct Pixel {
    std::array<std::uint8_t, 3> rgb;
    std::uint8_t alpha;
};

Pixel readPixel(const ImageView& source, const std::uint8_t* row, int x) {
    if (source.format == PixelFormat::rgba8) return {{row[4 * x], row[4 * x + 1], row[4 * x + 2]}, row[4 * x + 3]};
    return {{row[3 * x + 2], row[3 * x + 1], row[3 * x]}, 255};
}

/// Samples the field at the pixels of one picture row, linearly between the field's points.
class FieldRow {
public:
    FieldRow(const Planes& fields, Size picture)
        : fields_(fields),
          across_(taps(fields.size.width, picture.width)),
          down_(taps(fields.size.height, picture.height)) {
        row_.resize(std::size_t(fields.size.width) * field::kChannels);
    }

    void moveTo(int y) {
        const Tap tap = down_[std::size_t(y)];
        const float *above = fields_.row(tap.first), *below = fields_.row(tap.second);
        for (std::size_t i = 0; i < row_.size(); ++i) row_[i] = mix(above[i], below[i], tap.amount);
    }

    [[nodiscard]] float alpha(int x, const std::array<std::uint8_t, 3>& rgb) const {
        float coefficients[4];
        sample(x, field::kCoefficients, 4, coefficients);
        constexpr float kScale = 1.0F / 255;
        return clampUnit(coefficients[0] * kScale * float(rgb[0]) + coefficients[1] * kScale * float(rgb[1]) +
                         coefficients[2] * kScale * float(rgb[2]) + coefficients[3]);
    }

    void sample(int x, int channel, int count, float* out) const {
        const Tap tap = across_[std::size_t(x)];
        const float* left = row_.data() + std::size_t(tap.first) * field::kChannels + channel;
        const float* right = row_.data() + std::size_t(tap.second) * field::kChannels + channel;
        for (int c = 0; c < count; ++c) out[c] = mix(left[c], right[c], tap.amount);
    }

private:
    struct Tap {
        int first, second;
        float amount;
    };
    static std::vector<Tap> taps(int points, int pixels) {
        std::vector<Tap> result(std::size_t(pixels), Tap{});
        for (int x = 0; x < pixels; ++x) {
            const double at = std::clamp((x + 0.5) * points / pixels - 0.5, 0.0, double(points - 1));
            const int first = int(at);
            result[std::size_t(x)] = {first, std::min(first + 1, points - 1), float(at - first)};
        }
        return result;
    }

    const Planes& fields_;
    std::vector<Tap> across_, down_;
    std::vector<float> row_;
};

/// Runs `rowWork(fieldRow, y)` for every row of a picture on all threads, stopping early when asked to.
template <typename RowWork>
void forEachRow(Size size, const Planes& fields, const std::stop_token& stop, const RowWork& rowWork) {
    std::atomic<bool> stopped = false;
#pragma omp parallel
    {
        FieldRow fieldRow(fields, size);
#pragma omp for schedule(dynamic, 16)
        for (int y = 0; y < size.height; ++y) {
            if (stopped.load(std::memory_order_relaxed)) continue;
            if (stop.stop_requested()) stopped = true;
            fieldRow.moveTo(y);
            rowWork(fieldRow, y);
        }
    }
    if (stopped) throw Cancelled{};
}

/// The person's colour at a pixel, in linear light.
void personColor(const FieldRow& fieldRow, int x, const float* mixed, float alpha, float* color) {
    float sides[6];
    fieldRow.sample(x, field::kForeground, 6, sides);
    for (int c = 0; c < 3; ++c) color[c] = foregroundColor(mixed[c], alpha, sides[c], sides[3 + c]);
}

/// What stands behind pixel x, in linear light.
class Behind {
public:
    Behind(const Background& background, const Image* plate) : kind_(background.kind), plate_(plate) {
        const std::uint8_t rgb[3] = {background.color.r, background.color.g, background.color.b};
        for (int c = 0; c < 3; ++c) color_[c] = transfer().linear[rgb[c]];
    }
    void at(const FieldRow& fieldRow, int x, int y, float* color) const {
        if (kind_ == Background::Kind::blur) {
            fieldRow.sample(x, field::kBlurred, 3, color);
        } else if (plate_) {
            const std::uint8_t* pixel = plate_->row(y) + std::ptrdiff_t(x) * 4;
            for (int c = 0; c < 3; ++c) color[c] = transfer().linear[pixel[c]];
        } else {
            std::copy_n(color_, 3, color);
        }
    }

private:
    Background::Kind kind_;
    const Image* plate_;
    float color_[3];
};

void compositeRow(const ImageView& source,
                  const FieldRow& fieldRow,
                  int y,
                  const Look& look,
                  const Behind& behind,
                  std::uint8_t* out) {
    const Transfer& tables = transfer();
    const Edge edge = edgeOf(look.threshold, look.softness);
    const bool transparent = look.background.kind == Background::Kind::transparent;
    const std::uint8_t* row = source.row(y);
    for (int x = 0; x < source.size.width; ++x, out += 4) {
        const Pixel pixel = readPixel(source, row, x);
        const float found = fieldRow.alpha(x, pixel.rgb);
        const float alpha = shapeAlpha(found, edge) * float(pixel.alpha) * (1.0F / 255);
        out[3] = transparent ? std::uint8_t(alpha * 255 + 0.5F) : 255;
        if (alpha >= 1) {  // most pixels are wholly on one side, and those of the person stay as the camera saw them
            std::copy_n(pixel.rgb.data(), 3, out);
            continue;
        }
        float color[3], background[3] = {};
        if (!transparent) behind.at(fieldRow, x, y, background);
        if (alpha > 0) {
            float mixed[3];
            for (int c = 0; c < 3; ++c) mixed[c] = tables.linear[pixel.rgb[std::size_t(c)]];
            if (look.decontaminate && found < 1) {
                personColor(fieldRow, x, mixed, found, color);
            } else {
                std::copy_n(mixed, 3, color);
            }
        } else {
            std::copy_n(background, 3, color);
        }
        for (int c = 0; c < 3; ++c)
            out[c] = tables.encode(transparent ? color[c] : mix(background[c], color[c], alpha));
    }
}

}  // namespace

Image compositeOver(
    const ImageView& source, const Planes& fields, const Look& look, const Image* plate, std::stop_token stop) {
    Image out(source.size, PixelFormat::rgba8);
    const Behind behind(look.background, plate);
    forEachRow(source.size, fields, stop,
               [&](const FieldRow& fieldRow, int y) { compositeRow(source, fieldRow, y, look, behind, out.row(y)); });
    return out;
}

Image renderMatte(const ImageView& source, const Planes& fields, const Look& look, std::stop_token stop) {
    Image out(source.size, PixelFormat::gray8);
    const Edge edge = edgeOf(look.threshold, look.softness);
    forEachRow(source.size, fields, stop, [&](const FieldRow& fieldRow, int y) {
        const std::uint8_t* row = source.row(y);
        for (int x = 0; x < source.size.width; ++x) {
            const Pixel pixel = readPixel(source, row, x);
            out.row(y)[x] = std::uint8_t(shapeAlpha(fieldRow.alpha(x, pixel.rgb), edge) * float(pixel.alpha) + 0.5F);
        }
    });
    return out;
}

}  // namespace matte
