// SPDX-License-Identifier: Apache-2.0
#include "inference/tools/cli/picture_list.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <glob.h>
#include <sys/stat.h>

#include "inference/media/image/image_file.h"

namespace matte {
namespace {

namespace fs = std::filesystem;

bool isPictureFile(const fs::path& path) {
    std::error_code error;
    return hasImageExtension(path) && fs::is_regular_file(path, error);
}

std::vector<fs::path> picturesInFolder(const fs::path& folder) {
    std::vector<fs::path> found;
    try {
        for (const auto& entry : fs::directory_iterator(folder)) {
            if (isPictureFile(entry.path())) found.push_back(entry.path());
        }
    } catch (const fs::filesystem_error& error) {
        throw Error(ErrorCategory::input,
                    folder.string() + " can't be searched (" + error.code().message() + "): check its permissions.");
    }
    if (found.empty()) {
        throw Error(ErrorCategory::input,
                    folder.string() + " holds no JPEG, PNG, WebP, TIFF or BMP picture: name another folder.");
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::vector<fs::path> picturesMatching(const std::string& pattern) {
    glob_t matches{};
    ::glob(pattern.c_str(), GLOB_TILDE, nullptr, &matches);
    std::vector<fs::path> found;
    for (std::size_t i = 0; i < matches.gl_pathc; ++i) {
        if (isPictureFile(matches.gl_pathv[i])) found.emplace_back(matches.gl_pathv[i]);
    }
    ::globfree(&matches);
    if (found.empty()) throw Error(ErrorCategory::input, "No picture matches " + pattern + ": check the pattern.");
    return found;
}

std::vector<fs::path> picturesOf(const std::string& word) {
    std::error_code error;
    if (fs::is_directory(word, error)) return picturesInFolder(word);
    if (!fs::exists(word, error) && word.find_first_of("*?[") != std::string::npos) return picturesMatching(word);
    return {word};
}

bool namesFolder(const std::string& output) {
    std::error_code error;
    return output.ends_with('/') || fs::is_directory(output, error);
}

/// Which file a path leads to, whatever its spelling: device and inode.
using FileId = std::pair<dev_t, ino_t>;

std::optional<FileId> identify(const fs::path& path) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
    return FileId(facts.st_dev, facts.st_ino);
}

/// Of thousands of pictures each with each, which refuseReplacing() would take long for.
void refuseOverwriting(const std::vector<PicturePair>& pairs, const std::vector<fs::path>& alsoRead) {
    std::set<FileId> read, written;
    for (const auto& pair : pairs) {
        if (const auto id = identify(pair.input)) read.insert(*id);
    }
    for (const auto& path : alsoRead) {
        if (const auto id = identify(path)) read.insert(*id);
    }
    for (const auto& pair : pairs) {
        const auto id = identify(pair.output);
        if (!id) continue;
        if (read.contains(*id)) {
            throw Error(ErrorCategory::usage,
                        "The result " + pair.output.string() +
                            " would replace a file that is read: choose another name or folder with -o.");
        }
        std::error_code error;
        if (fs::is_regular_file(pair.output, error) && !written.insert(*id).second) {
            throw Error(ErrorCategory::usage, "The result " + pair.output.string() +
                                                  " is a link to another result: choose another folder with -o.");
        }
    }
}

}  // namespace

PictureInputs findPictures(const std::vector<std::string>& words) {
    PictureInputs inputs;
    std::set<fs::path> seen;
    for (const auto& word : words) {
        try {
            for (auto& picture : picturesOf(word)) {
                std::error_code error;
                if (seen.insert(fs::weakly_canonical(picture, error)).second) {
                    inputs.pictures.push_back(std::move(picture));
                }
            }
        } catch (const Error& error) {
            inputs.failures.push_back({word, error});
        }
    }
    return inputs;
}

std::vector<PicturePair> pairWithOutputs(const std::vector<fs::path>& pictures,
                                         const std::string& output,
                                         const std::string& suffix,
                                         const std::vector<fs::path>& alsoRead) {
    std::vector<PicturePair> pairs;
    const bool folder = namesFolder(output) || !fs::path(output).has_extension();
    if (!folder && !hasImageExtension(output)) {
        throw Error(ErrorCategory::usage,
                    output + " has none of the extensions png, jpg, jpeg, webp, tif, tiff or bmp: use one " +
                        "of them, or end the name of a folder with a slash.");
    }
    if (!folder && pictures.size() > 1) {
        throw Error(ErrorCategory::usage, output + " is one file for " + std::to_string(pictures.size()) +
                                              " pictures: name a folder with -o.");
    }
    std::set<std::string> taken;
    for (const auto& picture : pictures) {
        std::string name = picture.stem().string() + suffix;
        for (int number = 2; !taken.insert(name).second; ++number) {
            name = picture.stem().string() + suffix + "-" + std::to_string(number);
        }
        pairs.push_back({picture, folder ? fs::path(output) / (name + ".png") : fs::path(output)});
    }
    refuseOverwriting(pairs, alsoRead);
    return pairs;
}

std::string printable(std::string name) {
    const auto isControl = [](unsigned char c) { return c < 32 || c == 127; };
    std::replace_if(name.begin(), name.end(), isControl, '?');
    return name;
}

}  // namespace matte
