// SPDX-License-Identifier: Apache-2.0
#include "inference/media/image/png_decoder.h"

#include <algorithm>
#include <csetjmp>
#include <cstring>

#include <png.h>

namespace matte {
namespace {

enum class Fault { none, damaged, spent };

/// One decompressor. libpng reports by calling back, and an error must not return: it jumps out of the call that is
/// guarded by setjmp. The guarded functions hold nothing with a destructor, because a jump would skip it.
class Decoder {
public:
    Decoder(std::span<const std::uint8_t> bytes, const DecodeBudget& budget) : left_(bytes), budget_(budget) {
        png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, onError, onWarning);
        if (png_) info_ = png_create_info_struct(png_);
        if (!info_) fault_ = Fault::damaged;
    }
    ~Decoder() { png_destroy_read_struct(&png_, &info_, nullptr); }
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;

    /// Every kind of pixel becomes R, G, B, A of 8 bits.
    void readHeader(Size expected) {
        if (fault_ == Fault::none && setjmp(out_) == 0) {
            png_set_read_fn(png_, this, read);
            png_read_info(png_, info_);
            png_set_expand(png_);
            png_set_scale_16(png_);
            png_set_gray_to_rgb(png_);
            png_set_add_alpha(png_, 0xFF, PNG_FILLER_AFTER);
            passes_ = png_set_interlace_handling(png_);
            png_read_update_info(png_, info_);
            const bool same = png_get_image_width(png_, info_) == png_uint_32(expected.width) &&
                              png_get_image_height(png_, info_) == png_uint_32(expected.height) &&
                              png_get_rowbytes(png_, info_) == std::size_t(expected.width) * 4;
            if (!same) fail(Fault::damaged);
        }
        check();
    }
    void decode(Image& image) {
        if (setjmp(out_) == 0) {
            for (int pass = 0; pass < passes_; ++pass) {
                for (int y = 0; y < image.size().height; ++y) {
                    if (budget_.isSpent()) fail(Fault::spent);
                    png_read_row(png_, image.row(y), nullptr);
                }
            }
            png_read_end(png_, nullptr);
        }
        check();
    }

private:
    [[noreturn]] void fail(Fault fault) {
        fault_ = fault;
        std::longjmp(out_, 1);
    }
    static void onError(png_structp png, png_const_charp) {
        static_cast<Decoder*>(png_get_error_ptr(png))->fail(Fault::damaged);
    }
    /// About what lies beside the pixels: common programs write such files.
    static void onWarning(png_structp, png_const_charp) {}
    static void read(png_structp png, png_bytep to, std::size_t count) {
        auto* self = static_cast<Decoder*>(png_get_io_ptr(png));
        if (count > self->left_.size()) self->fail(Fault::damaged);
        std::memcpy(to, self->left_.data(), count);
        self->left_ = self->left_.subspan(count);
    }
    void check() const {
        if (fault_ == Fault::spent) budget_.check();
        if (fault_ != Fault::none) refuseDamaged(budget_.name());
    }

    std::span<const std::uint8_t> left_;
    const DecodeBudget& budget_;
    png_structp png_ = nullptr;
    png_infop info_ = nullptr;
    std::jmp_buf out_;
    int passes_ = 1;
    Fault fault_ = Fault::none;
};

}  // namespace

Image decodePng(std::span<const std::uint8_t> bytes, const PictureHeader& header, DecodeBudget& budget) {
    budget.begin(header.size);
    Decoder decoder(bytes, budget);
    decoder.readHeader(header.size);
    Image image(header.size, PixelFormat::rgba8);
    decoder.decode(image);
    return image;
}

}  // namespace matte
