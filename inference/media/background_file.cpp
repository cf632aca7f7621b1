// SPDX-License-Identifier: Apache-2.0
#include "inference/media/background_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <string>

#include <opencv2/imgproc.hpp>

#include "inference/core/error.h"
#include "inference/media/image/image_file.h"
#include "inference/media/video/video_source.h"

namespace matte {
namespace {

namespace fs = std::filesystem;

bool isPicture(const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return false;  // reading a pipe would wait
    std::array<std::uint8_t, 64> begin{};
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(begin.data()), begin.size());
    return beginsAsPicture({begin.data(), std::size_t(file.gcount())});
}

std::shared_ptr<const Image> firstFrame(const fs::path& path, const std::stop_token& stop) {
    const auto source = openVideo(path, {.paced = false});
    refuseLargeVideo(*source, path);
    const auto frame = source->read(stop);
    stopIfAsked(stop);
    if (!frame) refuseEmptyVideo(path);
    const Image& bgr = *frame->image;
    auto image = std::make_shared<Image>(bgr.size(), PixelFormat::rgba8);
    const auto [width, height] = bgr.size();
    const cv::Mat from(height, width, CV_8UC3, const_cast<std::uint8_t*>(bgr.row(0)));  // OpenCV takes no const data
    cv::Mat to(height, width, CV_8UC4, image->row(0));
    cv::cvtColor(from, to, cv::COLOR_BGR2RGBA);
    return image;
}

}  // namespace

void readBackground(Background& background, const std::stop_token& stop) {
    const fs::path path = background.imagePath;
    // A damaged picture is told of as one.
    background.moving = !hasImageExtension(path) && !isPicture(path);
    background.image = background.moving ? firstFrame(path, stop) : readImage(path, stop);
}

void refuseLargeVideo(const FrameSource& video, const fs::path& path) {
    if (video.info().size.pixels() <= std::size_t(7680) * 4320) return;
    throw Error(ErrorCategory::input,
                path.string() + " has larger pictures than 7680x4320: scale the video down first.");
}

void refuseEmptyVideo(const fs::path& path) {
    throw Error(ErrorCategory::input, path.string() + " has no picture that can be read: choose another video.");
}

bool hasVideoExtension(const fs::path& path) {
    std::string extension = path.extension().string();
    std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return char(std::tolower(c)); });
    constexpr std::array kExtensions{".mp4", ".mov",  ".mkv", ".webm", ".avi", ".m4v",
                                     ".mpg", ".mpeg", ".ts",  ".gif",  ".ogv", ".wmv"};
    return std::ranges::find(kExtensions, extension) != kExtensions.end();
}

}  // namespace matte
