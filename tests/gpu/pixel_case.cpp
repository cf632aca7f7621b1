// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/pixel_case.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "inference/matting/guided_filter.h"

namespace matte::test {
namespace {

constexpr std::size_t kPadding = 12;

std::uint8_t byteOf(double value) {
    return std::uint8_t(std::clamp(std::floor(value + 0.5), 0.0, 255.0));
}

/// ITU-R BT.601, studio range, in the standard's own terms: E'R = E'Y + 1.402 E'Cr and so on.
void convert(int y, int u, int v, std::uint8_t* rgba) {
    const double light = (y - 16) / 219.0, blue = (u - 128) / 224.0, red = (v - 128) / 224.0;
    rgba[0] = byteOf(255 * (light + 1.402 * red));
    rgba[1] = byteOf(255 * (light - 1.402 * 0.299 / 0.587 * red - 1.772 * 0.114 / 0.587 * blue));
    rgba[2] = byteOf(255 * (light + 1.772 * blue));
    rgba[3] = 255;
}

std::vector<std::uint8_t> waves(std::size_t stride, std::size_t rows, unsigned seed) {
    std::vector<std::uint8_t> bytes(stride * rows);
    std::minstd_rand random(seed);
    for (std::size_t y = 0; y < rows; ++y) {
        for (std::size_t x = 0; x < stride; ++x) {
            const double wave = std::sin(double(x) * 0.013 + double(y) * 0.007 * double(x % 4 + 1) + seed);
            bytes[y * stride + x] = byteOf(120 + 90 * wave + double(random() % 41));
        }
    }
    return bytes;
}

void convertAll(const std::vector<std::uint8_t>& bytes, std::size_t stride, PixelFormat format, Image& image) {
    const auto [width, height] = image.size();
    for (int y = 0; y < height; ++y) {
        const std::uint8_t* row = bytes.data() + std::size_t(y) * stride;
        const std::uint8_t* chroma = bytes.data() + std::size_t(height + y / 2) * stride;
        for (int x = 0; x < width; ++x) {
            std::uint8_t* out = image.row(y) + 4 * x;
            const int pair = x / 2;
            if (format == PixelFormat::nv12) {
                convert(row[x], chroma[2 * pair], chroma[2 * pair + 1], out);
            } else {
                convert(row[2 * x], row[4 * pair + 1], row[4 * pair + 3], out);
            }
        }
    }
}

std::vector<float4> pack(const Planes& planes, int first, int count) {
    std::vector<float4> packed(planes.size.pixels());
    for (std::size_t i = 0; i < packed.size(); ++i) {
        const float* p = planes.values.data() + i * std::size_t(planes.channels) + first;
        packed[i] = {p[0], p[1], p[2], count > 3 ? p[3] : 0.0F};
    }
    return packed;
}

template <typename T>
void copyTo(void* to, const std::vector<T>& values) {
    CUDA_CHECK(cudaMemcpy(to, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaDeviceSynchronize());
}

}  // namespace

Image wavyImage(Size size, PixelFormat format, unsigned seed) {
    Image image(size, format);
    const auto bytes = waves(std::size_t(image.strideBytes()), std::size_t(size.height), seed);
    std::ranges::copy(bytes, image.row(0));
    return image;
}

Planes roundMatte(Size size) {
    Planes matte(size, 1);
    for (int y = 0; y < size.height; ++y) {
        for (int x = 0; x < size.width; ++x) {
            const float u = (float(x) + 0.5F) / float(size.width) - 0.45F;
            const float v = (float(y) + 0.5F) / float(size.height) - 0.6F;
            matte.row(y)[x] = clampUnit((0.35F - std::sqrt(u * u + v * v)) * 25 + 0.5F);
        }
    }
    return matte;
}

std::string nameOf(PixelFormat format) {
    switch (format) {
        case PixelFormat::rgba8: return "rgba8";
        case PixelFormat::bgr8: return "bgr8";
        case PixelFormat::nv12: return "nv12";
        case PixelFormat::yuyv: return "yuyv";
        case PixelFormat::gray8: break;
    }
    return "gray8";
}

PictureCase::PictureCase(PixelFormat with, Size pixels, unsigned seed) : format(with), size(pixels) {
    strideBytes = packedStride(format, size.width) + kPadding;
    const std::size_t rows = std::size_t(size.height);
    auto raw = waves(strideBytes, format == PixelFormat::nv12 ? rows + (rows + 1) / 2 : rows, seed);
    const bool bgr = format == PixelFormat::bgr8;
    image = Image(size, bgr ? PixelFormat::bgr8 : PixelFormat::rgba8);
    if (format == PixelFormat::nv12 || format == PixelFormat::yuyv) {
        convertAll(raw, strideBytes, format, image);
    } else {
        for (int y = 0; y < size.height; ++y) {
            std::uint8_t* row = raw.data() + std::size_t(y) * strideBytes;
            // Whole rows that are opaque, wholly transparent, or as they come.
            for (int x = 0; !bgr && x < size.width; ++x)
                row[4 * x + 3] = y % 7 < 4 ? 255 : y % 7 < 5 ? 0 : row[4 * x + 3];
            std::copy_n(row, image.strideBytes(), image.row(y));
        }
    }
    bytes = upload(raw);
}

device::Source PictureCase::source() const {
    return {bytes.as<std::uint8_t>(), size, std::ptrdiff_t(strideBytes), format};
}

GridCase::GridCase(Size size)
    : planes_(size.pixels() * sizeof(float4) * device::GuidedCoefficients::kPlanes),
      memory_(device::Scratch::bytes(size)) {
    auto* plane = planes_.as<float4>();
    const std::size_t pixels = size.pixels();
    guided_ = {size, plane, plane + pixels, plane + 2 * pixels, plane + 3 * pixels, plane + 4 * pixels};
    scratch_ = device::Scratch::in(memory_.data(), size);
    CUDA_CHECK(cudaMemset(planes_.data(), 0xff, planes_.bytes()));  // NaN: nothing may be read before it is written
    CUDA_CHECK(cudaMemset(memory_.data(), 0xff, memory_.bytes()));
    CUDA_CHECK(cudaDeviceSynchronize());  // or it would run beside, or after, the kernels of other streams
}

void GridCase::set(const Planes& guided, const Planes& linear, const Planes& alpha) {
    copyTo(guided_.coefficients, pack(guided, guided::kCoefficients, 4));
    copyTo(guided_.foreground, pack(guided, guided::kForeground, 3));
    copyTo(guided_.background, pack(guided, guided::kBackground, 3));
    copyTo(guided_.blurred, pack(guided, guided::kBlurred, 3));
    std::vector<float4> own = pack(linear, 0, 3);
    for (std::size_t i = 0; i < own.size(); ++i) own[i].w = alpha.values[i];
    copyTo(guided_.linear, own);
}

void GridCase::setGuide(const Planes& guide, const Planes& target) {
    copyTo(scratch_.guide, pack(guide, 0, 3));
    copyTo(scratch_.target, target.values);
}

std::vector<float> GridCase::channels(const Planes& planes, int first) {
    std::vector<float> values;
    for (std::size_t i = 0; i < planes.size.pixels(); ++i) {
        const float* p = planes.values.data() + i * std::size_t(planes.channels) + first;
        values.insert(values.end(), p, p + 3);
    }
    return values;
}

std::vector<float> GridCase::channelsOf(const float4* plane) const {
    std::vector<float> values;
    for (const float4& p : download<float4>(plane, guided_.size.pixels())) values.insert(values.end(), {p.x, p.y, p.z});
    return values;
}

std::vector<float> GridCase::alpha() const {
    std::vector<float> values;
    for (const float4& p : download<float4>(guided_.linear, guided_.size.pixels())) values.push_back(p.w);
    return values;
}

}  // namespace matte::test
