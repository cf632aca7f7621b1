// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/lab/lab.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

namespace matte::baselines {
namespace {

using Json = nlohmann::ordered_json;

/// Letters, not bytes: titles may hold more than ASCII.
std::size_t letters(const std::string& text) {
    return std::size_t(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

/// A table's cells as lines. A column that holds a number anywhere is set flush right, words flush left.
struct Columns {
    std::vector<std::size_t> wide;
    std::vector<bool> right;

    explicit Columns(const Table& table) : right(table.columns.size(), false) {
        for (const std::string& column : table.columns) wide.push_back(letters(column));
        for (const auto& row : table.rows) {
            for (std::size_t i = 0; i < row.size(); ++i) {
                wide[i] = std::max(wide[i], letters(row[i].text));
                right[i] = right[i] || row[i].value.has_value();
            }
        }
    }
    [[nodiscard]] std::string line(const std::vector<Cell>& cells, const char* between) const {
        std::string all;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const std::string space(wide[i] - letters(cells[i].text), ' ');
            all += (i > 0 ? between : "") + (right[i] ? space + cells[i].text : cells[i].text + space);
        }
        return all;
    }
    [[nodiscard]] std::string heads(const Table& table, const char* between) const {
        return line({table.columns.begin(), table.columns.end()}, between);
    }
};

}  // namespace

Cell number(std::optional<double> value) {
    if (!value || !std::isfinite(*value)) return Cell("-");
    char text[32];
    const double size = std::fabs(*value);
    if (size >= 1000 && size < 1e7) {
        std::snprintf(text, sizeof text, "%.0f", *value);
    } else {
        std::snprintf(text, sizeof text, size != 0 && size < 1e-3 ? "%.2e" : "%.4g", *value);
    }
    Cell cell(text);
    cell.value = *value;
    return cell;
}

Cell percent(std::optional<double> share) {
    if (!share || !std::isfinite(*share)) return Cell("-");
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %%", *share * 100);
    Cell cell(text);
    cell.value = *share;
    return cell;
}

std::string asText(std::span<const Table> tables) {
    std::string all;
    for (const Table& table : tables) {
        const Columns columns(table);
        all += table.title + "\n" + columns.heads(table, "  ") + "\n";
        for (const auto& row : table.rows) all += columns.line(row, "  ") + "\n";
        for (const std::string& note : table.notes) all += "  " + note + "\n";
        all += "\n";
    }
    return all;
}

std::string asMarkdown(std::span<const Table> tables) {
    std::string all;
    for (const Table& table : tables) {
        const Columns columns(table);
        all += "### " + table.title + "\n\n| " + columns.heads(table, " | ") + " |\n|";
        for (std::size_t i = 0; i < columns.wide.size(); ++i) {
            all.append(" ").append(columns.wide[i] - 1, '-').append(columns.right[i] ? ": |" : "- |");
        }
        all += "\n";
        for (const auto& row : table.rows) all += "| " + columns.line(row, " | ") + " |\n";
        all += "\n";
        for (const std::string& note : table.notes) all += note + "\n\n";
    }
    return all;
}

std::string asJson(std::span<const Table> tables) {
    Json all = Json::array();
    for (const Table& table : tables) {
        Json rows = Json::array();
        for (const auto& row : table.rows) {
            Json object = Json::object();
            for (std::size_t i = 0; i < row.size(); ++i) {
                const Cell& cell = row[i];
                Json& value = object[table.columns[i]];
                if (cell.value) value = *cell.value;
                if (!cell.value && cell.text != "-") value = cell.text;
            }
            rows.push_back(std::move(object));
        }
        all.push_back({{"name", table.name}, {"title", table.title}, {"rows", rows}, {"notes", table.notes}});
    }
    return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace matte::baselines
