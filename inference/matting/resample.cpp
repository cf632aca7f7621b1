// SPDX-License-Identifier: Apache-2.0
#include "inference/matting/resample.h"

#include <algorithm>
#include <cmath>

#include "inference/core/parallel.h"
#include "inference/core/vector_clones.h"
#include "inference/matting/source_rows.h"

namespace matte {
namespace {

/// Resamples one row of `channels` interleaved floats along x.
void resampleRow(const float* in, const Taps& taps, int channels, float* out) {
    if (channels == 1) {
        for (std::size_t x = 0; x < taps.spans.size(); ++x) {
            const Taps::Span span = taps.spans[x];
            const float* weights = taps.at(int(x));
            float sum = 0;
            for (int i = 0; i < span.count; ++i) sum += weights[i] * in[span.first + i];
            out[x] = sum;
        }
        return;
    }
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

MATTE_VECTOR_CLONES void addBytes(const std::uint8_t* row, float weight, std::size_t count, float* sum) {
    for (std::size_t i = 0; i < count; ++i) sum[i] += weight * float(row[i]);
}

void addPremultiplied(const std::uint8_t* row, float weight, std::size_t pixels, float* sum) {
    for (std::size_t i = 0; i < pixels; ++i, row += 4, sum += 4) {
        const float share = weight * float(row[3]) * (1.0F / 255);
        for (int c = 0; c < 3; ++c) sum[c] += share * float(row[c]);
        sum[3] += weight * float(row[3]);
    }
}

/// A row of R, G, B, A sums as R, G, B of 0 to 1 at the target's pixels, over white.
MATTE_VECTOR_CLONES void shrinkRow(const float* sums, const Taps& taps, float* out) {
    for (std::size_t x = 0; x < taps.spans.size(); ++x, out += 3) {
        const Taps::Span span = taps.spans[x];
        const float *weights = taps.at(int(x)), *pixel = sums + std::ptrdiff_t(4) * span.first;
        float sum[4] = {};
        for (int i = 0; i < span.count; ++i, pixel += 4) {
            for (int c = 0; c < 4; ++c) sum[c] += weights[i] * pixel[c];
        }
        for (int c = 0; c < 3; ++c) out[c] = (sum[c] + 255 - sum[3]) * (1.0F / 255);
    }
}

std::uint8_t toByte(float value) {
    return std::uint8_t(std::clamp(value + 0.5F, 0.0F, 255.0F));
}

/// One pixel of less than full opacity, its R, G, B, A premultiplied, as an opaque one over `color`.
void layPixel(const float* sum, Rgb color, std::uint8_t* out) {
    const float behind[3] = {float(color.r), float(color.g), float(color.b)};
    const float scale = sum[3] > 0 ? 255 / sum[3] : 0.0F, alpha = float(toByte(sum[3])) * (1.0F / 255);
    for (int c = 0; c < 3; ++c) {
        const auto own = float(toByte(sum[c] * scale));
        out[c] = toByte(behind[c] + (own - behind[c]) * alpha);
    }
}

constexpr int kBlock = 64;

/// A row of R, G, B, A sums as opaque R, G, B, A at the target's pixels, over `color`. A block of pixels is summed,
/// then all its numbers become bytes at once, and then what is not opaque, as every video is, is done again.
MATTE_VECTOR_CLONES void layRow(const float* sums, const Taps& taps, Rgb color, std::uint8_t* out) {
    const int width = int(taps.spans.size());
    float block[4 * kBlock], cut[4 * kBlock];
    for (int begin = 0; begin < width; begin += kBlock, out += std::ptrdiff_t(4) * kBlock) {
        const int count = std::min(kBlock, width - begin);
        for (int i = 0; i < count; ++i) {
            const Taps::Span span = taps.spans[std::size_t(begin + i)];
            const float *weights = taps.at(begin + i), *pixel = sums + std::ptrdiff_t(4) * span.first;
            float sum[4] = {};
            for (int tap = 0; tap < span.count; ++tap, pixel += 4) {
                for (int c = 0; c < 4; ++c) sum[c] += weights[tap] * pixel[c];
            }
            std::copy_n(sum, 4, block + std::ptrdiff_t(4) * i);
        }
        for (int i = 0; i < 4 * count; ++i) cut[i] = std::min(std::max(block[i] + 0.5F, 0.0F), 255.0F);
        for (int i = 0; i < 4 * count; ++i) out[i] = std::uint8_t(int(cut[i]));
        for (int i = 0; i < count; ++i) {
            if (block[4 * i + 3] < 254.99F) layPixel(block + std::ptrdiff_t(4) * i, color, out + std::ptrdiff_t(4) * i);
            out[4 * i + 3] = 255;
        }
    }
}

void fillRow(Rgb color, int begin, int end, std::uint8_t* out) {
    const std::uint8_t pixel[4] = {color.r, color.g, color.b, 255};
    for (int x = begin; x < end; ++x) std::copy_n(pixel, 4, out + std::ptrdiff_t(4) * x);
}

}  // namespace

void reshape(Planes& planes, Size size, int channels) {
    planes.size = size;
    planes.channels = channels;
    planes.values.resize(size.pixels() * std::size_t(channels));
}

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
    Planes planes;
    FrameShrinker().shrink(source, size, planes);
    return planes;
}

Image resampleToImage(const ImageView& source, Size size) {
    Image image(size, PixelFormat::rgba8);
    RowSums sums;
    sums.prepare(source.size, size);
    std::vector<float> rows(std::size_t(size.width) * 4 * std::size_t(threads()));
    parallelFor(size.height, [&](int first, int last, int worker) {
        float* row = rows.data() + std::size_t(size.width) * 4 * std::size_t(worker);
        for (int y = first; y < last; ++y) {
            resampleRow(sums.row(source, y, worker), sums.across(), 4, row);
            std::uint8_t* out = image.row(y);
            for (const float* pixel = row; pixel != row + std::ptrdiff_t(4) * size.width; pixel += 4, out += 4) {
                const float scale = pixel[3] > 0 ? 255 / pixel[3] : 0.0F;
                for (int c = 0; c < 3; ++c) out[c] = toByte(pixel[c] * scale);
                out[3] = toByte(pixel[3]);
            }
        }
    });
    return image;
}

Planes resamplePlanes(const Planes& source, Size size) {
    Planes planes;
    PlaneResampler().resample(source, size, planes);
    return planes;
}

void PlaneResampler::resample(const Planes& source, Size size, Planes& target) {
    if (!(from_ == source.size) || !(to_ == size)) {
        across_ = Taps(source.size.width, size.width);
        down_ = Taps(source.size.height, size.height);
        from_ = source.size;
        to_ = size;
    }
    reshape(target, size, source.channels);
    const std::size_t sourceFloats = std::size_t(source.size.width) * std::size_t(source.channels);
    sums_.resize(sourceFloats * std::size_t(threads()));
    parallelFor(size.height, [&](int first, int last, int worker) {
        float* sum = sums_.data() + sourceFloats * std::size_t(worker);
        for (int y = first; y < last; ++y) {
            std::fill_n(sum, sourceFloats, 0.0F);
            const Taps::Span span = down_.spans[std::size_t(y)];
            for (int i = 0; i < span.count; ++i) {
                addScaled(sum, source.row(span.first + i), down_.at(y)[i], sourceFloats);
            }
            resampleRow(sum, across_, source.channels, target.row(y));
        }
    });
}

void RowSums::prepare(Size from, Size to) {
    if (!(from_ == from) || !(to_ == to)) {
        across_ = Taps(from.width, to.width);
        down_ = Taps(from.height, to.height);
        from_ = from;
        to_ = to;
    }
    const std::size_t bytes = std::size_t(from.width) * 4 * std::size_t(threads());
    sums_.resize(bytes);
    rows_.resize(bytes);
    opaque_ = true;
}

const float* RowSums::row(const ImageView& source, int y, int worker) {
    const auto thread = std::size_t(worker), pixels = std::size_t(from_.width);
    float* sum = sums_.data() + thread * pixels * 4;
    std::uint8_t* bytes = rows_.data() + thread * pixels * 4;
    const Taps::Span span = down_.spans[std::size_t(y)];
    std::fill_n(sum, pixels * 4, 0.0F);
    for (int i = 0; i < span.count; ++i) {
        const float weight = down_.at(y)[i];
        if (weight == 0) continue;
        const std::uint8_t* row = rgbaRow(source, span.first + i, bytes);
        if (isOpaque(row, from_.width)) {
            addBytes(row, weight, pixels * 4, sum);
        } else {
            opaque_.store(false, std::memory_order_relaxed);
            addPremultiplied(row, weight, pixels, sum);
        }
    }
    return sum;
}

void FrameShrinker::shrink(const ImageView& source, Size size, Planes& target) {
    sums_.prepare(source.size, size);
    reshape(target, size, 3);
    parallelFor(size.height, [&](int first, int last, int worker) {
        for (int y = first; y < last; ++y) shrinkRow(sums_.row(source, y, worker), sums_.across(), target.row(y));
    });
}

Layout layOut(Size picture, Size frame, Placement placement, float position) {
    const double wide = double(frame.width) / picture.width, high = double(frame.height) / picture.height;
    Layout layout;
    layout.seen = picture;
    layout.scaled = frame;
    if (placement == Placement::stretch) return layout;
    const double scale = placement == Placement::fill ? std::max(wide, high) : std::min(wide, high);
    const float share = position > 0 ? std::min(position, 1.0F) : 0;  // what is no number too
    const auto before = [&](int room) { return int(float(room) * share); };
    const auto scaledSide = [&](int pixels) { return std::max(1, int(std::lround(pixels * scale))); };
    if (placement == Placement::fit) {
        layout.scaled = {std::min(scaledSide(picture.width), frame.width),
                         std::min(scaledSide(picture.height), frame.height)};
        layout.left = before(frame.width - layout.scaled.width);
        layout.top = before(frame.height - layout.scaled.height);
        return layout;
    }
    // Only the part of the picture that will be seen is resampled, so that a long thin picture can't ask for a huge
    // one.
    const auto seenSide = [&](int pixels, int side) {
        const int whole = std::max(scaledSide(pixels), side);
        return std::min(pixels, std::max(1, int(std::lround(double(pixels) * side / whole))));
    };
    layout.seen = {seenSide(picture.width, frame.width), seenSide(picture.height, frame.height)};
    layout.seenX = before(picture.width - layout.seen.width);
    layout.seenY = before(picture.height - layout.seen.height);
    return layout;
}

Image layInto(const ImageView& picture, Size size, Placement placement, Rgb color, float position) {
    Image frame(size, PixelFormat::rgba8);
    PictureLayer().lay(picture, placement, color, frame, position);
    return frame;
}

bool PictureLayer::lay(const ImageView& picture, Placement placement, Rgb color, Image& frame, float position) {
    const int width = frame.size().width, height = frame.size().height;
    const Layout layout = layOut(picture.size, frame.size(), placement, position);
    const int right = layout.left + layout.scaled.width, bottom = layout.top + layout.scaled.height;
    ImageView seen = picture;
    seen.size = layout.seen;
    seen.data = picture.row(layout.seenY) + std::ptrdiff_t(layout.seenX) * bytesPerPixel(picture.format);
    sums_.prepare(layout.seen, layout.scaled);
    const auto layRows = [&](int first, int last, int worker) {
        for (int y = first; y < last; ++y) {
            std::uint8_t* out = frame.row(y);
            const bool bar = y < layout.top || y >= bottom;
            fillRow(color, 0, bar ? width : layout.left, out);
            if (bar) continue;
            const float* sums = sums_.row(seen, y - layout.top, worker);
            layRow(sums, sums_.across(), color, out + std::ptrdiff_t(4) * layout.left);
            fillRow(color, right, width, out);
        }
    };
    if (threads_ == Threads::all) {
        parallelFor(height, layRows);
    } else {
        layRows(0, height, 0);
    }
    return sums_.opaque();
}

}  // namespace matte
