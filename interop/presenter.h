// SPDX-License-Identifier: Apache-2.0
// Presenter: draws one picture before and after, side by side at a split, or a live one, as the programs in shaders/
// do. It only presents: everything in the pictures was mixed by an engine. Made in QOpenGLWidget::initializeGL(),
// destroyed while that context is still current; after a context is lost a new one is made and given the pictures
// again.
//
//     presenter.setAfter(image.view());                // a photo; or presenter.show(*live.picture)
//     presenter.draw(view, {width, height});
#pragma once

#include <array>
#include <string>

#include "inference/core/composite_params.h"
#include "inference/core/image.h"
#include "inference/core/picture.h"
#include "interop/cuda_gl_texture.h"
#include "interop/gl_texture.h"
#include "interop/shrunk_upload.h"

namespace matte {

/// The way that the last live picture took to the screen.
struct PresentPath {
    bool interop = false;     ///< from device memory to the texture without passing the host
    std::string reason;       ///< why not; empty with interop, and before the first picture
    std::size_t bytesUp = 0;  ///< to the graphics driver, of that picture
};

/// How the pictures lie in the viewport. Lengths in viewport pixels are device pixels from its top left corner. A plain
/// value; any thread.
struct View {
    double left = 0, top = 0;      ///< where the picture's top left corner lies, viewport pixels
    double width = 0, height = 0;  ///< how large the picture is drawn, viewport pixels
    double split = 0;              ///< before is drawn left of here, after right of it, viewport pixels
    bool splitHandle = false;      ///< draw the split's line and handle
    bool sharpPixels = false;      ///< do not smooth between pixels
    double pixelRatio = 1;         ///< viewport pixels in a logical pixel; sizes the handle and the checkerboard
    Rgb surround;                  ///< around the picture
    Rgb checker[2];                ///< behind transparency
};

class Presenter {
public:
    /// Compiles the shaders. Throws Error(engine). GUI thread, context current.
    /// `allowInterop`: pictures on a CUDA device are taken from there where the context can.
    explicit Presenter(const GlFacts& facts, bool allowInterop = true);
    /// GUI thread, context current.
    ~Presenter();
    Presenter(const Presenter&) = delete;
    Presenter& operator=(const Presenter&) = delete;

    /// Uploads a picture; what is drawn is stretched to the view, so a preview may stand in for the whole. Throws
    /// Error(engine). GUI thread, context current.
    void setBefore(const ImageView& picture) { before_.upload(picture); }
    void setAfter(const ImageView& picture) { after_.upload(picture); }
    /// A live picture, shown alone until clear(): by interop, or through the host where that is impossible. Two
    /// textures take turns, so that the one that is drawn is never waited for. Throws Error(engine). GUI thread,
    /// context current.
    void show(const Picture& picture);
    [[nodiscard]] const PresentPath& path() const { return path_; }
    /// Forgets all pictures. GUI thread, context current.
    void clear();

    /// Draws into the bound framebuffer; without a picture, only the surround. While there is no `after`, `before` is
    /// drawn for it. Leaves no GL state behind that Qt does not set itself. Throws Error(engine) when a live picture
    /// had to be uploaded at another size and could not. GUI thread, context current.
    void draw(const View& view, Size viewport);

private:
    struct Box {
        int left, top, width, height;
        [[nodiscard]] bool empty() const { return width <= 0 || height <= 0; }
    };
    struct PictureProgram {
        unsigned id;
        int viewport, origin, extent, cell, checker, picture;
    };
    struct ExactProgram {
        unsigned id;
        int corner, picture;
    };
    struct SplitProgram {
        unsigned id;
        int viewport, middle, ratio;
    };
    Box uploadShrunk(const View& view);
    void drawExact(const GlTexture& texture, Box picture, Size viewport, Box seen);
    void drawPicture(GlTexture& texture, const View& view, Size viewport, Box box);
    void drawSplit(const View& view, Size viewport, Box seen);
    void drawBox(Box box, Size viewport);

    struct LiveTextures {
        GlTexture uploaded;
        CudaGlTexture shared;
    };
    bool showFromDevice(const Picture& picture, CudaGlTexture& texture);

    GlTexture before_, after_;
    std::array<LiveTextures, 2> live_;
    std::size_t nextLive_ = 0;
    GlTexture* shown_ = nullptr;  ///< one of live_'s, while a live picture is shown
    std::string interopReason_;   ///< why interop is not tried (again) in this context
    bool software_;               ///< the processor draws
    ShrunkUpload shrunk_;         ///< shown_'s picture, where the processor draws and the picture is on the host
    PresentPath path_;
    PictureProgram picture_{};
    ExactProgram exact_{};
    SplitProgram split_{};
    unsigned vertexArray_ = 0;
    std::array<unsigned, 3> samplers_{};  ///< by Filter in presenter.cpp
};

}  // namespace matte
