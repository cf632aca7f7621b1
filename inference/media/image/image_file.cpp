// SPDX-License-Identifier: Apache-2.0
#include "inference/media/image/image_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <mutex>
#include <utility>
#include <vector>

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "inference/core/error.h"
#include "inference/media/image/bytes.h"
#include "inference/media/image/color_profile.h"
#include "inference/media/image/decode_budget.h"
#include "inference/media/image/jpeg_decoder.h"
#include "inference/media/image/orientation.h"
#include "inference/media/image/picture_header.h"
#include "inference/media/image/picture_metadata.h"
#include "inference/media/image/png_decoder.h"
#include "inference/media/image/tiff_decoder.h"
#include "inference/media/image/webp_decoder.h"

namespace matte {
namespace {

/// OpenCV counts an encoded picture's bytes in an int.
constexpr std::uintmax_t kMaxFileBytes = (std::uintmax_t(1) << 31) - 1;

/// OpenCV 4.6 writes why it can't decode a BMP to std::cerr. Our Error says it, so nothing is shown while this lives;
/// the program itself writes its messages elsewhere. Any number of threads may hold one.
class SilentCerr {
public:
    SilentCerr() {
        const std::lock_guard lock(shared().mutex);
        if (shared().holders++ == 0) shared().shown = std::cerr.rdbuf(nullptr);
    }
    ~SilentCerr() {
        const std::lock_guard lock(shared().mutex);
        if (--shared().holders == 0) std::cerr.rdbuf(shared().shown);
    }
    SilentCerr(const SilentCerr&) = delete;
    SilentCerr& operator=(const SilentCerr&) = delete;

private:
    struct Shared {
        std::mutex mutex;
        int holders = 0;
        std::streambuf* shown = nullptr;
    };
    static Shared& shared() {
        static Shared instance;
        return instance;
    }
};

/// OpenCV reads the masks of a 32-bit BMP only from a header with four of them; without that, it takes red for blue or
/// the padding for alpha. This copy has such a header: the file's three masks, and none for the alpha.
std::vector<std::uint8_t> fourMaskBmp(std::span<const std::uint8_t> bmp, Size size) {
    constexpr std::uint8_t kFileHeader = 14, kHeader = 56;
    const Bytes file(bmp);
    const auto pixels = file.part(file.little(10, 4), std::uint64_t(size.pixels()) * 4);
    std::vector<std::uint8_t> plain;
    plain.reserve(kFileHeader + kHeader + pixels.size());
    const auto append = [&](std::span<const std::uint8_t> part) {
        plain.insert(plain.end(), part.begin(), part.end());
    };
    append(file.part(0, 10));
    append(std::array<std::uint8_t, 8>{kFileHeader + kHeader, 0, 0, 0, kHeader, 0, 0, 0});  // where pixels begin; bytes
    append(file.part(18, 36 + 12));                                                         // the rest, the masks
    append(std::array<std::uint8_t, 4>{});
    append(pixels);
    return plain;
}

/// OpenCV reads what is stored as it is, and the file holds all of it.
Image decodeBmp(std::span<const std::uint8_t> bytes, const PictureHeader& header, DecodeBudget& budget) {
    budget.begin(header.size);
    std::vector<std::uint8_t> plain;
    if (header.masksWithoutAlpha) bytes = plain = fourMaskBmp(bytes, header.size);
    // OpenCV takes no const data, and changes none.
    const cv::Mat encoded(1, int(bytes.size()), CV_8UC1, const_cast<std::uint8_t*>(bytes.data()));
    const SilentCerr silent;
    cv::Mat decoded;
    try {
        cv::imdecode(encoded, cv::IMREAD_UNCHANGED, &decoded);
    } catch (const cv::Exception& error) {
        if (error.code == cv::Error::StsNoMem) refuseForMemory(budget.name());
        refuseDamaged(budget.name());
    }
    const std::array<int, 5> conversions{-1, cv::COLOR_GRAY2RGBA, -1, cv::COLOR_BGR2RGBA, cv::COLOR_BGRA2RGBA};
    const int conversion =
        !decoded.empty() && decoded.channels() <= 4 ? conversions[std::size_t(decoded.channels())] : -1;
    if (conversion < 0 || decoded.depth() != CV_8U) refuseDamaged(budget.name());
    Image image({decoded.cols, decoded.rows}, PixelFormat::rgba8);
    cv::Mat target(decoded.rows, decoded.cols, CV_8UC4, image.row(0));
    cv::cvtColor(decoded, target, conversion);
    return image;
}

Image decodeStored(std::span<const std::uint8_t> bytes, DecodeBudget& budget) {
    const PictureHeader header = inspectPicture(bytes, budget.name());
    switch (header.format) {
        case PictureFormat::jpeg: return decodeJpeg(bytes, budget);
        case PictureFormat::png: return decodePng(bytes, header, budget);
        case PictureFormat::webp: return decodeWebp(bytes, header, budget);
        case PictureFormat::bmp: return decodeBmp(bytes, header, budget);
        case PictureFormat::tiff: break;
    }
    return decodeTiff(bytes, header, budget);
}

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
    Image stored = decodeStored(bytes, budget);
    stopIfAsked(stop);
    convertToSrgb(stored, colorProfileOf(bytes));
    stopIfAsked(stop);
    return std::make_shared<const Image>(turnedUpright(std::move(stored), exifOrientation(bytes)));
}

bool hasImageExtension(const std::filesystem::path& path) {
    std::string extension = path.extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char c) { return char(std::tolower(c)); });
    constexpr std::array kExtensions{".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff", ".bmp"};
    return std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end();
}

std::string openCvVersion() {
    return cv::getVersionString();
}

}  // namespace matte
