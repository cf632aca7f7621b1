// SPDX-License-Identifier: Apache-2.0
#include "inference/media/image/image_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include <vips/vips.h>

#include "inference/core/error.h"
#include "inference/media/image/bmp_decoder.h"
#include "inference/media/image/bytes.h"
#include "inference/media/image/decode_budget.h"
#include "inference/media/image/picture_decoder.h"

namespace matte {
namespace {

/// FFmpeg counts an encoded picture's bytes in an int.
constexpr std::uintmax_t kMaxFileBytes = (std::uintmax_t(1) << 31) - 1;

std::vector<std::uint8_t> readWhole(const std::filesystem::path& path, const std::stop_token& stop) {
    constexpr std::size_t kPiece = std::size_t(4) << 20;
    const std::string name = path.string();
    const auto refuse = [&](const std::string& what) { throw Error(ErrorCategory::input, name + what); };
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status)) {
        refuse(error && error != std::errc::no_such_file_or_directory ? " can't be reached (" + error.message() + ")."
                                                                      : " doesn't exist: check the name.");
    }
    if (std::filesystem::is_directory(status)) refuse(" is a folder: name a picture in it.");
    if (!std::filesystem::is_regular_file(status)) refuse(" is not a regular file: save the picture to one.");
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) refuse(" can't be opened (" + std::string(std::strerror(errno)) + "): check its permissions.");
    const auto bytes = std::uintmax_t(file.tellg());
    if (bytes == 0) refuse(" is empty: copy or download it again.");
    if (bytes > kMaxFileBytes) refuse(" is larger than 2 GB: scale the picture down.");
    std::vector<std::uint8_t> content(bytes);
    file.seekg(0);
    for (std::size_t at = 0; at < content.size(); at += kPiece) {  // the disk may be slow, or far away
        stopIfAsked(stop);
        const std::size_t count = std::min(kPiece, content.size() - at);
        if (!file.read(reinterpret_cast<char*>(content.data() + at), std::streamsize(count))) {
            refuse(" can't be read to its end: check the disk that it is on.");
        }
    }
    return content;
}

}  // namespace

std::shared_ptr<const Image> readImage(const std::filesystem::path& path, const std::stop_token& stop) {
    return decodeImage(readWhole(path, stop), path.string(), stop);
}

std::shared_ptr<const Image> decodeImage(std::span<const std::uint8_t> bytes,
                                         const std::string& name,
                                         const std::stop_token& stop) {
    if (bytes.empty()) throw Error(ErrorCategory::input, name + " is empty: copy or download it again.");
    DecodeBudget budget(name, bytes.size(), stop);
    budget.check();
    return std::make_shared<const Image>(beginsAsBmp(bytes) ? decodeBmp(bytes, budget) : decodePicture(bytes, budget));
}

bool beginsAsPicture(std::span<const std::uint8_t> begin) {
    return beginsAsBmp(begin) || (!begin.empty() && !Bytes(begin).is(0, "GIF8") && isDecodable(begin));
}

std::string vipsVersion() {
    return std::to_string(vips_version(0)) + "." + std::to_string(vips_version(1)) + "." +
           std::to_string(vips_version(2));
}

}  // namespace matte
