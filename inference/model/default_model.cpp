// SPDX-License-Identifier: Apache-2.0
#include "inference/model/default_model.h"

#include <cstdlib>
#include <vector>

#include "inference/core/error.h"

namespace matte {
namespace {

/// In the order in which they are tried.
std::vector<std::filesystem::path> dataFolders() {
    std::vector<std::filesystem::path> folders;
    if (const char* named = std::getenv("MATTE_DATA"); named && *named) folders.emplace_back(named);
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (!error) folders.push_back(program.parent_path().parent_path() / "share" / "matte");
    folders.emplace_back(MATTE_SOURCE_DATA);
    return folders;
}

}  // namespace

std::filesystem::path dataFile(const std::filesystem::path& name) {
    std::string searched;
    for (const auto& folder : dataFolders()) {
        std::error_code error;
        if (std::filesystem::exists(folder / name, error)) return folder / name;
        searched += (searched.empty() ? "" : ", ") + folder.string();
    }
    throw Error(ErrorCategory::input, "The file " + name.string() + " is in none of the data folders (" + searched +
                                          "): install the program again or set MATTE_DATA.");
}

std::filesystem::path defaultModel() {
    try {
        return dataFile("models/portrait.safetensors");
    } catch (const Error& error) {
        throw Error(ErrorCategory::model, error.what());
    }
}

std::filesystem::path findModel(const std::string& word) {
    if (word.empty()) return defaultModel();
    std::filesystem::path path(word);
    std::error_code error;
    const auto there = std::filesystem::status(path, error);  // a folder of results may have the model's name
    if (path.has_parent_path() || path.has_extension() || (exists(there) && !is_directory(there))) return path;
    try {
        return dataFile("models/" + word + ".safetensors");
    } catch (const Error&) {
        throw Error(ErrorCategory::model,
                    "There is no model named " + word + ": name a .safetensors file, portrait or portrait-lite.");
    }
}

std::vector<std::filesystem::path> modelFiles(const std::string& word) {
    std::vector<std::filesystem::path> files;
    for (const std::string& name : word.empty() ? std::vector<std::string>{word, kLiteModel} : std::vector{word}) {
        try {
            files.push_back(findModel(name));
        } catch (const Error&) {  // whoever loads it says so
        }
    }
    return files;
}

}  // namespace matte
