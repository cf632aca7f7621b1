// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/conv_case.h"

#include <cuda_fp16.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include "tests/gpu/reference_conv.h"
#include "tests/support/pictures/oracle.h"

namespace matte::test {
namespace {

constexpr std::size_t kGuardBytes = 4096;
constexpr int kPoison = 0xFF;  // a NaN in every type

float roundedToHalf(float value) {
    return __half2float(__float2half_rn(value));
}

void round(std::vector<float>& values, int valueBytes) {
    if (valueBytes == 2) std::ranges::transform(values, values.begin(), roundedToHalf);
}

std::size_t outPixelsOf(const ConvShape& shape) {
    return std::size_t(shape.batch) * shape.outHeight() * shape.outWidth();
}

template <typename T>
DeviceBuffer upload(const std::vector<T>& values) {
    DeviceBuffer buffer(values.size() * sizeof(T));
    CUDA_CHECK(cudaMemcpy(buffer.data(), values.data(), buffer.bytes(), cudaMemcpyHostToDevice));
    return buffer;
}

/// Values as a kernel reads and writes them, and back.
std::vector<std::byte> encode(const std::vector<float>& values, int valueBytes) {
    std::vector<std::byte> bytes(values.size() * std::size_t(valueBytes));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const __half half = __float2half_rn(values[i]);
        const void* from = valueBytes == 4 ? static_cast<const void*>(&values[i]) : &half;
        std::memcpy(bytes.data() + i * std::size_t(valueBytes), from, std::size_t(valueBytes));
    }
    return bytes;
}

float decode(const std::byte* from, int valueBytes) {
    if (valueBytes == 4) {
        float value = 0;
        std::memcpy(&value, from, sizeof value);
        return value;
    }
    __half half;
    std::memcpy(&half, from, sizeof half);
    return __half2float(half);
}

/// Dense pixels of `channels` as pixels of paddedChannels, zeros behind.
std::vector<float> padded(const std::vector<float>& dense, int channels) {
    const std::size_t stride = std::size_t(paddedChannels(channels)), pixels = dense.size() / std::size_t(channels);
    std::vector<float> result(pixels * stride, 0.0F);
    for (std::size_t i = 0; i < pixels; ++i) {
        std::copy_n(dense.begin() + std::ptrdiff_t(i * channels), channels,
                    result.begin() + std::ptrdiff_t(i * stride));
    }
    return result;
}

/// An output buffer back on the host, its guard checked and its padding stripped.
struct Fetched {
    std::vector<float> values;
    bool paddingZero = true, guardIntact = true;
};

Fetched fetch(const DeviceBuffer& buffer, int channels, int stride, int valueBytes) {
    std::vector<std::byte> raw(buffer.bytes());
    CUDA_CHECK(cudaMemcpy(raw.data(), buffer.data(), buffer.bytes(), cudaMemcpyDeviceToHost));
    const std::size_t count = (raw.size() - kGuardBytes) / std::size_t(valueBytes);
    Fetched fetched;
    for (std::size_t i = 0; i < count; ++i) {
        const float value = decode(raw.data() + i * std::size_t(valueBytes), valueBytes);
        if (int(i % std::size_t(stride)) < channels) {
            fetched.values.push_back(value);
        } else {
            fetched.paddingZero = fetched.paddingZero && value == 0;
        }
    }
    fetched.guardIntact =
        std::all_of(raw.end() - kGuardBytes, raw.end(), [](std::byte b) { return b == std::byte(kPoison); });
    return fetched;
}

std::vector<float> maxPooled(const std::vector<float>& values, const ConvShape& shape) {
    std::vector<float> pooled;
    const int channels = shape.outChannels;
    const auto at = [&](int n, int y, int x, int c) {
        return values[((std::size_t(n) * shape.height + y) * shape.width + x) * channels + c];
    };
    for (int n = 0; n < shape.batch; ++n) {
        for (int y = 0; y + 1 < shape.height; y += 2) {
            for (int x = 0; x + 1 < shape.width; x += 2) {
                for (int c = 0; c < channels; ++c) {
                    pooled.push_back(
                        std::max({at(n, y, x, c), at(n, y, x + 1, c), at(n, y + 1, x, c), at(n, y + 1, x + 1, c)}));
                }
            }
        }
    }
    return pooled;
}

}  // namespace

ConvCase::ConvCase(const ConvShape& shape, ConvKernel kernel, unsigned seed)
    : shape_(shape), device_(DeviceFacts::current()), valueBytes_(valueBytes(kernel)) {
    const int inputs = shape.kind == ConvKind::depthwise ? 1 : shape.in0Channels + shape.in1Channels;
    filter_ = oracle::randomFilter(shape.outChannels, inputs, filterSide(shape), seed);
    round(filter_.weights, valueBytes_);
    const std::size_t pixels = std::size_t(shape.batch) * shape.height * shape.width, outPixels = outPixelsOf(shape);
    in_[0] = makeInput(pixels, shape.in0Channels, seed + 1, host_[0]);
    if (shape.in1Channels > 0) in_[1] = makeInput(pixels, shape.in1Channels, seed + 2, host_[1]);
    if (shape.added) added_ = makeInput(outPixels, shape.outChannels, seed + 4, hostAdded_);
    const std::size_t perPixel = std::size_t(paddedChannels(shape.outChannels)) * std::size_t(valueBytes_);
    out_ = DeviceBuffer(outPixels * perPixel + kGuardBytes);
    if (shape.pooled) pooled_ = DeviceBuffer(outPixels / 4 * perPixel + kGuardBytes);
    if (shape.head) makeHead(seed + 3);
}

