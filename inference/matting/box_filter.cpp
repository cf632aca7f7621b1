// SPDX-License-Identifier: Apache-2.0
#include "inference/matting/box_filter.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "inference/core/parallel.h"
#include "inference/core/vector_clones.h"
#include "inference/matting/resample.h"

namespace matte {
namespace {

/// As many numbers as one instruction takes, or several where the processor's vectors are shorter.
template <typename Number, int kCount>
struct VectorOf {
    using Type [[gnu::vector_size(kCount * sizeof(Number))]] = Number;
};
template <typename Number>
struct VectorOf<Number, 1> {
    using Type = Number;
};

/// A number, or a vector number by number. Passed by reference: a vector's way through a call depends on the processor.
template <typename From, typename To>
[[gnu::always_inline]] inline void convert(const From& from, To& to) {
    if constexpr (std::is_arithmetic_v<From>) {
        to = To(from);
    } else {
        to = __builtin_convertvector(from, To);
    }
}

/// A running sum along a row of kCount neighbouring channels of `stride`.
template <typename Sum, int kCount>
[[gnu::always_inline]] inline void boxRow(const float* in, int width, int stride, int radius, float* out) {
    using Sums = typename VectorOf<Sum, kCount>::Type;
    using Values = typename VectorOf<float, kCount>::Type;
    Sums sum{}, read{};
    Values values{};
    const auto readAt = [&](int x) __attribute__((always_inline)) {
        std::memcpy(&values, in + std::ptrdiff_t(x) * stride, sizeof values);
        convert(values, read);
    };
    const auto add = [&](int x) __attribute__((always_inline)) {
        readAt(x);
        sum += read;
    };
    for (int x = 0; x < std::min(radius, width); ++x) add(x);
    for (int x = 0; x < width; ++x) {
        const int enter = x + radius, leave = x - radius - 1;
        if (enter < width) add(enter);
        if (leave >= 0) {
            readAt(leave);
            sum -= read;
        }
        const float scale = 1.0F / float(std::min(enter, width - 1) - std::max(leave + 1, 0) + 1);
        convert(sum, values);
        values *= scale;
        std::memcpy(out + std::ptrdiff_t(x) * stride, &values, sizeof values);
    }
}

/// All channels of a row.
template <typename Sum>
[[gnu::always_inline]] inline void boxRowOf(const float* in, int width, int channels, int radius, float* out) {
    int c = 0;
    for (; c + 8 <= channels; c += 8) boxRow<Sum, 8>(in + c, width, channels, radius, out + c);
    for (; c + 4 <= channels; c += 4) boxRow<Sum, 4>(in + c, width, channels, radius, out + c);
    for (; c < channels; ++c) boxRow<Sum, 1>(in + c, width, channels, radius, out + c);
}

constexpr int kStrip = 256;

/// The columns [begin, end) of floats, at most kStrip: a running sum down the picture.
template <typename Sum>
[[gnu::always_inline]] inline void boxColumnsOf(const Planes& in, int begin, int end, int radius, Planes& out) {
    const int height = in.size.height, count = end - begin;
    Sum sum[kStrip] = {};
    for (int y = 0; y < std::min(radius, height); ++y) {
        const float* row = in.row(y) + begin;
        for (int i = 0; i < count; ++i) sum[i] += Sum(row[i]);
    }
    const float none[kStrip] = {};
    for (int y = 0; y < height; ++y) {
        const int enter = y + radius, leave = y - radius - 1;
        const float* entering = enter < height ? in.row(enter) + begin : none;
        const float* leaving = leave >= 0 ? in.row(leave) + begin : none;
        const float scale = 1.0F / float(std::min(enter, height - 1) - std::max(leave + 1, 0) + 1);
        float* row = out.row(y) + begin;
        for (int i = 0; i < count; ++i) {
            sum[i] = (sum[i] + Sum(entering[i])) - Sum(leaving[i]);
            row[i] = float(sum[i]) * scale;
        }
    }
}

/// What the processor's best vectors are used for.
struct InFloat {
    MATTE_VECTOR_CLONES static void row(const float* in, int width, int channels, int radius, float* out) {
        boxRowOf<float>(in, width, channels, radius, out);
    }
    MATTE_VECTOR_CLONES static void columns(const Planes& in, int begin, int end, int radius, Planes& out) {
        boxColumnsOf<float>(in, begin, end, radius, out);
    }
};
struct InDouble {
    MATTE_VECTOR_CLONES static void row(const float* in, int width, int channels, int radius, float* out) {
        boxRowOf<double>(in, width, channels, radius, out);
    }
    MATTE_VECTOR_CLONES static void columns(const Planes& in, int begin, int end, int radius, Planes& out) {
        boxColumnsOf<double>(in, begin, end, radius, out);
    }
};

template <typename How>
void filter(Planes& planes, int radius, int passes, Planes& across) {
    reshape(across, planes.size, planes.channels);
    const int height = planes.size.height, rowFloats = planes.size.width * planes.channels;
    for (int pass = 0; pass < passes; ++pass) {
        parallelEach(
            height, [&](int y) { How::row(planes.row(y), planes.size.width, planes.channels, radius, across.row(y)); });
        parallelFor(rowFloats, kStrip,
                    [&](int begin, int end, int) { How::columns(across, begin, end, radius, planes); });
    }
}

}  // namespace

void boxMeans(Planes& planes, int radius, int passes, Planes& across) {
    filter<InFloat>(planes, radius, passes, across);
}

void boxMeansInDouble(Planes& planes, int radius, int passes, Planes& across) {
    filter<InDouble>(planes, radius, passes, across);
}

}  // namespace matte
