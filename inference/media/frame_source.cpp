// SPDX-License-Identifier: Apache-2.0
#include "inference/media/frame_source.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <vector>

#include "inference/core/error.h"
#include "inference/media/capture/camera_list.h"
#include "inference/media/frame_clock.h"
#include "inference/media/image/image_file.h"
#include "inference/media/synthetic/test_source.h"
#include "inference/media/video/video_source.h"

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

/// The pictures of a folder in the order of their names, at a rate; 30 a second when the settings don't say. Decoding
/// allocates each picture, unlike the other sources; its size and format (rgba8) are its own. Pictures that can't be
/// read are left out and counted.
class FolderSource : public FrameSource {
public:
    /// Throws Error(input) when the folder has no picture.
    FolderSource(const std::filesystem::path& folder, const CaptureSettings& settings)
        : info_{folder.filename().string(), {}, settings.rate > 0 ? settings.rate : kRate, settings.paced, "pictures"},
          repeat_(settings.repeat),
          pictures_(picturesIn(folder)),
          clock_(settings.paced ? info_.rate : 0) {}

    /// Throws Error(input) with the reason when no picture can be read.
    std::optional<Frame> read(std::stop_token stop) override {
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
    [[nodiscard]] SourceInfo info() const override {
        const std::lock_guard lock(mutex_);
        return info_;
    }
    [[nodiscard]] Loss loss() const override { return loss_; }

private:
    mutable std::mutex mutex_;  ///< guards the size in info_: read() against info()
    SourceInfo info_;
    bool repeat_;
    std::vector<std::filesystem::path> pictures_;
    FrameClock clock_;
    Loss loss_;
};

}  // namespace

std::unique_ptr<FrameSource> openSource(const SourceSpec& spec,
                                        const CaptureSettings& settings,
                                        const std::stop_token& stop) {
    switch (spec.kind) {
        case SourceSpec::Kind::test: return std::make_unique<TestSource>(spec.size, spec.rate, settings);
        case SourceSpec::Kind::url: return openAddress(spec.name, settings, stop);
        case SourceSpec::Kind::file:
            if (std::error_code error; std::filesystem::is_directory(spec.name, error)) {
                return std::make_unique<FolderSource>(spec.name, settings);
            }
            // Its disk may be one on a network that does not answer.
            return openOrLeave(
                [path = spec.name, settings](const std::stop_token&) { return openVideo(path, settings); }, stop);
        case SourceSpec::Kind::camera: break;
    }
    return openCamera(spec.name, settings, stop);
}

}  // namespace matte
