// SPDX-License-Identifier: Apache-2.0
// Where the program's own data lies: beside the installed program, or in the source tree for one that was not
// installed; and the models among it, which read_model.h reads. Any thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace matte {

/// The light one of the models that come with the program, as findModel() knows it.
inline constexpr char kLiteModel[] = "portrait-lite";

/// `name` below the data folder (share/matte, or resources/ in the source tree); $MATTE_DATA goes first. Throws
/// Error(input) when it is in none of them.
std::filesystem::path dataFile(const std::filesystem::path& name);
/// The model used when none is named. Throws Error(model) when it is missing.
std::filesystem::path defaultModel();
/// The model that people mean by `word`: the default one for none, a file, or one of those that come with the program
/// by its name ("portrait-lite"). Throws Error(model) when a name is not known; whether a file can be read shows later.
std::filesystem::path findModel(const std::string& word);
/// The word for the model of live frames: `word`, or, where none is named, the light one on a CPU.
inline std::string liveModel(const std::string& word, bool onCpu) {
    return word.empty() && onCpu ? kLiteModel : word;
}
/// The files that may be read for it, for asking whether a result would replace one: for none also the light one, which
/// live pictures take on a CPU. Empty where a name is not known.
std::vector<std::filesystem::path> modelFiles(const std::string& word);

}  // namespace matte
