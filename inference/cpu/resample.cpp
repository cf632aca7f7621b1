// SPDX-License-Identifier: Apache-2.0
#include "inference/cpu/resample.h"

#include <algorithm>
#include <cmath>

namespace matte {
namespace {

/// One source row as premultiplied R, G, B, A floats of 0 to 255.
void readRow(const ImageView& source, int y, float* out) {
    const std::uint8_t* in = source.row(y);
    if (source.format == PixelFormat::rgba8) {
        for (int x = 0; x < source.size.width; ++x, in += 4, out += 4) {
            const float weight = float(in[3]) * (1.0F / 255);
            out[0] = float(in[0]) * weight;
            out[1] = float(in[1]) * weight;
            out[2] = float(in[2]) * weight;
            out[3] = float(in[3]);
        }
        return;
    }
    const int red = source.format == PixelFormat::bgr8 ? 2 : 0, green = source.format == PixelFormat::bgr8 ? 1 : 0;
    const int step = bytesPerPixel(source.format);
    for (int x = 0; x < source.size.width; ++x, in += step, out += 4) {
        out[0] = float(in[red]);
        out[1] = float(in[green]);
        out[2] = float(in[0]);
        out[3] = 255;
    }
}

/// Resamples one row of `channels` interleaved floats along x.
void resampleRow(const float* in, const Taps& taps, int channels, float* out) {
    for (std::size_t x = 0; x < taps.spans.size(); ++x, out += channels) {
        const Taps::Span span = taps.spans[x];
        const float* weights = taps.at(int(x));
        std::fill_n(out, channels, 0.0F);
        const float* pixel = in + std::size_t(span.first) * std::size_t(channels);
        for (int i = 0; i < span.count; ++i, pixel += channels) {
            for (int c = 0; c < channels; ++c) out[c] += weights[i] * pixel[c];
        }
    }
}

void addScaled(float* sum, const float* row, float weight, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) sum[i] += weight * row[i];
}

/// Calls write(y, row) for each row of `source` resampled to `size`; row is premultiplied R, G, B, A of 0 to 255. Rows
/// come from several threads.
template <typename Write>
void resample(const ImageView& source, Size size, const Write& write) {
    const Taps across(source.size.width, size.width), down(source.size.height, size.height);
    const std::size_t sourceFloats = std::size_t(source.size.width) * 4;
#pragma omp parallel
    {
        std::vector<float> read(sourceFloats), sum(sourceFloats), row(std::size_t(size.width) * 4);
#pragma omp for schedule(static)
        for (int y = 0; y < size.height; ++y) {
            std::ranges::fill(sum, 0.0F);
            const Taps::Span span = down.spans[std::size_t(y)];
            for (int i = 0; i < span.count; ++i) {
                readRow(source, span.first + i, read.data());
                addScaled(sum.data(), read.data(), down.at(y)[i], sourceFloats);
            }
            resampleRow(sum.data(), across, 4, row.data());
            write(y, row.data());
        }
    }
}

std::uint8_t toByte(float value) {
    return std::uint8_t(std::clamp(value + 0.5F, 0.0F, 255.0F));
}

}  // namespace

Taps::Taps(int inputs, int outputs) : spans(std::size_t(outputs)) {
    const double scale = double(inputs) / outputs;
    const bool shrinking = scale > 1;
    stride = shrinking ? int(std::ceil(scale)) + 1 : 2;
    weights.resize(spans.size() * std::size_t(stride));
    for (int x = 0; x < outputs; ++x) {
        float* weight = weights.data() + std::size_t(x) * std::size_t(stride);
        if (!shrinking) {
            const double at = std::clamp((x + 0.5) * scale - 0.5, 0.0, double(inputs - 1));
            const int first = std::min(int(at), inputs - 1);
            const bool last = first + 1 == inputs;
            spans[std::size_t(x)] = {first, last ? 1 : 2};
            weight[1] = last ? 0 : float(at - first);
            weight[0] = 1 - weight[1];
            continue;
        }
        // An output covers [begin, end) of the inputs; each input counts by how much of it is covered.
        const double begin = x * scale, end = std::min(begin + scale, double(inputs));
        const int first = int(begin);
        const int count = std::min(int(std::ceil(end)), inputs) - first;
        spans[std::size_t(x)] = {first, count};
        for (int i = 0; i < count; ++i) {
            const double covered = std::min(end, double(first + i + 1)) - std::max(begin, double(first + i));
            weight[i] = float(std::max(0.0, covered) / (end - begin));
        }
    }
}

