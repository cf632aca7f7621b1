// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/lab/lab_table.h"

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

std::vector<std::size_t> widths(const Table& table) {
    std::vector<std::size_t> wide;
    for (const std::string& column : table.columns) wide.push_back(letters(column));
    for (const auto& row : table.rows) {
        for (std::size_t i = 0; i < row.size(); ++i) wide[i] = std::max(wide[i], letters(row[i].text));
    }
    return wide;
}

/// A column that holds a number anywhere stands on the right, words on the left.
std::vector<bool> numeric(const Table& table) {
    std::vector<bool> columns(table.columns.size(), false);
    for (const auto& row : table.rows) {
        for (std::size_t i = 0; i < row.size(); ++i) columns[i] = columns[i] || row[i].value.has_value();
    }
    return columns;
}

std::string line(const std::vector<Cell>& cells,
                 const std::vector<std::size_t>& wide,
                 const std::vector<bool>& right,
                 const char* between) {
    std::string all;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (i > 0) all += between;
        const std::string space(wide[i] - letters(cells[i].text), ' ');
        all += right[i] ? space : "";
        all += cells[i].text;
        all += right[i] ? "" : space;
    }
    return all;
}

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
        const auto wide = widths(table);
        const auto right = numeric(table);
        const std::vector<Cell> heads(table.columns.begin(), table.columns.end());
        all += table.title + "\n" + line(heads, wide, right, "  ") + "\n";
        for (const auto& row : table.rows) all += line(row, wide, right, "  ") + "\n";
        for (const std::string& note : table.notes) all += "  " + note + "\n";
        all += "\n";
    }
    return all;
}

std::string asMarkdown(std::span<const Table> tables) {
    std::string all;
    for (const Table& table : tables) {
        const auto wide = widths(table);
        const auto right = numeric(table);
        const std::vector<Cell> heads(table.columns.begin(), table.columns.end());
        all += "### " + table.title + "\n\n| " + line(heads, wide, right, " | ") + " |\n|";
        for (std::size_t i = 0; i < wide.size(); ++i) {
            all += ' ';
            all.append(wide[i] - 1, '-');
            all += right[i] ? ": |" : "- |";
        }
        all += "\n";
        for (const auto& row : table.rows) all += "| " + line(row, wide, right, " | ") + " |\n";
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
