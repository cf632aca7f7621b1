// SPDX-License-Identifier: Apache-2.0
#include "inference/model/read_model.h"

#include <sstream>

#include "inference/core/error.h"
#include "inference/core/sha256.h"
#include "inference/model/default_model.h"

namespace matte {
namespace {

/// Of a file of resources/models when this was built; empty for a stranger.
std::string sumOf(const std::string& file) {
    std::istringstream pairs(MATTE_MODEL_SUMS);
    for (std::string name, sum; pairs >> name >> sum;) {
        if (name == file) return sum;
    }
    return {};
}

}  // namespace

Safetensors readModel(const std::string& word) {
    const std::filesystem::path path = findModel(word);
    const std::vector<std::uint8_t> bytes = Safetensors::bytesOf(path);
    const std::string sum = path == word ? std::string() : sumOf(path.filename().string());
    if (!sum.empty() && sum != sha256(bytes)) {
        throw Error(ErrorCategory::model,
                    "The model '" + path.string() +
                        "' is damaged, or belongs to another version of the program (its SHA-256 is "
                        "another): install the program again, or choose another model.");
    }
    return Safetensors::parse(bytes, path.string());
}

UNet loadNetwork(const std::string& word) {
    return UNet::load(readModel(word));
}

}  // namespace matte
