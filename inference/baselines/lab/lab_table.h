// SPDX-License-Identifier: Apache-2.0
// The lab's tables and the three ways to print them. Any thread.
//
//     Table table{"five", "Five layers", {"Layer", "ms"}, {}, {}};
//     table.rows.push_back({"(3, 64)", number(0.28)});
//     std::puts(asMarkdown({table}).c_str());
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace matte::baselines {

struct Cell {
    std::string text;
    std::optional<double> value;  ///< JSON gets it in full
    Cell() = default;
    Cell(std::string words) : text(std::move(words)) {}
    Cell(const char* words) : text(words) {}
};

/// Four digits that count; a number that isn't finite, and none at all, become a dash.
Cell number(std::optional<double> value);
/// 0.123 is 12.3 %.
Cell percent(std::optional<double> share);

struct Table {
    std::string name;   ///< one word, for JSON
    std::string title;  ///< for people
    std::vector<std::string> columns;
    std::vector<std::vector<Cell>> rows;
    std::vector<std::string> notes;
};

std::string asText(std::span<const Table> tables);
std::string asMarkdown(std::span<const Table> tables);
/// [{"name", "title", "rows": [{column: value}], "notes"}]
std::string asJson(std::span<const Table> tables);

}  // namespace matte::baselines
