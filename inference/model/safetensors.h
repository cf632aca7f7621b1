// SPDX-License-Identifier: Apache-2.0
// A safetensors reader for untrusted files: every size, offset, name and type is checked before use. Format (8 bytes of
// little-endian header length, a JSON header, then tensor data): the safetensors project's README. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace matte {

/// The tensors of a file, converted to f32, and its metadata. Immutable.
class Safetensors {
public:
    struct Tensor {
        std::vector<std::int64_t> shape;
        std::vector<float> values;  ///< row-major
    };
    static constexpr std::size_t kMaxHeaderBytes = 1 << 20;
    static constexpr std::size_t kMaxTensors = 4096;
    static constexpr std::uintmax_t kMaxFileBytes = std::uintmax_t(1) << 31;

    /// Throws Error(model) when the file can't be read or breaks a rule of the format; the message names both.
    static Safetensors read(const std::filesystem::path& path);
    /// The file's bytes. Throws Error(model) when it can't be read or is too large.
    static std::vector<std::uint8_t> bytesOf(const std::filesystem::path& path);
    /// Parses a file's bytes as read() does; `name` is the file's name for messages.
    static Safetensors parse(std::span<const std::uint8_t> bytes, const std::string& name);

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const std::map<std::string, Tensor, std::less<>>& tensors() const { return tensors_; }
    [[nodiscard]] const std::map<std::string, std::string, std::less<>>& metadata() const { return metadata_; }

private:
    std::string name_;
    std::map<std::string, Tensor, std::less<>> tensors_;
    std::map<std::string, std::string, std::less<>> metadata_;
};

}  // namespace matte
