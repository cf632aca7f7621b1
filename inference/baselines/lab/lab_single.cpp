// SPDX-License-Identifier: Apache-2.0
// lab xnor and lab stencil: one channel of 1024x1024, one 3x3 filter, as in the course's second half.
#include <cmath>

#include "inference/baselines/baselines.h"
#include "inference/baselines/lab/lab_measure.h"

namespace matte::baselines {
namespace {

constexpr int kSide = 1024;

/// From -1 to 1, as the course draws its numbers.
std::vector<float> around0(std::size_t count, unsigned seed) {
    auto values = uniform(count, seed);
    for (float& value : values) value = 2 * value - 1;
    return values;
}

Filter3x3 filterOf(const std::vector<float>& values) {
    Filter3x3 filter{};
    for (std::size_t i = 0; i < 9; ++i) filter[i] = values[i];
    return filter;
}

/// One way through the stencil: a baseline, or a layer made for it.
struct StencilWay {
    const char* name;
    const char* seed;
    double courseMs;
    Where where;
    std::unique_ptr<Layer> (*make)(const Filter3x3& filter,
                                   const Shape& in);  ///< null: the baselines' implementation `name`
};

const StencilWay kStencils[] = {{"cpu-sequential", "loops, compiled", 118, Where::cpu, nullptr},
                                {"cpu-parallel", "loops, parallel", 26.5, Where::cpu, nullptr},
                                {"cpu-im2col", "im2col, parallel", 13, Where::cpu, nullptr},
                                {"cpu-stencil", "stencil", 3.62, Where::cpu, makeStencilCpu},
                                {"gpu-direct", "", NAN, Where::gpu, nullptr},
                                {"gpu-im2col", "im2col", 0.230, Where::gpu, nullptr},
                                {"gpu-stencil", "stencil", 0.740, Where::gpu, makeStencilGpu},
                                {"gpu-stencil-columns", "", NAN, Where::gpu, makeStencilColumns}};

std::string whyNot(Where where) {
    return whyUnavailable(implementationNamed(where == Where::cpu ? "cpu-parallel" : "gpu-direct"));
}

/// Whether `--implementations` lets a way through that may be no implementation of the table.
bool wanted(const LabOptions& options, std::string_view name, Where where) {
    if (!chosen(options, where)) return false;
    bool any = options.implementations.empty();
    for (const Implementation* implementation : options.implementations) any = any || implementation->name == name;
    return any;
}

}  // namespace

std::vector<Table> labStencil(const LabOptions& options) {
    Table table{"stencil",
                "One channel of 1024x1024, one 3x3 filter",
                {"Implementation", "The course's name", "Course ms", "With copies ms", "Kernel ms", "GFLOP/s",
                 "Of the limit", "Mean", "Maximum"}};
    const Shape shape{1, 1, kSide, kSide};
    const auto input = uniform(shape.floats(), 1), weights = uniform(9, 2);
    const Block block{{1, 1, weights, {0.0F}}, {}, false};
    const auto reference = makeSequential(block, shape);
    const auto expected = runLayer(*reference, Where::cpu, input, input.size());
    const double flops = 2.0 * 9 * double(shape.pixels()), bytes = 8.0 * double(shape.pixels());
    for (const StencilWay& way : kStencils) {
        if (!wanted(options, way.name, way.where)) continue;
        const std::string why = whyNot(way.where);
        Measured row;
        Difference from{NAN, NAN, NAN};
        if (why.empty()) {
            announce(options, std::string("stencil ") + way.name);
            const auto layer =
                way.make ? way.make(filterOf(weights), shape) : makeBlock(implementationNamed(way.name), block, shape);
            row = measure(*layer, way.where, input, input.size(), options);
            from = difference(expected, row.output);
        }
        table.rows.push_back({way.name, way.seed, number(way.courseMs),
                              cellUnless(why, table, number(row.withCopiesMs)), number(row.ms),
                              number(flops / row.ms / 1e6), shareOfLimit(way.where, flops, bytes, row.ms),
                              number(from.mean), number(from.maximum)});
    }
    addLimits(table, options);
    table.notes.emplace_back(
        "Course: Numba, without the copies; a Xeon at 2.3 GHz with two cores, a Tesla T4 (im2col), a P100 (stencil). "
        "Theirs besides: the loops uncompiled 6260 ms, SciPy 42 ms, NumPy's im2col 8 ms, CuPy's 0.256 ms, TensorFlow "
        "about 1 ms.");
    return {std::move(table)};
}

std::vector<Table> labXnor(const LabOptions& options) {
    Table table{"xnor",
                "XNOR convolution, one channel of 1024x1024, one 3x3 filter",
                {"Where", "Stage", "Course ms", "Ours ms"}};
    Table errors{"xnor-error",
                 "XNOR convolution: how far from its definition, and from the convolution that it stands for",
                 {"Where", "With copies ms", "Kernel ms", "From the definition, maximum", "From the convolution, mean",
                  "maximum", "NMSE"}};
    const Shape shape{1, 1, kSide + 2, kSide + 2};
    const auto input = around0(shape.floats(), 3), weights = around0(9, 4);
    std::vector<float> defined(std::size_t(kSide) * kSide), convolved(defined.size());
    const SignFilter filter(filterOf(weights));
    for (int i = 0; i < kSide * kSide; ++i) {
        int signs = 0;
        float size = 0, sum = 0;
        for (int tap = 0; tap < 9; ++tap) {
            const float value =
                input[std::size_t(i / kSide + tap / 3) * (kSide + 2) + std::size_t(i % kSide + tap % 3)];
            const float weight = weights[std::size_t(tap)];
            signs += (value > 0) == (weight > 0) ? 1 : -1;
            size += std::fabs(value);
            sum += value * weight;
        }
        defined[std::size_t(i)] = float(signs) * (size / 9) * filter.scale;
        convolved[std::size_t(i)] = sum;
    }
    struct Stage {
        const char* name;
        double courseMs;
    };
    const Stage stages[] = {{"signs to bits (course: im2col, binarize, bitpack)", 4.96 + 4.86 + 4.53},
                            {"K (course: K and alpha)", 2.70},
                            {"XNOR, popcount, scale (course: XNOR, unpack, scale)", 0.32 + 1.75 + 0.56}};
    for (const Where where : {Where::cpu, Where::gpu}) {
        const char* name = where == Where::cpu ? "CPU" : "GPU";
        if (!chosen(options, where)) continue;
        if (const std::string why = whyNot(where); !why.empty()) {
            table.rows.push_back({name, "all", number(19.68), cellUnless(why, table, {})});
            continue;
        }
        announce(options, std::string("xnor ") + name);
        const auto layer = (where == Where::cpu ? makeXnorCpu : makeXnorGpu)(filterOf(weights), shape);
        const Measured row = measure(*layer, where, input, defined.size(), options);
        for (std::size_t i = 0; i < row.stepMs.size(); ++i) {
            table.rows.push_back({name, stages[i].name, number(stages[i].courseMs), number(row.stepMs[i])});
        }
        table.rows.push_back({name, "all", number(19.68), number(row.ms)});
        const Difference own = difference(defined, row.output), far = difference(convolved, row.output);
        errors.rows.push_back({name, number(row.withCopiesMs), number(row.ms), number(own.maximum), number(far.mean),
                               number(far.maximum), number(far.nmse)});
    }
    table.notes.emplace_back("Course: NumPy and Numba on a Xeon at 2.3 GHz with two cores; their own sum is 20 ms.");
    return {std::move(table), std::move(errors)};
}

}  // namespace matte::baselines
