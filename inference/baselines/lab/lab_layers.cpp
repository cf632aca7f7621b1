// SPDX-License-Identifier: Apache-2.0
// lab layers: the layers around a convolution, each alone, at the course's four sizes and batch 4.
#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "inference/baselines/baselines.h"
#include "inference/baselines/lab/lab_measure.h"
#include "inference/baselines/limits.h"
#include "inference/cuda/device/devices.h"

namespace matte::baselines {
namespace {

constexpr int kBatch = 4;

struct Kind {
    const char* name;
    const char* title;
    std::array<double, 4> cpuSeconds, gpuSeconds;  ///< the course', NAN where they have none
    std::array<double, 4> mean;
    std::unique_ptr<Layer> (*make)(const PlainLayers& layers, const Shape& in);
    std::size_t (*outFloats)(const Shape& in);
};

std::unique_ptr<Layer> makeBatchNorm(const PlainLayers& layers, const Shape& in) {
    const auto n = std::size_t(in.channels);
    return layers.batchNorm({uniform(n, 1), uniform(n, 2), uniform(n, 3), uniform(n, 4)}, in);
}
std::unique_ptr<Layer> makeRelu(const PlainLayers& layers, const Shape& in) {
    return layers.relu(in);
}
std::unique_ptr<Layer> makeMaxPool(const PlainLayers& layers, const Shape& in) {
    return layers.maxPool(in);
}
/// From twice the channels at half the side, as the decoder does on its way up to this size.
Shape upInput(const Shape& out) {
    return {out.batch, out.channels * 2, out.height / 2, out.width / 2};
}
std::unique_ptr<Layer> makeUpConv(const PlainLayers& layers, const Shape& out) {
    const auto in = std::size_t(out.channels) * 2, n = std::size_t(out.channels);
    return layers.upConv({out.channels, int(in), uniform(in * n * 4, 1), uniform(n, 2)}, upInput(out));
}
std::size_t same(const Shape& in) {
    return in.floats();
}
std::size_t quarter(const Shape& in) {
    return in.floats() / 4;
}

constexpr std::array<double, 4> kNone{NAN, NAN, NAN, NAN};

const Kind kKinds[] = {
    {"batchnorm",
     "Batch norm, batch 4",
     {123.179057, 60.489841, 30.162915, 15.1438},
     {0.43073, 0.286713, 0.178511, 0.0874},
     {5.728351e-09, 8.855715e-09, 7.653616e-09, 6.969669e-09},
     makeBatchNorm,
     same},
    {"relu",
     "ReLU, batch 4",
     {81.952738, 41.761168, 20.765348, 10.411028},
     {0.293049, 0.210163, 0.106927, 0.055011},
     {0, 0, 0, 0},
     makeRelu,
     same},
    {"maxpool",
     "2x2 max-pooling, batch 4",
     {33.361417, 16.205704, 8.189884, 4.148149},
     {0.334031, 0.143854, 0.075449, 0.046569},
     {0, 0, 0, 0},
     makeMaxPool,
     quarter},
    {"upconv", "Transposed convolution to this size, batch 4 (the course left it open)", kNone, kNone, kNone,
     makeUpConv, same},
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
    std::ostringstream size3;
    size3 << '(' << shape.channels << ", " << shape.height << ", " << shape.width << ')';
    const std::string name = size3.str();
    const bool sequential = std::string_view(way.implementation) == "cpu-sequential", gpu = way.where == Where::gpu;
    const double theirs = sequential ? kind.cpuSeconds[size] : gpu ? kind.gpuSeconds[size] : NAN;
    const Cell courseMean = number(gpu ? kind.mean[size] : NAN);
    const std::string where = sequential ? "CPU, sequential" : gpu ? "GPU" : "CPU, parallel";
    if (const std::string why = whyUnavailable(implementationNamed(way.implementation)); !why.empty()) {
        table.rows.push_back({name,
                              where,
                              number(theirs),
                              unavailableCell(table, why),
                              {"-"},
                              {"-"},
                              {"-"},
                              {"-"},
                              {"-"},
                              courseMean,
                              {"-"}});
        return;
    }
    announce(options, table.name + " " + name + " " + where);
    const auto layer = kind.make(way.layers(), shape);
    const Measured row = measure(*layer, way.where, input, kind.outFloats(shape), options);
    const Difference from = difference(expected, row.output);
    const double seconds = row.ms / 1e3, bytes = 4.0 * double(input.size() + kind.outFloats(shape));
    // Of these, only the transposed convolution computes enough to count.
    const double flops = kind.make == makeUpConv ? 4.0 * double(shape.floats()) * shape.channels : 0;
    table.rows.push_back({name, where, number(theirs), number(row.withCopiesMs / 1e3), number(row.ms),
                          number(bytes / seconds / 1e9), flops > 0 ? number(flops / seconds / 1e9) : Cell("-"),
                          percent(limitsOf(way.where).seconds(flops, bytes, false) / seconds), number(from.mean),
                          courseMean, number(from.maximum)});
}

}  // namespace

std::vector<Table> labLayers(const LabOptions& options) {
    std::vector<Table> tables;
    for (const Kind& kind : kKinds) {
        Table table{kind.name,
                    kind.title,
                    {"Size", "Where", "Course s", "Ours s", "Kernel ms", "GB/s", "GFLOP/s", "Of the limit", "Mean",
                     "Course's mean", "Maximum"},
                    {},
                    {}};
        for (int size = 0; size < 4; ++size) {
            const Shape shape{kBatch, 64 << size, 512 >> size, 512 >> size};
            if (std::to_string(shape.channels).find(options.only) == std::string::npos) continue;
            const Shape in = kind.make == makeUpConv ? upInput(shape) : shape;
            const auto input = uniform(in.floats(), unsigned(size) + 10);
            const auto reference = kind.make(parallelLayers(), shape);
            const auto expected = runLayer(*reference, Where::cpu, input, kind.outFloats(shape));
            for (const Way& way : kWays) {
                const Implementation* implementation = &implementationNamed(way.implementation);
                const bool named =
                    options.implementations.empty() ||
                    std::ranges::find(options.implementations, implementation) != options.implementations.end();
                if (!named || !chosen(options, way.where)) continue;
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
