// SPDX-License-Identifier: Apache-2.0
// lab layers: the layers around a convolution, each alone, at the course's four sizes and batch 4.
#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "inference/baselines/baselines.h"
#include "inference/baselines/lab/lab_measure.h"
#include "inference/cuda/device/devices.h"

namespace matte::baselines {
namespace {

constexpr int kBatch = 4;

struct Kind {
    const char* name;
    const char* title;
    std::array<double, 4> cpuSeconds, gpuSeconds;  ///< the course', NAN where they have none
    std::array<double, 4> mean;
    /// `shape` is the input's; the transposed convolution's output's.
    std::unique_ptr<Layer> (*make)(const PlainLayers& layers, const Shape& shape);
    int shrinks = 1;     ///< so many times fewer values come out
    bool grows = false;  ///< the transposed convolution
    [[nodiscard]] std::size_t outFloats(const Shape& shape) const { return shape.floats() / std::size_t(shrinks); }
};

/// The transposed convolution's: twice the channels at half the side, as the decoder has them on its way up.
Shape upInput(const Shape& out) {
    return {out.batch, out.channels * 2, out.height / 2, out.width / 2};
}

constexpr std::array<double, 4> kNone{NAN, NAN, NAN, NAN};

const Kind kKinds[] = {
    {"batchnorm",
     "Batch norm, batch 4",
     {123.179057, 60.489841, 30.162915, 15.1438},
     {0.43073, 0.286713, 0.178511, 0.0874},
     {5.728351e-09, 8.855715e-09, 7.653616e-09, 6.969669e-09},
     [](const PlainLayers& layers, const Shape& in) {
         const auto n = std::size_t(in.channels);
         return layers.batchNorm({uniform(n, 1), uniform(n, 2), uniform(n, 3), uniform(n, 4)}, in);
     }},
    {"relu",
     "ReLU, batch 4",
     {81.952738, 41.761168, 20.765348, 10.411028},
     {0.293049, 0.210163, 0.106927, 0.055011},
     {0, 0, 0, 0},
     [](const PlainLayers& layers, const Shape& in) { return layers.relu(in); }},
    {"maxpool",
     "2x2 max-pooling, batch 4",
     {33.361417, 16.205704, 8.189884, 4.148149},
     {0.334031, 0.143854, 0.075449, 0.046569},
     {0, 0, 0, 0},
     [](const PlainLayers& layers, const Shape& in) { return layers.maxPool(in); },
     4},
    {"upconv", "Transposed convolution to this size, batch 4 (the course left it open)", kNone, kNone, kNone,
     [](const PlainLayers& layers, const Shape& out) {
         const auto in = std::size_t(out.channels) * 2, n = std::size_t(out.channels);
         return layers.upConv({out.channels, int(in), uniform(in * n * 4, 1), uniform(n, 2)}, upInput(out));
     },
     1, true},
};

struct Way {
    const char* implementation;
    Where where;
    PlainLayers (*layers)();
};

constexpr Way kWays[] = {{"cpu-sequential", Where::cpu, sequentialLayers},
                         {"cpu-parallel", Where::cpu, parallelLayers},
                         {"gpu-direct", Where::gpu, gpuLayers}};

void addRow(Table& table,
            const Kind& kind,
            int size,
            const Shape& shape,
            const Way& way,
            const std::vector<float>& input,
            const std::vector<float>& expected,
            const LabOptions& options) {
    std::ostringstream text;
    text << '(' << shape.channels << ", " << shape.height << ", " << shape.width << ')';
    const std::string name = text.str();
    const bool sequential = std::string_view(way.implementation) == "cpu-sequential", gpu = way.where == Where::gpu;
    const double theirs = sequential ? kind.cpuSeconds[size] : gpu ? kind.gpuSeconds[size] : NAN;
    const Cell courseMean = number(gpu ? kind.mean[size] : NAN);
    const std::string where = sequential ? "CPU, sequential" : gpu ? "GPU" : "CPU, parallel";
    const std::string why = whyUnavailable(implementationNamed(way.implementation));
    Measured row;
    Difference from{NAN, NAN, NAN};
    if (why.empty()) {
        announce(options, table.name + " " + name + " " + where);
        row = measure(*kind.make(way.layers(), shape), way.where, input, kind.outFloats(shape), options);
        from = difference(expected, row.output);
    }
    const double bytes = 4.0 * double(input.size() + kind.outFloats(shape));
    // Of these, only the transposed convolution computes enough to count.
    const double flops = kind.grows ? 4.0 * double(shape.floats()) * shape.channels : 0;
    table.rows.push_back({name, where, number(theirs), cellUnless(why, table, number(row.withCopiesMs / 1e3)),
                          number(row.ms), number(bytes / row.ms / 1e6), number(flops > 0 ? flops / row.ms / 1e6 : NAN),
                          shareOfLimit(way.where, flops, bytes, row.ms), number(from.mean), courseMean,
                          number(from.maximum)});
}

}  // namespace

std::vector<Table> labLayers(const LabOptions& options) {
    std::vector<Table> tables;
    for (const Kind& kind : kKinds) {
        Table table{kind.name,
                    kind.title,
                    {"Size", "Where", "Course s", "Ours s", "Kernel ms", "GB/s", "GFLOP/s", "Of the limit", "Mean",
                     "Course's mean", "Maximum"}};
        for (int size = 0; size < 4; ++size) {
            const Shape shape{kBatch, 64 << size, 512 >> size, 512 >> size};
            if (std::to_string(shape.channels).find(options.only) == std::string::npos) continue;
            const Shape in = kind.grows ? upInput(shape) : shape;
            const auto input = uniform(in.floats(), unsigned(size) + 10);
            const auto reference = kind.make(parallelLayers(), shape);
            const auto expected = runLayer(*reference, Where::cpu, input, kind.outFloats(shape));
            for (const Way& way : kWays) {
                if (!chosen(options, implementationNamed(way.implementation))) continue;
                addRow(table, kind, size, shape, way, input, expected, options);
            }
        }
        addLimits(table, options);
        if (chosen(options, Where::cpu)) {
            table.notes.emplace_back("What fits into the CPU's caches may pass its memory's limit.");
        }
        tables.push_back(std::move(table));
    }
    return tables;
}

}  // namespace matte::baselines
