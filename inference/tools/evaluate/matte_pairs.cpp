// SPDX-License-Identifier: Apache-2.0
#include "inference/tools/evaluate/matte_pairs.h"

#include <initializer_list>
#include <set>
#include <string>

#include "inference/core/error.h"
#include "inference/media/image/image_file.h"

namespace matte {
namespace {

namespace fs = std::filesystem;

/// Of a folder and of those below it; links to folders are not followed, so that none is its own part.
std::set<fs::path> picturesBelow(const fs::path& folder) {
    std::set<fs::path> pictures;
    std::error_code error;
    fs::recursive_directory_iterator entry(folder, error);
    while (!error && entry != fs::recursive_directory_iterator()) {
        if (hasImageExtension(entry->path())) pictures.insert(entry->path());
        entry.increment(error);
    }
    if (error) {
        throw Error(ErrorCategory::input, "The folder " + folder.string() + " can't be read (" + error.message() +
                                              "): name a folder of photos with mattes.");
    }
    return pictures;
}

}  // namespace

std::vector<MattePair> findMattePairs(const fs::path& folder) {
    const std::set<fs::path> pictures = picturesBelow(folder);
    std::set<fs::path> taken;
    /// The first of the pictures that are called as the photo but for their ending.
    const auto beside = [&](const fs::path& photo, std::initializer_list<const char*> endings) {
        const fs::path stem = photo.parent_path() / photo.stem();
        for (const char* ending : endings) {
            fs::path picture = stem.string() + ending;
            if (picture == photo || !pictures.contains(picture)) continue;
            taken.insert(picture);
            return picture;
        }
        return fs::path();
    };
    std::vector<MattePair> pairs;
    pairs.reserve(pictures.size());
    for (const fs::path& photo : pictures) {
        pairs.push_back({photo, beside(photo, {".png", "-matte.png"}), beside(photo, {".limb.png"}),
                         beside(photo, {".thing.png"})});
    }
    std::erase_if(pairs, [&](const MattePair& pair) { return taken.contains(pair.photo); });
    return pairs;
}

Planes readMatte(const fs::path& path, Size photo, const std::stop_token& stop) {
    const auto image = readImage(path, stop);
    if (image->size() != photo) {
        throw Error(ErrorCategory::input,
                    "The matte " + path.string() + " is not as large as its photo: both must be of one size.");
    }
    return planeOf(*image, 0);
}

Planes planeOf(const Image& image, int channel) {
    Planes plane(image.size(), 1);
    const std::ptrdiff_t step = bytesPerPixel(image.format());
    for (int y = 0; y < plane.size.height; ++y) {
        for (int x = 0; x < plane.size.width; ++x) plane.row(y)[x] = float(image.row(y)[step * x + channel]) / 255;
    }
    return plane;
}

}  // namespace matte