DeviceBuffer ConvCase::makeInput(std::size_t pixels, int channels, unsigned seed, std::vector<float>& host) const {
    host = oracle::noise(1, 1, int(pixels) * channels, seed).values;
    round(host, valueBytes_);
    return upload(encode(padded(host, channels), valueBytes_));
}

void ConvCase::makeHead(unsigned seed) {
    headFilter_ = oracle::randomFilter(1, shape_.outChannels, 1, seed);
    std::vector<float> weights = headFilter_.weights;
    weights.resize(kHeadWeights, 0.0F);
    headWeights_ = upload(weights);
    headBias_ = upload(headFilter_.bias);
    const std::size_t pixels = std::size_t(shape_.batch) * shape_.height * shape_.width;
    alpha_ = DeviceBuffer(pixels * sizeof(float) + kGuardBytes);
}

const ConvCase::Weights& ConvCase::weightsFor(const ConvConfig& config) {
    const std::pair key{config.kernel, config.chunk};
    auto found = packed_.find(key);
    if (found == packed_.end()) {
        const PackedFilter packed = packFilter(filter_, shape_, config);
        found = packed_.emplace(key, Weights{upload(packed.weights), upload(packed.bias)}).first;
    }
    return found->second;
}

ConvLaunch ConvCase::launch(const ConvConfig& config) {
    const Weights& packed = weightsFor(config);
    const Head head{headWeights_.as<float>(), headBias_.as<float>(), alpha_.as<float>()};
    const ConvBuffers buffers{in_[0].data(),         in_[1].data(),           out_.data(), pooled_.data(),
                              packed.weights.data(), packed.bias.as<float>(), head,        added_.data()};
    return ConvLaunch(shape_, config, buffers, device_);
}

void ConvCase::computeReference() {
    const DeviceBuffer in0 = upload(host_[0]), in1 = upload(host_[1]), added = upload(hostAdded_);
    const DeviceBuffer weights = upload(filter_.weights), bias = upload(filter_.bias);
    expected_.resize(outPixelsOf(shape_) * std::size_t(shape_.outChannels));
    const DeviceBuffer out(expected_.size() * sizeof(float));
    referenceConv(shape_, in0.as<float>(), in1.as<float>(), weights.as<float>(), bias.as<float>(), added.as<float>(),
                  out.as<float>());
    CUDA_CHECK(cudaMemcpy(expected_.data(), out.data(), out.bytes(), cudaMemcpyDeviceToHost));
}

std::vector<float> ConvCase::expectedAlpha() const {
    const std::size_t channels = std::size_t(shape_.outChannels);
    std::vector<float> alpha(expected_.size() / channels);
    for (std::size_t i = 0; i < alpha.size(); ++i) {
        double sum = headFilter_.bias.front();
        for (std::size_t c = 0; c < channels; ++c) {
            sum += double(headFilter_.weights[c]) * expected_[i * channels + c];
        }
        alpha[i] = float(1 / (1 + std::exp(-sum)));
    }
    return alpha;
}

CheckResult ConvCase::check(const ConvConfig& config) {
    if (expected_.empty()) computeReference();
    CUDA_CHECK(cudaMemset(out_.data(), kPoison, out_.bytes()));
    if (shape_.pooled) CUDA_CHECK(cudaMemset(pooled_.data(), kPoison, pooled_.bytes()));
    if (shape_.head) CUDA_CHECK(cudaMemset(alpha_.data(), kPoison, alpha_.bytes()));
    CUDA_CHECK(cudaDeviceSynchronize());
    const Stream stream;
    launch(config)(stream.get());
    stream.wait();
    CheckResult result;
    if (shape_.head) {  // nothing else is written
        const Fetched alpha = fetch(alpha_, 1, 1, sizeof(float));
        result.nmse = oracle::nmse(expectedAlpha(), alpha.values);
        result.guardIntact = alpha.guardIntact;
        return result;
    }
    const int stride = paddedChannels(shape_.outChannels);
    const Fetched out = fetch(out_, shape_.outChannels, stride, valueBytes_);
    result.nmse = oracle::nmse(expected_, out.values);
    result.paddingZero = out.paddingZero;
    result.guardIntact = out.guardIntact;
    if (shape_.pooled) {
        const Fetched pooled = fetch(pooled_, shape_.outChannels, stride, valueBytes_);
        result.pooledNmse = oracle::nmse(maxPooled(expected_, shape_), pooled.values);
        result.paddingZero = result.paddingZero && pooled.paddingZero;
        result.guardIntact = result.guardIntact && pooled.guardIntact;
    }
    return result;
}

std::string text(const ConvShape& shape) {
    const std::array<const char*, 5> kinds{"conv3x3", "up2x2", "head1x1", "depthwise", "pointwise"};
    std::ostringstream text;
    text << kinds[std::size_t(shape.kind) - 1] << ' ' << shape.batch << 'x' << shape.height << 'x' << shape.width << ' '
         << shape.in0Channels;
    if (shape.in1Channels > 0) text << '+' << shape.in1Channels;
    text << "->" << shape.outChannels << (shape.pooled ? " pool" : "") << (shape.head ? " head" : "");
    if (shape.widthMultiple > 1) text << " by " << shape.widthMultiple;
    if (shape.kind == ConvKind::depthwise) text << " k" << shape.side;
    if (shape.stride > 1) text << " s" << shape.stride;
    text << (shape.linear ? " linear" : "") << (shape.added ? " added" : "");
    return text.str();
}

ConvKernel kernelNamed(const std::string& name) {
    if (name == "sm90") return ConvKernel::sm90;
    return name == "fp32" ? ConvKernel::fp32 : ConvKernel::mma;
}

}  // namespace matte::test
