// SPDX-License-Identifier: Apache-2.0
// The pairs of files that the command line names: the pictures to read, and the file of each result. Main thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "inference/core/error.h"

namespace matte {

/// The pictures that `words` name, each once, and a failure for every word that names none.
struct PictureInputs {
    struct Failure {
        std::string word;
        Error error;
    };
    std::vector<std::filesystem::path> pictures;
    std::vector<Failure> failures;
};

/// A word is a file, a folder (every picture in it by extension, sorted, not those in its folders) or a pattern with *,
/// ? or [...] (likewise). A file whose name looks like a pattern is that file. Whether a file can be read shows later.
PictureInputs findPictures(const std::vector<std::string>& words);

struct PicturePair {
    std::filesystem::path input, output;
};

/// Where the results go. `output` is a file when it has a picture's extension, which takes a single picture; otherwise
/// it is a folder, and each result is NAME + `suffix` + .png in it, numbered when two pictures share a name. Throws
/// Error(usage), also when a result would replace one of the pictures or of the `alsoRead` files, however spelled or
/// linked, or when two results are links to one file.
std::vector<PicturePair> pairWithOutputs(const std::vector<std::filesystem::path>& pictures,
                                         const std::string& output,
                                         const std::string& suffix,
                                         const std::vector<std::filesystem::path>& alsoRead);

/// `name` for a terminal: bytes that would move the cursor or change colours become question marks.
std::string printable(std::string name);

}  // namespace matte
