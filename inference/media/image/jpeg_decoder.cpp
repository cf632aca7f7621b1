// SPDX-License-Identifier: Apache-2.0
#include "inference/media/image/jpeg_decoder.h"

#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>

#include <jerror.h>

namespace matte {
namespace {

/// libjpeg reports by calling back, and an error must not return: it jumps out of the call that is guarded by setjmp.
struct Reporter {
    jpeg_error_mgr manager;
    std::jmp_buf out;

    [[noreturn]] static void onError(j_common_ptr info) {
        std::longjmp(reinterpret_cast<Reporter*>(info->err)->out, 1);
    }

    /// Level -1 is a warning: libjpeg would make up the missing pixels and go on. What concerns the pixels ends the
    /// decoding; odd version numbers and bytes between segments, which some cameras write, do not.
    static void onMessage(j_common_ptr info, int level) {
        if (level >= 0) return;
        switch (info->err->msg_code) {
            case JWRN_JPEG_EOF:
            case JWRN_HIT_MARKER:
            case JWRN_HUFF_BAD_CODE:
            case JWRN_ARITH_BAD_CODE:
            case JWRN_MUST_RESYNC: onError(info);
            default: return;
        }
    }
    /// A progressive file that repeats its scans can keep a decoder busy for hours; real ones have about ten.
    static void onProgress(j_common_ptr info) {
        constexpr int kMaxScans = 100;
        if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > kMaxScans) onError(info);
    }
};

/// One decompressor. The guarded functions hold nothing with a destructor, because a jump would skip it.
class Decoder {
public:
    Decoder() {
        info_.err = jpeg_std_error(&reporter_.manager);
        reporter_.manager.error_exit = Reporter::onError;
        reporter_.manager.emit_message = Reporter::onMessage;
        progress_.progress_monitor = Reporter::onProgress;
    }
    ~Decoder() { jpeg_destroy_decompress(&info_); }
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;

    /// No pixels when the header is damaged, or says that there are more than a picture may have, or inks.
    Size readHeader(std::span<const std::uint8_t> bytes) {
        if (setjmp(reporter_.out) != 0) return {};
        jpeg_create_decompress(&info_);
        info_.progress = &progress_;
        jpeg_mem_src(&info_, bytes.data(), static_cast<unsigned long>(bytes.size()));
        jpeg_read_header(&info_, TRUE);
        const Size size{int(info_.image_width), int(info_.image_height)};
        const bool hasInks = info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
        return hasInks || size.pixels() > Image::kMaxPixels ? Size{} : size;
    }

    /// False when a part is missing or damaged.
    bool decode(Image& image) {
        if (setjmp(reporter_.out) != 0) return false;
        info_.out_color_space = JCS_EXT_RGBA;
        jpeg_start_decompress(&info_);
        while (info_.output_scanline < info_.output_height) {
            JSAMPROW row = image.row(int(info_.output_scanline));
            jpeg_read_scanlines(&info_, &row, 1);
        }
        jpeg_finish_decompress(&info_);
        return true;
    }

private:
    Reporter reporter_;
    jpeg_progress_mgr progress_{};
    jpeg_decompress_struct info_{};
};

}  // namespace

std::shared_ptr<Image> decodeJpegFrame(std::span<const std::uint8_t> bytes, FramePool& pool) {
    Decoder decoder;
    const Size size = decoder.readHeader(bytes);
    auto image = size.pixels() > 0 ? pool.take(size, PixelFormat::rgba8) : nullptr;
    return image && decoder.decode(*image) ? image : nullptr;
}

}  // namespace matte
