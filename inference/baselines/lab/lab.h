// SPDX-License-Identifier: Apache-2.0
// The lab: the tables of the course that Matte grew from, measured anew on this machine, with the course's own figures
// beside them; and the three ways to print a table. One thread; the implementations use what threads and devices they
// use.
//
//     LabOptions options;
//     options.progress = [](const std::string& what) { std::fprintf(stderr, "%s\n", what.c_str()); };
//     std::puts(asText(labConv(options)).c_str());
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "inference/baselines/implementation.h"

namespace matte::baselines {

struct Cell {
    std::string text;
    std::optional<double> value;  ///< in full, for JSON
    Cell() = default;
    Cell(std::string words) : text(std::move(words)) {}
    Cell(const char* words) : text(words) {}
};

/// Four significant digits; a dash for no number, and for one that is not finite.
Cell number(std::optional<double> value);
/// 0.123 is "12.3 %"; a dash as above.
Cell percent(std::optional<double> share);

struct Table {
    std::string name;   ///< one word, for JSON
    std::string title;  ///< for people
    std::vector<std::string> columns;
    std::vector<std::vector<Cell>> rows{};
    std::vector<std::string> notes{};
};

std::string asText(std::span<const Table> tables);
std::string asMarkdown(std::span<const Table> tables);
/// [{"name", "title", "rows": [{column: value}], "notes"}]
std::string asJson(std::span<const Table> tables);

struct LabOptions {
    std::vector<const Implementation*> implementations;  ///< empty: all
    std::optional<Where> where;                          ///< empty: both
    std::string only;             ///< conv, layers: the layers whose name holds this, such as "64x128"
    std::filesystem::path model;  ///< network; empty: the course's U-Net of 64 to 1024 channels, random weights
    std::filesystem::path dump;   ///< network: a folder that tests/reference/dump_network.py has filled
    Size size{512, 512};          ///< network
    double secondsPerRow = 0.3;   ///< a measurement is repeated for so long, at most 50 times
    std::function<void(const std::string&)> progress = [](const std::string&) {};
    std::stop_token stop;  ///< looked at between two rows; Cancelled is thrown then
};

/// Convolutions at batch 4: the five and the ten layers, direct against tiled, separate against fused.
std::vector<Table> labConv(const LabOptions& options);
/// Batch norm, ReLU and max-pooling at the four sizes; the transposed convolution, which the course left open.
std::vector<Table> labLayers(const LabOptions& options);
/// The whole network: time, copies, and each block's difference.
std::vector<Table> labNetwork(const LabOptions& options);
/// One channel of 1024x1024, one 3x3 filter.
std::vector<Table> labXnor(const LabOptions& options);
std::vector<Table> labStencil(const LabOptions& options);

}  // namespace matte::baselines
