// SPDX-License-Identifier: Apache-2.0
#include "inference/model/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "inference/core/error.h"

namespace matte {
namespace {

using Json = nlohmann::json;

/// One tensor's line of the header, checked: its bytes are [begin, end) of the data and hold exactly its elements.
struct Entry {
    std::string name;
    std::string dtype;
    std::vector<std::int64_t> shape;
    std::size_t elements = 0;
    std::size_t begin = 0, end = 0;
};

std::size_t bytesPerElement(const std::string& dtype) {
    return dtype == "F32" ? 4 : 2;
}

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
    throw Error(ErrorCategory::model,
                "The model '" + file + "' can't be used: " + why + ". Take another file or export the model again.");
}

float halfToFloat(std::uint16_t half) {
    const std::uint32_t sign = std::uint32_t(half & 0x8000) << 16;
    const std::uint32_t exponent = half >> 10 & 31;
    const std::uint32_t mantissa = half & 1023;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000 | mantissa << 13);
    if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
    const float subnormal = float(mantissa) * 0x1p-24F;
    return sign ? -subnormal : subnormal;
}

/// Parses the header, refusing a key that comes twice: JSON readers differ in which of the two they believe.
Json parseHeader(std::string_view text, const std::string& file) {
    std::vector<std::set<std::string>> keysByDepth;
    std::string duplicate;
    bool tooDeep = false;
    const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
        if (depth > 4) tooDeep = true;
        const auto level = std::size_t(depth);
        if (event == Json::parse_event_t::object_start) {
            if (keysByDepth.size() <= level + 1) keysByDepth.resize(level + 2);
            keysByDepth[level + 1].clear();
        } else if (event == Json::parse_event_t::key && level < keysByDepth.size()) {
            if (!keysByDepth[level].insert(parsed.get<std::string>()).second) duplicate = parsed.get<std::string>();
        }
        return !tooDeep;
    };
    Json header = Json::parse(text, watch, /*allow_exceptions=*/false);
    if (tooDeep || header.is_discarded() || !header.is_object()) refuse(file, "its header is not a JSON object");
    if (!duplicate.empty()) refuse(file, "its header names '" + duplicate + "' twice");
    return header;
}

std::size_t unsignedNumber(const Json& value, const std::string& file, const std::string& name) {
    if (!value.is_number_unsigned()) refuse(file, "tensor '" + name + "' has a size or offset that is no whole number");
    return value.get<std::size_t>();
}

Entry readEntry(const std::string& name, const Json& value, std::size_t dataBytes, const std::string& file) {
    Entry entry;
    entry.name = name;
    const auto member = [&](const char* key) -> const Json& {
        const auto found = value.is_object() ? value.find(key) : value.end();
        if (!value.is_object() || found == value.end()) refuse(file, "tensor '" + name + "' has no " + key);
        return *found;
    };
    const Json& dtype = member("dtype");
    if (!dtype.is_string() || (dtype != "F32" && dtype != "F16" && dtype != "BF16")) {
        refuse(file, "tensor '" + name + "' is not of type F32, F16 or BF16");
    }
    entry.dtype = dtype.get<std::string>();
    const Json& shape = member("shape");
    if (!shape.is_array() || shape.size() > 8) refuse(file, "tensor '" + name + "' has no shape of at most 8 sizes");
    entry.elements = 1;
    for (const Json& side : shape) {
        const std::size_t n = unsignedNumber(side, file, name);
        // No tensor that fits the data can have more elements than the data has bytes, so this bound also rules
        // overflow out.
        if (n > dataBytes || (n != 0 && entry.elements > dataBytes / n)) {
            refuse(file, "tensor '" + name + "' is larger than the file");
        }
        entry.elements *= n;
        entry.shape.push_back(std::int64_t(n));
    }
    if (entry.elements == 0) refuse(file, "tensor '" + name + "' is empty");
    const Json& offsets = member("data_offsets");
    if (!offsets.is_array() || offsets.size() != 2) refuse(file, "tensor '" + name + "' has no two data offsets");
    entry.begin = unsignedNumber(offsets[0], file, name);
    entry.end = unsignedNumber(offsets[1], file, name);
    if (entry.begin > entry.end || entry.end > dataBytes) refuse(file, "tensor '" + name + "' lies outside the file");
    if (entry.end - entry.begin != entry.elements * bytesPerElement(entry.dtype)) {
        refuse(file, "tensor '" + name + "' has a shape that its data does not fill");
    }
    return entry;
}

