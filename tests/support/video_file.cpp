// SPDX-License-Identifier: Apache-2.0
#include "tests/support/video_file.h"

#include <cstdlib>
#include <stdexcept>

#include <opencv2/core.hpp>
#include <opencv2/videoio.hpp>

namespace matte::test {
namespace {

constexpr int kFirst = 25, kStep = 10, kMost = 20;  // levels of red
constexpr int kGreen = 100, kBlue = 170;

}  // namespace

std::filesystem::path writeVideo(const std::filesystem::path& path, int frames, double rate, Size size) {
    const int codec = path.extension() == ".avi" ? cv::VideoWriter::fourcc('M', 'J', 'P', 'G')
                                                 : cv::VideoWriter::fourcc('m', 'p', '4', 'v');
    cv::VideoWriter writer(path.string(), cv::CAP_FFMPEG, codec, rate, cv::Size(size.width, size.height));
    if (!writer.isOpened()) throw std::runtime_error("can't write " + path.string());
    for (int n = 0; n < frames; ++n) {
        writer.write(
            cv::Mat(size.height, size.width, CV_8UC3, cv::Scalar(kBlue, kGreen, kFirst + kStep * (n % kMost))));
    }
    return path;
}

int videoFrameIn(const Image& picture) {
    const bool bgr = picture.format() == PixelFormat::bgr8;
    const auto [width, height] = picture.size();
    const std::uint8_t* pixel = picture.row(height / 2) + std::ptrdiff_t(width / 2) * bytesPerPixel(picture.format());
    const int red = pixel[bgr ? 2 : 0], green = pixel[1], blue = pixel[bgr ? 0 : 2];
    if (std::abs(green - kGreen) > 12 || std::abs(blue - kBlue) > 12) return -1;
    return (red - kFirst + kStep / 2) / kStep;
}

}  // namespace matte::test
