// SPDX-License-Identifier: Apache-2.0
#include "tests/support/pictures/oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace matte::oracle {

Activation conv3x3(const Activation& in, const Filter& filter, int stride) {
    Activation out(in.height / stride, in.width / stride, filter.outChannels);
    for (int y = 0; y < out.height; ++y) {
        for (int x = 0; x < out.width; ++x) {
            for (int o = 0; o < filter.outChannels; ++o) {
                double sum = filter.bias[o];
                for (int ky = 0; ky < 3; ++ky) {
                    for (int kx = 0; kx < 3; ++kx) {
                        const int sy = y * stride + ky - 1, sx = x * stride + kx - 1;
                        if (sy < 0 || sy >= in.height || sx < 0 || sx >= in.width) continue;
                        for (int i = 0; i < in.channels; ++i) {
                            const std::size_t w = ((std::size_t(o) * in.channels + i) * 3 + ky) * 3 + kx;
                            sum += double(in.at(sy, sx, i)) * filter.weights[w];
                        }
                    }
                }
                out.at(y, x, o) = float(sum);
            }
        }
    }
    return out;
}

Activation depthwise(const Activation& in, const Filter& filter, int stride) {
    const int side = filter.side(), padding = side / 2;
    Activation out(in.height / stride, in.width / stride, in.channels);
    for (int y = 0; y < out.height; ++y) {
        for (int x = 0; x < out.width; ++x) {
            for (int c = 0; c < in.channels; ++c) {
                double sum = filter.bias[c];
                for (int ky = 0; ky < side; ++ky) {
                    for (int kx = 0; kx < side; ++kx) {
                        const int sy = y * stride + ky - padding, sx = x * stride + kx - padding;
                        if (sy < 0 || sy >= in.height || sx < 0 || sx >= in.width) continue;
                        sum += double(in.at(sy, sx, c)) * filter.weights[(std::size_t(c) * side + ky) * side + kx];
                    }
                }
                out.at(y, x, c) = float(sum);
            }
        }
    }
    return out;
}

Activation sum(const Activation& a, const Activation& b) {
    Activation out = a;
    for (std::size_t i = 0; i < out.values.size(); ++i) out.values[i] += b.values[i];
    return out;
}

Activation batchNorm(const Activation& in,
                     const std::vector<float>& gamma,
                     const std::vector<float>& beta,
                     const std::vector<float>& mean,
                     const std::vector<float>& variance,
                     double epsilon) {
    Activation out = in;
    for (std::size_t i = 0; i < out.values.size(); ++i) {
        const std::size_t c = i % std::size_t(in.channels);
        const double normal = (double(in.values[i]) - mean[c]) / std::sqrt(double(variance[c]) + epsilon);
        out.values[i] = float(gamma[c] * normal + beta[c]);
    }
    return out;
}

Activation relu(Activation in) {
    for (float& value : in.values) value = value > 0 ? value : 0;
    return in;
}

Activation maxPool(const Activation& in) {
    Activation out(in.height / 2, in.width / 2, in.channels);
    for (int y = 0; y < out.height; ++y) {
        for (int x = 0; x < out.width; ++x) {
            for (int c = 0; c < out.channels; ++c) {
                const float above = std::fmax(in.at(2 * y, 2 * x, c), in.at(2 * y, 2 * x + 1, c));
                const float below = std::fmax(in.at(2 * y + 1, 2 * x, c), in.at(2 * y + 1, 2 * x + 1, c));
                out.at(y, x, c) = std::fmax(above, below);
            }
        }
    }
    return out;
}

Activation upConv2x2(const Activation& in, const Filter& filter) {
    Activation out(in.height * 2, in.width * 2, filter.outChannels);
    for (int y = 0; y < out.height; ++y) {
        for (int x = 0; x < out.width; ++x) {
            for (int o = 0; o < filter.outChannels; ++o) {
                double sum = filter.bias[o];
                for (int i = 0; i < in.channels; ++i) {
                    const std::size_t w = ((std::size_t(o) * in.channels + i) * 2 + y % 2) * 2 + x % 2;
                    sum += double(in.at(y / 2, x / 2, i)) * filter.weights[w];
                }
                out.at(y, x, o) = float(sum);
            }
        }
    }
    return out;
}

Activation concat(const Activation& a, const Activation& b) {
    Activation out(a.height, a.width, a.channels + b.channels);
    for (int y = 0; y < a.height; ++y) {
        for (int x = 0; x < a.width; ++x) {
            for (int c = 0; c < a.channels; ++c) out.at(y, x, c) = a.at(y, x, c);
            for (int c = 0; c < b.channels; ++c) out.at(y, x, a.channels + c) = b.at(y, x, c);
        }
    }
    return out;
}

Activation pointwise(const Activation& in, const Filter& filter) {
    Activation out(in.height, in.width, filter.outChannels);
    for (int y = 0; y < in.height; ++y) {
        for (int x = 0; x < in.width; ++x) {
            for (int o = 0; o < filter.outChannels; ++o) {
                double sum = filter.bias[o];
                for (int i = 0; i < in.channels; ++i) {
                    sum += double(in.at(y, x, i)) * filter.weights[std::size_t(o) * in.channels + i];
                }
                out.at(y, x, o) = float(sum);
            }
        }
    }
    return out;
}

Activation sigmoid(Activation in) {
    for (float& value : in.values) value = float(1 / (1 + std::exp(-double(value))));
    return in;
}

Activation tanh(Activation in) {
    for (float& value : in.values) value = float(std::tanh(double(value)));
    return in;
}

Activation channels(const Activation& in, int first, int count) {
    Activation out(in.height, in.width, count);
    for (int y = 0; y < in.height; ++y) {
        for (int x = 0; x < in.width; ++x) {
            for (int c = 0; c < count; ++c) out.at(y, x, c) = in.at(y, x, first + c);
        }
    }
    return out;
}

