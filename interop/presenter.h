// SPDX-License-Identifier: Apache-2.0
// Presenter: draws one picture before and after, side by side at a split, as the programs in shaders/ do. It only
// presents: everything in the pictures was mixed by an engine. Made in QOpenGLWidget::initializeGL(), destroyed while
// that context is still current; after a context is lost a new one is made and given the pictures again.
//
//     presenter.setAfter(output.image->view());
//     presenter.draw(view, {width, height});
#pragma once

#include <array>

#include "inference/image.h"
#include "inference/look.h"
#include "interop/gl_texture.h"

namespace matte {

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
    explicit Presenter(const GlFacts& facts);
    /// GUI thread, context current.
    ~Presenter();
    Presenter(const Presenter&) = delete;
    Presenter& operator=(const Presenter&) = delete;

    /// Uploads a picture; what is drawn is stretched to the view, so a preview may stand in for the whole. Throws
    /// Error(engine). GUI thread, context current.
    void setBefore(const ImageView& picture) { before_.upload(picture); }
    void setAfter(const ImageView& picture) { after_.upload(picture); }
    /// Forgets both pictures. GUI thread, context current.
    void clear();

    /// Draws into the bound framebuffer; without a picture, only the surround. While there is no `after`, `before` is
    /// drawn for it. Leaves no GL state behind that Qt does not set itself. GUI thread, context current.
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
    struct SplitProgram {
        unsigned id;
        int viewport, middle, ratio;
    };
    void drawPicture(GlTexture& texture, const View& view, Size viewport, Box box);
    void drawSplit(const View& view, Size viewport, Box seen);
    void drawBox(Box box, Size viewport);

    GlTexture before_, after_;
    PictureProgram picture_{};
    SplitProgram split_{};
    unsigned vertexArray_ = 0;
    std::array<unsigned, 3> samplers_{};  ///< by Filter in presenter.cpp
};

}  // namespace matte
