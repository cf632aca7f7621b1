// SPDX-License-Identifier: Apache-2.0
#include "inference/cpu/conv_gru.h"

#include <bit>
#include <cmath>

namespace matte::gru {
namespace {

float toFloat(float value) {
    return value;
}
float toFloat(Bfloat16 value) {
    return std::bit_cast<float>(std::uint32_t(value.bits) << 16);
}

void store(float value, float& to) {
    to = value;
}
void store(float value, Bfloat16& to) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = bits + 0x7FFFU + (bits >> 16 & 1U);
    to.bits = std::uint16_t((std::isnan(value) ? bits | 0x400000U : rounded) >> 16);
}

}  // namespace

template <typename Value>
void takeInput(const Value* x, std::size_t pixels, int half, float* input) {
    for (std::size_t i = 0; i < pixels; ++i, x += 2 * half, input += half) {
        for (int c = 0; c < half; ++c) input[c] = toFloat(x[half + c]);
    }
}

void resetState(const float* gates, const float* state, std::size_t pixels, int half, float* reset) {
    for (std::size_t i = 0; i < pixels; ++i, gates += 2 * half, state += half, reset += half) {
        for (int c = 0; c < half; ++c) reset[c] = gates[c] * state[c];
    }
}

template <typename Value>
void updateState(
    const float* gates, const float* candidate, const Value* x, std::size_t pixels, int half, float* state, Value* y) {
    for (std::size_t i = 0; i < pixels; ++i) {
        for (int c = 0; c < half; ++c) {
            const float z = gates[half + c];
            state[c] = (1 - z) * state[c] + z * candidate[c];
            y[c] = x[c];
            store(toFloat(x[half + c]) + state[c], y[half + c]);
        }
        gates += 2 * half, x += 2 * half, y += 2 * half;
        candidate += half, state += half;
    }
}

template void takeInput(const float*, std::size_t, int, float*);
template void takeInput(const Bfloat16*, std::size_t, int, float*);
template void updateState(const float*, const float*, const float*, std::size_t, int, float*, float*);
template void updateState(const float*, const float*, const Bfloat16*, std::size_t, int, float*, Bfloat16*);

}  // namespace matte::gru