namespace {

Activation product(const Activation& a, const Activation& b) {
    Activation out = a;
    for (std::size_t i = 0; i < out.values.size(); ++i) out.values[i] *= b.values[i];
    return out;
}

/// (1 - share) a + share b
Activation blend(const Activation& a, const Activation& b, const Activation& share) {
    Activation out = a;
    for (std::size_t i = 0; i < out.values.size(); ++i) {
        const double z = share.values[i];
        out.values[i] = float((1 - z) * a.values[i] + z * b.values[i]);
    }
    return out;
}

/// `gates` and `candidate` before their activations are calculated by `convolve` from their inputs.
template <typename Convolve, typename Kept>
void runCell(const ConvGru& cell,
             const Conv& layer,
             std::vector<Activation>& tensors,
             const Convolve& convolve,
             const Kept& kept) {
    const Activation& x = tensors[std::size_t(cell.in)];
    Activation& state = tensors[std::size_t(cell.state)];
    const int half = x.channels / 2;
    if (layer.out == cell.gates) {
        const Activation& input = tensors[std::size_t(cell.input)] = channels(x, half, half);
        const Activation& gates = tensors[std::size_t(cell.gates)] = sigmoid(convolve(concat(input, kept(state))));
        tensors[std::size_t(cell.reset)] = kept(product(channels(gates, 0, half), state));
        return;
    }
    const Activation& input = tensors[std::size_t(cell.input)];
    const Activation& candidate = tensors[std::size_t(cell.candidate)] =
        tanh(convolve(concat(input, tensors[std::size_t(cell.reset)])));
    state = blend(state, candidate, channels(tensors[std::size_t(cell.gates)], half, half));
    tensors[std::size_t(cell.out)] = kept(concat(channels(x, 0, half), sum(input, state)));
}

}  // namespace

std::vector<Activation> run(const UNet& unet, const Activation& input, float (*round)(float), States* states) {
    const auto rounded = [round](std::vector<float> values) {
        if (round) std::ranges::transform(values, values.begin(), round);
        return values;
    };
    const auto kept = [&rounded](Activation activation) {
        activation.values = rounded(std::move(activation.values));
        return activation;
    };
    std::vector<Activation> tensors(unet.tensors().size());
    tensors[0] = kept(input);
    for (std::size_t i = 0; i < unet.cells().size(); ++i) {
        const Tensor& state = unet.tensors()[std::size_t(unet.cells()[i].state)];
        tensors[std::size_t(unet.cells()[i].state)] =
            states && !states->empty()
                ? (*states)[i]
                : Activation(input.height >> state.level, input.width >> state.level, state.channels);
    }
    for (const Conv& layer : unet.layers()) {
        const Activation& in0 = tensors[layer.in0];
        Filter filter = layer.filter;
        filter.weights = rounded(std::move(filter.weights));
        switch (layer.kind) {
            case ConvKind::conv3x3: {
                if (layer.cell != kNoCell) {
                    const auto convolve = [&](const Activation& in) { return kept(conv3x3(in, filter)); };
                    runCell(unet.cells()[std::size_t(layer.cell)], layer, tensors, convolve, kept);
                    break;
                }
                const Activation in = layer.in1 == kNoTensor ? in0 : concat(in0, tensors[layer.in1]);
                tensors[layer.out] = kept(relu(conv3x3(in, filter, layer.stride)));
                break;
            }
            case ConvKind::depthwise: tensors[layer.out] = kept(relu(depthwise(in0, filter, layer.stride))); break;
            case ConvKind::pointwise: {
                const Activation out = pointwise(in0, filter);
                const bool adds = layer.added != kNoTensor;
                tensors[layer.out] = kept(layer.relu ? relu(out) : adds ? sum(out, tensors[layer.added]) : out);
                break;
            }
            case ConvKind::up2x2: tensors[layer.out] = kept(upConv2x2(in0, filter)); break;
            case ConvKind::head1x1: tensors[layer.out] = sigmoid(pointwise(in0, filter)); break;
        }
        if (layer.pooled != kNoTensor) tensors[layer.pooled] = maxPool(tensors[layer.out]);
    }
    if (states) {
        states->clear();
        for (const ConvGru& cell : unet.cells()) states->push_back(tensors[std::size_t(cell.state)]);
    }
    return tensors;
}

Activation noise(int height, int width, int channels, unsigned seed) {
    Activation out(height, width, channels);
    std::mt19937 random(seed);
    for (float& value : out.values) value = float(random()) * 0x1p-31F - 1;
    return out;
}

Filter randomFilter(int outChannels, int inChannels, int side, unsigned seed) {
    std::mt19937 random(seed);
    const auto uniform = [&] { return float(random()) * 0x1p-31F - 1; };
    Filter filter{outChannels, inChannels, {}, {}};
    const float scale = std::sqrt(6.0F / float(inChannels * side * side));
    filter.weights.resize(std::size_t(outChannels) * inChannels * side * side);
    for (float& weight : filter.weights) weight = uniform() * scale;
    filter.bias.resize(std::size_t(outChannels));
    for (float& bias : filter.bias) bias = uniform() * 0.1F;
    return filter;
}

double nmse(const std::vector<float>& expected, const std::vector<float>& actual) {
    if (expected.size() != actual.size()) return std::numeric_limits<double>::infinity();
    double error = 0, power = 1e-30;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double difference = double(actual[i]) - expected[i];
        error += difference * difference;
        power += double(expected[i]) * expected[i];
    }
    return std::isnan(error) ? std::numeric_limits<double>::infinity() : error / power;
}

}  // namespace matte::oracle
