// SPDX-License-Identifier: Apache-2.0
#include "tests/support/files/h264_clip.h"

#include <fstream>
#include <iterator>

#include <opencv2/videoio.hpp>

#include "tests/support/files/scratch_folder.h"

namespace matte::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Cuts before the first of what belongs to the next picture: its parameters, or the slice that begins it.
std::vector<Bytes> accessUnits(const Bytes& stream) {
    std::vector<Bytes> units;
    std::size_t begin = 0;
    bool hasSlice = false;
    const auto cut = [&](std::size_t end) {
        units.emplace_back(stream.begin() + std::ptrdiff_t(begin), stream.begin() + std::ptrdiff_t(end));
        begin = end;
        hasSlice = false;
    };
    for (std::size_t i = 0; i + 4 < stream.size(); ++i) {
        if (stream[i] != 0 || stream[i + 1] != 0 || stream[i + 2] != 1) continue;
        const int type = stream[i + 3] & 0x1f;
        const bool isSlice = type == 1 || type == 5, isFirst = isSlice && (stream[i + 4] & 0x80) != 0;
        if (hasSlice && (isFirst || (type >= 6 && type <= 9))) cut(i > 0 && stream[i - 1] == 0 ? i - 1 : i);
        hasSlice |= isSlice;
    }
    cut(stream.size());
    return units;
}

}  // namespace

std::vector<Bytes> h264Clip(Size size, int frames) {
    const ScratchFolder folder;
    const std::string path = (folder / "clip.h264").string();
    cv::VideoWriter writer(path, cv::CAP_FFMPEG, cv::VideoWriter::fourcc('H', '2', '6', '4'), 30,
                           cv::Size(size.width, size.height));
    if (!writer.isOpened()) return {};
    for (int n = 0; n < frames; ++n) {
        writer.write(cv::Mat(size.height, size.width, CV_8UC3, cv::Scalar::all(20 + 2 * n)));
    }
    writer.release();
    std::ifstream file(path, std::ios::binary);
    const Bytes stream((std::istreambuf_iterator<char>(file)), {});
    return stream.empty() ? std::vector<Bytes>{} : accessUnits(stream);
}

}  // namespace matte::test
