// SPDX-License-Identifier: Apache-2.0
#include "inference/media/folder_source.h"

#include <algorithm>

#include "inference/core/error.h"
#include "inference/media/image/image_file.h"

namespace matte {
namespace {

constexpr double kRate = 30;

std::vector<std::filesystem::path> picturesIn(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> pictures;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        std::error_code unknown;
        if (hasImageExtension(entry->path()) && entry->is_regular_file(unknown)) pictures.push_back(entry->path());
    }
    if (error)
        throw Error(ErrorCategory::input, "The folder " + folder.string() + " can't be read: look at its permissions.");
    if (pictures.empty()) {
        throw Error(ErrorCategory::input, "There is no picture in the folder " + folder.string() + ": choose another.");
    }
    std::sort(pictures.begin(), pictures.end());
    return pictures;
}

}  // namespace

FolderSource::FolderSource(const std::filesystem::path& folder, const CaptureSettings& settings)
    : info_{folder.filename().string(), {}, settings.rate > 0 ? settings.rate : kRate, settings.paced, "pictures"},
      repeat_(settings.repeat),
      pictures_(picturesIn(folder)),
      clock_(settings.paced ? info_.rate : 0) {}

std::optional<Frame> FolderSource::read(std::stop_token stop) {
    for (std::size_t unreadable = 0;;) {
        const auto number = clock_.next(stop);
        if (!number || (*number >= pictures_.size() && !repeat_)) return std::nullopt;
        try {
            auto image = readImage(pictures_[*number % pictures_.size()], stop);
            {
                const std::lock_guard lock(mutex_);
                info_.size = image->size();
            }
            return Frame{std::move(image), *number, clock_.due()};
        } catch (const Cancelled&) {
            return std::nullopt;
        } catch (const Error&) {
            if (*number < pictures_.size()) ++loss_.frames;
            loss_.ofFrames = pictures_.size();
            if (++unreadable >= pictures_.size()) throw;
        }
    }
}

SourceInfo FolderSource::info() const {
    const std::lock_guard lock(mutex_);
    return info_;
}

}  // namespace matte
