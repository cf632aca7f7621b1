// SPDX-License-Identifier: Apache-2.0
// Finds the program's data files, installed or in the source tree, and the models among them, which read_model.h
// loads. Any thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace matte {

/// The name of the bundled light model, for findModel().
inline constexpr char kLiteModel[] = "portrait-lite";

/// The path of `name` in the first data folder that has it: $MATTE_DATA, share/matte, or resources/ in the source tree.
/// Throws Error(input) when none has it.
std::filesystem::path dataFile(const std::filesystem::path& name);
/// The model used by default. Throws Error(model) when it is missing.
std::filesystem::path defaultModel();
/// The model file for `word`: empty for the default, the name of a bundled model ("portrait-lite"), or a path. Throws
/// Error(model) for an unknown name; does not open the file.
std::filesystem::path findModel(const std::string& word);
/// The `word` to use for live frames: on a CPU, an empty word becomes the light model.
inline std::string liveModel(const std::string& word, bool onCpu) {
    return word.empty() && onCpu ? kLiteModel : word;
}
/// The model files that may be read for `word`, so that callers can refuse to overwrite them. For an empty word also
/// the light model, which live frames use on a CPU. Empty for an unknown name.
std::vector<std::filesystem::path> modelFiles(const std::string& word);

}  // namespace matte
