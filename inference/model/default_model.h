// SPDX-License-Identifier: Apache-2.0
// Finds the program's data, beside the installed program or in the source tree, and the models in it, which
// read_model.h reads. Any thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace matte {

/// The name of the light model that comes with the program, for findModel().
inline constexpr char kLiteModel[] = "portrait-lite";

/// `name` below the data folder (share/matte, or resources/ in the source tree); $MATTE_DATA goes first. Throws
/// Error(input) when it is in none of them.
std::filesystem::path dataFile(const std::filesystem::path& name);
/// The model used when none is named. Throws Error(model) when it is missing.
std::filesystem::path defaultModel();
/// The model that `word` names: the default one when it is empty, a file, or one that comes with the program, by its
/// name
/// ("portrait-lite"). Throws Error(model) for an unknown name; does not open the file.
std::filesystem::path findModel(const std::string& word);
/// The word for the model of live frames: `word`, or, where none is named, the light one on a CPU.
inline std::string liveModel(const std::string& word, bool onCpu) {
    return word.empty() && onCpu ? kLiteModel : word;
}
/// The files that may be read for `word`, to check that no result replaces one: for an empty word also the light model,
/// which live pictures use on a CPU. Empty for an unknown name.
std::vector<std::filesystem::path> modelFiles(const std::string& word);

}  // namespace matte
