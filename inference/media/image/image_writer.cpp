// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <utility>
#include <vector>

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "inference/core/atomic_file.h"
#include "inference/core/error.h"
#include "inference/media/image/image_file.h"
#include "inference/media/image/tiff_directory.h"

namespace matte {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& what) {
    throw Error(ErrorCategory::output, path.string() + what);
}

/// How a format is written: JPEG and WebP at a quality that keeps edges clean. PNG as OpenCV does by itself (run
/// lengths after the SUB filter), because any level asked for is slower and hardly smaller: a noisy 12-megapixel
/// cut-out takes 0.45 s and 22 MB, at level 3 1.6 s and 24 MB.
struct Encoding {
    const char* extension;
    bool hasAlpha;
    std::vector<int> parameters;
};

const Encoding* findEncoding(const std::filesystem::path& path) {
    static const std::vector<int> jpeg{cv::IMWRITE_JPEG_QUALITY, 95}, webp{cv::IMWRITE_WEBP_QUALITY, 95};
    static const std::array<Encoding, 7> kEncodings{{{".jpg", false, jpeg},
                                                     {".jpeg", false, jpeg},
                                                     {".png", true, {}},
                                                     {".webp", true, webp},
                                                     {".tif", true, {}},
                                                     {".tiff", true, {}},
                                                     {".bmp", false, {}}}};
    std::string extension = path.extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char c) { return char(std::tolower(c)); });
    const auto found = std::find_if(kEncodings.begin(), kEncodings.end(),
                                    [&](const Encoding& encoding) { return extension == encoding.extension; });
    return found == kEncodings.end() ? nullptr : &*found;
}

bool isOpaque(const ImageView& image) {
    if (image.format != PixelFormat::rgba8) return true;
    for (int y = 0; y < image.size.height; ++y) {
        const std::uint8_t* row = image.row(y);
        std::uint8_t all = 255;
        for (int x = 0; x < image.size.width; ++x) all &= row[x * 4 + 3];
        if (all != 255) return false;
    }
    return true;
}

/// Over white, as a viewer without alpha would show it: on sRGB values.
cv::Mat overWhite(const ImageView& image) {
    cv::Mat bgr(image.size.height, image.size.width, CV_8UC3);
    for (int y = 0; y < bgr.rows; ++y) {
        const std::uint8_t* in = image.row(y);
        std::uint8_t* out = bgr.ptr(y);
        for (int x = 0; x < bgr.cols; ++x, in += 4, out += 3) {
            const int alpha = in[3];
            for (int c = 0; c < 3; ++c) out[2 - c] = std::uint8_t((in[c] * alpha + 255 * (255 - alpha) + 127) / 255);
        }
    }
    return bgr;
}

/// In OpenCV's channel order, with the alpha only when there is some: it would cost a quarter of the file.
cv::Mat toOpenCv(const ImageView& image, bool formatHasAlpha) {
    const bool opaque = isOpaque(image);
    if (!opaque && !formatHasAlpha) return overWhite(image);
    // OpenCV takes no const data, and the encoders change none.
    cv::Mat pixels(image.size.height, image.size.width, CV_MAKETYPE(CV_8U, bytesPerPixel(image.format)),
                   const_cast<std::uint8_t*>(image.data), std::size_t(image.strideBytes));
    if (image.format != PixelFormat::rgba8) return pixels;
    cv::Mat ordered;
    cv::cvtColor(pixels, ordered, opaque ? cv::COLOR_RGBA2BGR : cv::COLOR_RGBA2BGRA);
    return ordered;
}

/// OpenCV stores a fourth sample in a TIFF and doesn't say what it is, so that other programs guess. TIFF 6.0, section
/// 18: the field ExtraSamples is 2 for an alpha by which the colours are not multiplied.
std::vector<std::uint8_t> withAlphaNamed(std::vector<std::uint8_t> bytes) {
    constexpr std::uint16_t kExtraSamples = 338, kUnassociatedAlpha = 2;
    const auto directory = TiffDirectory::open(bytes);
    if (!directory) return bytes;
    return directory->withField(kExtraSamples, kUnassociatedAlpha);
}

std::vector<std::uint8_t> encode(const std::filesystem::path& path, const ImageView& image) {
    const Encoding* encoding = findEncoding(path);
    if (!encoding) {
        refuse(path, " has an extension that can't be written: use png, jpg, jpeg, webp, tif, tiff or bmp.");
    }
    std::vector<std::uint8_t> bytes;
    try {
        const cv::Mat pixels = toOpenCv(image, encoding->hasAlpha);
        if (cv::imencode(encoding->extension, pixels, bytes, encoding->parameters)) {
            if (pixels.channels() == 4) return withAlphaNamed(std::move(bytes));
            return bytes;
        }
    } catch (const cv::Exception& error) {
        if (error.code == cv::Error::StsNoMem)
            refuse(path, " can't be written for want of memory: close other programs.");
    }
    refuse(path, " can't hold a picture of " + std::to_string(image.size.width) + "x" +
                     std::to_string(image.size.height) + " pixels in its format: use png.");
}

}  // namespace

void writeImage(const std::filesystem::path& path, const ImageView& image) {
    checkTarget(path);
    writeFile(path, encode(path, image));
}

}  // namespace matte
