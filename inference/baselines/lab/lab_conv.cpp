// SPDX-License-Identifier: Apache-2.0
// lab conv: the course's convolutions at batch 4. Their data, too: everything uniform from 0 to 1.
#include <algorithm>
#include <cmath>
#include <map>

#include "inference/baselines/lab/lab_measure.h"

namespace matte::baselines {
namespace {

constexpr int kBatch = 4;

/// A figure that the course gives for one implementation on one layer; NAN: none.
struct CourseFigure {
    std::string_view implementation;
    double seconds = NAN, mean = NAN, maximum = NAN;
};

struct CourseLayer {
    int in, out, side;
    std::vector<CourseFigure> figures;
    [[nodiscard]] std::string name() const { return std::to_string(in) + "x" + std::to_string(out); }
    [[nodiscard]] Shape shape() const { return {kBatch, in, side, side}; }
};

/// The report's five layers: the CPU's loops, and the direct kernel with its mean difference from them.
std::vector<CourseLayer> fiveLayers() {
    const auto layer = [](int in, int out, int side, double cpu, double gpu, double mean) {
        return CourseLayer{in, out, side, {{"cpu-sequential", cpu}, {"gpu-direct", gpu, mean}}};
    };
    return {
        layer(3, 64, 512, 231.343723, 1.070358, 4.478326e-07), layer(64, 128, 256, 149.354147, 0.801589, 4.130972e-05),
        layer(128, 256, 128, 89.949023, 0.788387, 0.0001154061), layer(256, 512, 64, 59.084347, 0.784225, 0.0003211508),
        layer(512, 1024, 32, 44.7523, 0.776366, 0.0008802213)};
}

/// The weekly report's ten layers: the CPU's loops, the tiled kernel with its differences, and PyTorch on the GPU.
std::vector<CourseLayer> tenLayers() {
    const auto layer = [](int in, int out, int side, double cpu, double tiled, double torch, double maximum,
                          double mean) {
        return CourseLayer{
            in, out, side, {{"cpu-sequential", cpu}, {"gpu-tiled-plain", tiled, mean, maximum}, {"gpu-cudnn", torch}}};
    };
    return {layer(3, 64, 512, 219.5698, 0.556506, 0.113883, 2.861023e-06, 1.3732371e-07),
            layer(64, 64, 512, 295.6858, 0.694394, 0.119253, 0.012087822, 0.0016611373),
            layer(64, 128, 256, 147.2688, 0.660449, 0.110140, 0.011403441, 0.0016632475),
            layer(128, 128, 256, 174.8481, 0.874977, 0.110240, 0.016788483, 0.0023460574),
            layer(128, 256, 128, 102.0987, 0.687300, 0.117350, 0.016106129, 0.0023465196),
            layer(256, 256, 128, 119.8253, 0.715620, 0.123919, 0.023344994, 0.0033124883),
            layer(256, 512, 64, 58.3359, 0.586552, 0.109781, 0.024612427, 0.0032992968),
            layer(512, 512, 64, 89.7313, 0.705134, 0.109348, 0.029963493, 0.004656828),
            layer(512, 1024, 32, 44.3155, 0.567937, 0.110003, 0.030963898, 0.004632779),
            layer(1024, 1024, 32, 73.3168, 0.828450, 0.113441, 0.042533875, 0.0065273787)};
}

/// Direct against tiled: seconds.
std::vector<CourseLayer> tiledLayers() {
    const auto layer = [](int in, int out, int side, double direct, double tiled) {
        return CourseLayer{in, out, side, {{"gpu-direct", direct}, {"gpu-tiled-plain", tiled, 0.0}, {"gpu-tiled"}}};
    };
    return {layer(3, 64, 512, 0.708337, 0.452569), layer(64, 128, 256, 0.525432, 0.308580),
            layer(128, 256, 128, 0.492068, 0.292706), layer(256, 512, 64, 0.481996, 0.283913),
            layer(512, 1024, 32, 0.485973, 0.323966)};
}

/// Convolution, batch norm and ReLU apart and in one: seconds.
std::vector<CourseLayer> fusedLayers() {
    const auto layer = [](int in, int out, int side, double separate, double fused) {
        return CourseLayer{in, out, side, {{"gpu-tiled", separate}, {"gpu-fused", fused, 0.0}}};
    };
    return {layer(3, 64, 512, 0.527608, 0.279877), layer(64, 128, 256, 0.456157, 0.106524),
            layer(128, 256, 128, 0.358132, 0.089497), layer(256, 512, 64, 0.318990, 0.082366),
            layer(512, 1024, 32, 0.320638, 0.105859)};
}

Block courseBlock(const CourseLayer& layer, bool normAndRelu) {
    const auto count = std::size_t(layer.out);
    const unsigned seed = unsigned(layer.in * 2048 + layer.out);
    Block block;
    block.filter = {layer.out, layer.in, uniform(count * std::size_t(layer.in) * 9, seed + 1),
                    uniform(count, seed + 2)};
    if (normAndRelu) {
        block.norm = BatchNorm{uniform(count, seed + 3), uniform(count, seed + 4), uniform(count, seed + 5),
                               uniform(count, seed + 6)};
        block.relu = true;
    }
    return block;
}

const std::vector<std::string> kColumns{"Layer",         "Implementation", "Course s",         "Ours s",
                                        "Kernel ms",     "GFLOP/s",        "Of the limit",     "Mean",
                                        "Course's mean", "Maximum",        "Course's maximum", "NMSE"};

constexpr Difference kNone{NAN, NAN, NAN};

/// One layer by one implementation: measured, or the reason why not.
struct Row {
    Measured measured;
    Difference difference = kNone;           ///< from the sums in double precision
    std::optional<Difference> fromBaseline;  ///< from the implementation with which the course compares it
    std::string unavailable;
};

using Rows = std::map<std::string_view, Row>;  // by implementation

Rows measureLayer(const CourseLayer& layer,
                  Block block,
                  const std::vector<const Implementation*>& list,
                  std::string_view baseline,
                  const LabOptions& options) {
    const Shape shape = layer.shape();
    const std::size_t outFloats = std::size_t(kBatch) * std::size_t(layer.out) * shape.pixels();
    const auto input = uniform(shape.floats(), unsigned(layer.in * 4096 + layer.side));
    std::vector<float> expected, ofBaseline;
    const bool relu = block.relu;
    Rows rows;
    for (const Implementation* implementation : list) {
        if (!implementation->block) continue;
        Row& row = rows[implementation->name];
        row.unavailable = whyUnavailable(*implementation);
        if (!row.unavailable.empty()) continue;
        if (expected.empty()) {
            announce(options, layer.name() + " in double precision");
            const auto reference = makeBlock(implementationNamed("cpu-parallel"), block, shape);
            expected = runLayer(*reference, Where::cpu, input, outFloats);
        }
        announce(options, layer.name() + " " + std::string(implementation->name));
        block.relu = relu || implementation->needsRelu;  // changes nothing: no value is below zero
        const auto made = makeBlock(*implementation, block, shape);
        row.measured = measure(*made, implementation->where, input, outFloats, options);
        row.difference = difference(expected, row.measured.output);
        if (implementation->name == baseline) ofBaseline = row.measured.output;
        if (!ofBaseline.empty()) row.fromBaseline = difference(ofBaseline, row.measured.output);
        row.measured.output = {};
    }
    return rows;
}

/// `compared`: the differences are those from the baseline, as in the course's table.
void addRow(Table& table,
            const CourseLayer& layer,
            const Implementation& implementation,
            const Row& row,
            bool compared = false) {
    CourseFigure theirs{implementation.name};
    for (const CourseFigure& figure : layer.figures) {
        if (figure.implementation == implementation.name) theirs = figure;
    }
    const Difference from = compared ? row.fromBaseline.value_or(kNone) : row.difference;
    const double pixels = double(kBatch) * double(layer.shape().pixels()), ms = row.measured.ms;
    const double flops = 2 * pixels * layer.in * layer.out * 9;
    const double bytes =
        (pixels * (layer.in + layer.out) + 9.0 * layer.in * layer.out) * (implementation.tensorCores ? 2 : 4);
    table.rows.push_back(
        {layer.name(), std::string(implementation.name), number(theirs.seconds),
         cellUnless(row.unavailable, table, number(row.measured.withCopiesMs / 1e3)), number(ms),
         number(flops / ms / 1e6), shareOfLimit(implementation.where, flops, bytes, ms, implementation.tensorCores),
         number(from.mean), number(theirs.mean), number(from.maximum), number(theirs.maximum), number(from.nmse)});
}

bool wanted(const CourseLayer& layer, const LabOptions& options) {
    return layer.name().find(options.only) != std::string::npos;
}

/// `list` restricted to the implementations that the course compares on these layers.
std::vector<const Implementation*> compared(const std::vector<const Implementation*>& list, const CourseLayer& layer) {
    std::vector<const Implementation*> result;
    for (const Implementation* implementation : list) {
        const auto same = [&](const CourseFigure& figure) { return figure.implementation == implementation->name; };
        if (std::ranges::any_of(layer.figures, same)) result.push_back(implementation);
    }
    return result;
}

}  // namespace

std::vector<Table> labConv(const LabOptions& options) {
    Table five{"five", "Five convolutions, batch 4", kColumns};
    Table ten{"ten", "Ten convolutions, batch 4", kColumns};
    Table tiled{"tiled", "Direct against tiled, batch 4", kColumns};
    Table fused{"fused", "Convolution, batch norm and ReLU: separate against fused, batch 4", kColumns};
    const auto list = chosenImplementations(options);
    const auto find = [](const std::vector<CourseLayer>& layers, const std::string& name) {
        return std::ranges::find(layers, name, &CourseLayer::name);
    };
    const auto fiveOf = fiveLayers(), tiledOf = tiledLayers();
    for (const CourseLayer& layer : tenLayers()) {
        if (!wanted(layer, options)) continue;
        const Rows rows = measureLayer(layer, courseBlock(layer, false), list, "gpu-direct", options);
        const auto inFive = find(fiveOf, layer.name()), inTiled = find(tiledOf, layer.name());
        for (const Implementation* implementation : list) {
            if (!rows.contains(implementation->name)) continue;
            const Row& row = rows.at(implementation->name);
            addRow(ten, layer, *implementation, row);
            if (inFive != fiveOf.end()) addRow(five, *inFive, *implementation, row);
        }
        if (inTiled == tiledOf.end()) continue;
        for (const Implementation* implementation : compared(list, *inTiled)) {
            addRow(tiled, *inTiled, *implementation, rows.at(implementation->name), true);
        }
    }
    for (const CourseLayer& layer : fusedLayers()) {
        if (!wanted(layer, options)) continue;
        const auto both = compared(list, layer);
        const Rows rows = measureLayer(layer, courseBlock(layer, true), both, "gpu-tiled", options);
        for (const Implementation* implementation : both)
            addRow(fused, layer, *implementation, rows.at(implementation->name), true);
    }
    tiled.notes.emplace_back("Differences from the direct kernel.");
    fused.notes.emplace_back("Differences from the separate kernels, which are gpu-tiled, batch norm and ReLU.");
    std::vector<Table> tables{std::move(five), std::move(ten), std::move(tiled), std::move(fused)};
    for (Table& table : tables) addLimits(table, options);
    tables.front().notes.push_back(
        "Course: RTX 4060 Laptop, Numba; their seconds and ours hold the copies to the device and back, the kernel's "
        "milliseconds don't. Differences are from the same sums in double precision. GFLOP/s count the definition's "
        "operations, of which Winograd needs fewer: its share of the limit may pass 100 %.");
    return tables;
}

}  // namespace matte::baselines
