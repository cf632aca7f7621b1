// SPDX-License-Identifier: Apache-2.0
#include "inference/media/frame_source.h"

#include "inference/media/capture/camera_list.h"
#include "inference/media/detached_source.h"
#include "inference/media/folder_source.h"
#include "inference/media/synthetic/test_source.h"
#include "inference/media/video/video_source.h"

namespace matte {

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
