// SPDX-License-Identifier: Apache-2.0
#include "inference/media/image/jpeg_decoder.h"

#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>

#include <jerror.h>

#include "inference/core/error.h"
#include "inference/media/image/color_profile.h"
#include "inference/media/image/picture_header.h"
#include "inference/media/image/picture_metadata.h"

namespace matte {
namespace {

/// A progressive file that repeats its scans can keep a decoder busy for hours; real ones have about ten.
constexpr int kMaxScans = 100;
/// A block of 64 takes a bit at least, in one scan or another.
constexpr std::size_t kPixelsPerByte = 512;

enum class Fault { none, cutOff, damaged, memory, spent };

/// libjpeg reports by calling back, and an error must not return: it jumps out of the call that is guarded by setjmp.
struct Reporter {
    jpeg_error_mgr manager;
    std::jmp_buf out;
    Fault fault = Fault::none;
    const DecodeBudget* budget = nullptr;  ///< null for a camera's picture

    [[noreturn]] static void fail(j_common_ptr info, Fault fault) {
        auto* self = reinterpret_cast<Reporter*>(info->err);
        self->fault = fault;
        std::longjmp(self->out, 1);
    }
    static void onError(j_common_ptr info) {
        fail(info, info->err->msg_code == JERR_OUT_OF_MEMORY ? Fault::memory : Fault::damaged);
    }

    /// Level -1 is a warning: libjpeg would make up the missing pixels and go on. What concerns the pixels ends the
    /// decoding; odd version numbers and bytes between segments, which some cameras write, do not.
    static void onMessage(j_common_ptr info, int level) {
        if (level >= 0) return;
        switch (info->err->msg_code) {
            case JWRN_JPEG_EOF: fail(info, Fault::cutOff);
            case JWRN_HIT_MARKER:
            case JWRN_HUFF_BAD_CODE:
            case JWRN_ARITH_BAD_CODE:
            case JWRN_MUST_RESYNC: fail(info, Fault::damaged);
            default: return;
        }
    }
    static void onProgress(j_common_ptr info) {
        if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > kMaxScans) fail(info, Fault::damaged);
        const DecodeBudget* budget = reinterpret_cast<Reporter*>(info->err)->budget;
        if (budget && budget->isSpent()) fail(info, Fault::spent);
    }
};

/// One decompressor. The guarded functions hold nothing with a destructor, because a jump would skip it.
class Decoder {
public:
    Decoder(const std::string& name, const DecodeBudget* budget) : name_(name) {
        reporter_.budget = budget;
        info_.err = jpeg_std_error(&reporter_.manager);
        reporter_.manager.error_exit = Reporter::onError;
        reporter_.manager.emit_message = Reporter::onMessage;
        progress_.progress_monitor = Reporter::onProgress;
        if (setjmp(reporter_.out) == 0) {
            jpeg_create_decompress(&info_);
            info_.progress = &progress_;
        }
        check();
    }
    ~Decoder() { jpeg_destroy_decompress(&info_); }
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;

    Size readHeader(std::span<const std::uint8_t> bytes) {
        if (setjmp(reporter_.out) == 0) {
            jpeg_mem_src(&info_, bytes.data(), static_cast<unsigned long>(bytes.size()));
            jpeg_read_header(&info_, TRUE);
        }
        check();
        return checkedSize(info_.image_width, info_.image_height, name_);
    }

    /// CMYK has no direct way to RGB in libjpeg.
    [[nodiscard]] bool isCmyk() const {
        return info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
    }
    /// Adobe's programs store the complement of each ink, and mark the file.
    [[nodiscard]] bool isInverted() const { return info_.saw_Adobe_marker; }

    void decode(Image& image) {
        if (setjmp(reporter_.out) == 0) {
            info_.out_color_space = isCmyk() ? JCS_CMYK : JCS_EXT_RGBA;
            jpeg_start_decompress(&info_);
            while (info_.output_scanline < info_.output_height) {
                JSAMPROW row = image.row(int(info_.output_scanline));
                jpeg_read_scanlines(&info_, &row, 1);
            }
            if (lacksScans()) Reporter::fail(reinterpret_cast<j_common_ptr>(&info_), Fault::cutOff);
            jpeg_finish_decompress(&info_);
        }
        check();
    }

private:
    /// Where a component has no scan, or a progressive one not the scan of its blocks' means, libjpeg shows grey and
    /// says nothing.
    [[nodiscard]] bool lacksScans() const {
        for (int i = 0; i < info_.num_components; ++i) {
            if (info_.comp_info[i].quant_table == nullptr) return true;  // taken when its first scan begins
            if (info_.progressive_mode && info_.coef_bits[i][0] < 0) return true;
        }
        return false;
    }
    void check() const {
        switch (reporter_.fault) {
            case Fault::none: return;
            case Fault::cutOff: refuseCutOff(name_);
            case Fault::memory: refuseForMemory(name_);
            case Fault::spent: reporter_.budget->check(); [[fallthrough]];
            case Fault::damaged: refuseDamaged(name_);
        }
    }

    const std::string& name_;
    Reporter reporter_;
    jpeg_progress_mgr progress_{};
    jpeg_decompress_struct info_{};
};

/// The light that gets past both inks, without a colour profile: (1 - ink)(1 - black).
void cmykToRgba(Image& image, bool inverted) {
    for (int y = 0; y < image.size().height; ++y) {
        std::uint8_t* pixel = image.row(y);
        for (int x = 0; x < image.size().width; ++x, pixel += 4) {
            const int pastBlack = inverted ? pixel[3] : 255 - pixel[3];
            for (int c = 0; c < 3; ++c) {
                const int pastInk = inverted ? pixel[c] : 255 - pixel[c];
                pixel[c] = std::uint8_t((pastInk * pastBlack + 127) / 255);
            }
            pixel[3] = 255;
        }
    }
}

}  // namespace

Image decodeJpeg(std::span<const std::uint8_t> bytes, DecodeBudget& budget) {
    Decoder decoder(budget.name(), &budget);
    const Size size = decoder.readHeader(bytes);
    budget.begin(size, kPixelsPerByte);
    Image image(size, PixelFormat::rgba8);
    decoder.decode(image);
    if (decoder.isCmyk() && !convertCmykToSrgb(image, decoder.isInverted(), colorProfileOf(bytes))) {
        cmykToRgba(image, decoder.isInverted());
    }
    return image;
}

std::shared_ptr<Image> decodeJpegFrame(std::span<const std::uint8_t> bytes, FramePool& pool) {
    static const std::string name = "The camera's picture";
    try {
        Decoder decoder(name, nullptr);
        const Size size = decoder.readHeader(bytes);
        auto image = decoder.isCmyk() ? nullptr : pool.take(size, PixelFormat::rgba8);
        if (image) decoder.decode(*image);
        return image;
    } catch (const Error&) {
        return nullptr;  // one frame of many: the next one comes soon
    }
}

}  // namespace matte