/// The tensors must tile the data exactly: gaps and overlaps make a file ambiguous.
void checkTiling(std::vector<Entry>& entries, std::size_t dataBytes, const std::string& file) {
    std::ranges::sort(entries, {}, &Entry::begin);
    std::size_t at = 0;
    for (const Entry& entry : entries) {
        if (entry.begin != at) {
            refuse(file, "tensor '" + entry.name + (entry.begin < at ? "' overlaps another" : "' follows a gap"));
        }
        at = entry.end;
    }
    if (at != dataBytes) refuse(file, "it has data that belongs to no tensor");
}

std::vector<float> decode(const Entry& entry, std::span<const std::uint8_t> data) {
    std::vector<float> values(entry.elements);
    const std::uint8_t* source = data.data() + entry.begin;
    if (entry.dtype == "F32") {
        std::memcpy(values.data(), source, entry.elements * sizeof(float));
        return values;
    }
    const bool isHalf = entry.dtype == "F16";  // else BF16
    float* const end = values.data() + values.size();
    for (float* value = values.data(); value != end; ++value, source += 2) {
        const auto bits = std::uint16_t(source[0] | source[1] << 8);
        *value = isHalf ? halfToFloat(bits) : std::bit_cast<float>(std::uint32_t(bits) << 16);
    }
    return values;
}

}  // namespace

Safetensors Safetensors::parse(std::span<const std::uint8_t> bytes, const std::string& name) {
    static_assert(std::endian::native == std::endian::little, "tensor data is little-endian");
    if (bytes.size() < 8) refuse(name, "it is too short for a safetensors file");
    std::uint64_t headerBytes = 0;
    std::memcpy(&headerBytes, bytes.data(), 8);
    if (headerBytes > kMaxHeaderBytes || headerBytes > bytes.size() - 8) {
        refuse(name, "its header length is wrong, so it is no safetensors file or was cut off");
    }
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + 8, headerBytes);
    if (!text.starts_with('{')) refuse(name, "its header is not a JSON object");
    const Json header = parseHeader(text, name);
    const std::span<const std::uint8_t> data = bytes.subspan(8 + headerBytes);
    if (header.size() > kMaxTensors) refuse(name, "it has more than 4096 tensors");

    Safetensors file;
    file.name_ = name;
    std::vector<Entry> entries;
    for (const auto& [key, value] : header.items()) {
        if (key != "__metadata__") {
            entries.push_back(readEntry(key, value, data.size(), name));
            continue;
        }
        if (!value.is_object()) refuse(name, "its metadata is no table of texts");
        for (const auto& [field, content] : value.items()) {
            if (!content.is_string()) refuse(name, "its metadata '" + field + "' is no text");
            file.metadata_[field] = content.get<std::string>();
        }
    }
    checkTiling(entries, data.size(), name);
    for (Entry& entry : entries) file.tensors_[entry.name] = {std::move(entry.shape), decode(entry, data)};
    return file;
}

std::vector<std::uint8_t> Safetensors::bytesOf(const std::filesystem::path& path) {
    const std::string name = path.string();
    std::error_code error;
    if (!std::filesystem::exists(path, error)) refuse(name, "there is no such file");
    if (!std::filesystem::is_regular_file(path, error)) refuse(name, "it is not a file");
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (error) refuse(name, "its size can't be read");
    if (size > kMaxFileBytes) refuse(name, "it is larger than 2 GiB");
    std::ifstream stream(path, std::ios::binary);
    std::vector<std::uint8_t> bytes(size);
    if (!stream.read(reinterpret_cast<char*>(bytes.data()), std::streamsize(size))) refuse(name, "it can't be read");
    return bytes;
}

Safetensors Safetensors::read(const std::filesystem::path& path) {
    return parse(bytesOf(path), path.string());
}

}  // namespace matte