Planes resampleToPlanes(const ImageView& source, Size size) {
    Planes planes(size, 3);
    resample(source, size, [&](int y, const float* row) {
        float* out = planes.row(y);
        for (int x = 0; x < size.width; ++x, row += 4, out += 3) {
            for (int c = 0; c < 3; ++c) out[c] = (row[c] + 255 - row[3]) * (1.0F / 255);
        }
    });
    return planes;
}

Image resampleToImage(const ImageView& source, Size size) {
    Image image(size, PixelFormat::rgba8);
    resample(source, size, [&](int y, const float* row) {
        std::uint8_t* out = image.row(y);
        for (int x = 0; x < size.width; ++x, row += 4, out += 4) {
            const float scale = row[3] > 0 ? 255 / row[3] : 0.0F;
            for (int c = 0; c < 3; ++c) out[c] = toByte(row[c] * scale);
            out[3] = toByte(row[3]);
        }
    });
    return image;
}

Planes resamplePlanes(const Planes& source, Size size) {
    const Taps across(source.size.width, size.width), down(source.size.height, size.height);
    Planes planes(size, source.channels);
    const std::size_t sourceFloats = std::size_t(source.size.width) * std::size_t(source.channels);
#pragma omp parallel
    {
        std::vector<float> sum(sourceFloats);
#pragma omp for schedule(static)
        for (int y = 0; y < size.height; ++y) {
            std::ranges::fill(sum, 0.0F);
            const Taps::Span span = down.spans[std::size_t(y)];
            for (int i = 0; i < span.count; ++i) {
                addScaled(sum.data(), source.row(span.first + i), down.at(y)[i], sourceFloats);
            }
            resampleRow(sum.data(), across, source.channels, planes.row(y));
        }
    }
    return planes;
}

Layout layOut(Size picture, Size frame, Placement placement) {
    const double wide = double(frame.width) / picture.width, high = double(frame.height) / picture.height;
    Layout layout;
    layout.seen = picture;
    layout.scaled = frame;
    if (placement == Placement::stretch) return layout;
    const double scale = placement == Placement::fill ? std::max(wide, high) : std::min(wide, high);
    const auto scaledSide = [&](int pixels) { return std::max(1, int(std::lround(pixels * scale))); };
    if (placement == Placement::fit) {
        layout.scaled = {std::min(scaledSide(picture.width), frame.width),
                         std::min(scaledSide(picture.height), frame.height)};
        layout.left = (frame.width - layout.scaled.width) / 2;
        layout.top = (frame.height - layout.scaled.height) / 2;
        return layout;
    }
    // Only the part of the picture that will be seen is resampled, so that a long thin picture can't ask for a huge
    // one.
    const auto seenSide = [&](int pixels, int side) {
        const int whole = std::max(scaledSide(pixels), side);
        return std::min(pixels, std::max(1, int(std::lround(double(pixels) * side / whole))));
    };
    layout.seen = {seenSide(picture.width, frame.width), seenSide(picture.height, frame.height)};
    layout.seenX = (picture.width - layout.seen.width) / 2;
    layout.seenY = (picture.height - layout.seen.height) / 2;
    return layout;
}

Image layInto(const ImageView& picture, Size size, Placement placement, Rgb color) {
    const auto [seenX, seenY, seenSize, left, top, scaled] = layOut(picture.size, size, placement);
    ImageView seen = picture;
    seen.size = seenSize;
    seen.data = picture.row(seenY) + std::ptrdiff_t(seenX) * bytesPerPixel(picture.format);
    const Image part = resampleToImage(seen, scaled);
    Image frame(size, PixelFormat::rgba8);
    const float behind[3] = {float(color.r), float(color.g), float(color.b)};
    for (int y = 0; y < size.height; ++y) {
        std::uint8_t* out = frame.row(y);
        for (int x = 0; x < size.width; ++x, out += 4) {
            const bool inside = x >= left && x < left + scaled.width && y >= top && y < top + scaled.height;
            const std::uint8_t* in = inside ? part.row(y - top) + std::ptrdiff_t(x - left) * 4 : nullptr;
            const float alpha = inside ? float(in[3]) / 255 : 0.0F;
            for (int c = 0; c < 3; ++c)
                out[c] = toByte(behind[c] + (inside ? (float(in[c]) - behind[c]) * alpha : 0.0F));
            out[3] = 255;
        }
    }
    return frame;
}

}  // namespace matte
