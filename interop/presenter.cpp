// SPDX-License-Identifier: Apache-2.0
#include "interop/presenter.h"

#include <GL/glew.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "inference/core/error.h"
#include "shaders.inc"

namespace matte {
namespace {

enum Filter { shrunk = 0, smooth, sharp };

constexpr double kShrunkBelow = 0.8;  // of a texture's size: linear interpolation alone would skip pixels
constexpr double kCheckerCell = 8;    // logical pixels
constexpr double kSplitReach = 40;    // logical pixels beside the line that its shadow and handle may touch

std::string logOf(GLuint object, bool isProgram) {
    char log[512] = "";
    if (isProgram) {
        glGetProgramInfoLog(object, sizeof log, nullptr, log);
    } else {
        glGetShaderInfoLog(object, sizeof log, nullptr, log);
    }
    return log;
}

GLuint attachShader(GLuint program, GLenum stage, const char* source) {
    const GLuint shader = glCreateShader(stage);
    glShaderSource(shader, 1, &source, nullptr);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glDeleteShader(shader);  // lives on as long as the program does
    return shader;
}

GLuint linkProgram(const char* fragmentSource) {
    const GLuint program = glCreateProgram();
    const GLuint vertex = attachShader(program, GL_VERTEX_SHADER, kQuadVert);
    const GLuint fragment = attachShader(program, GL_FRAGMENT_SHADER, fragmentSource);
    glLinkProgram(program);
    GLint linked = 0;
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    if (!linked) {
        const std::string log = logOf(vertex, false) + logOf(fragment, false) + logOf(program, true);
        glDeleteProgram(program);
        throw Error(ErrorCategory::engine, "The graphics driver refused the shaders, so update it. It said: " + log);
    }
    return program;
}

void makeSampler(GLuint sampler, GLint minify, GLint magnify) {
    glSamplerParameteri(sampler, GL_TEXTURE_MIN_FILTER, minify);
    glSamplerParameteri(sampler, GL_TEXTURE_MAG_FILTER, magnify);
    glSamplerParameteri(sampler, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glSamplerParameteri(sampler, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    // Trilinear filtering alone looks soft beside what photo viewers show.
    glSamplerParameterf(sampler, GL_TEXTURE_LOD_BIAS, -0.4F);
}

void setChecker(int location, const Rgb (&colors)[2]) {
    float values[6];
    for (int i = 0; i < 2; ++i) {
        values[3 * i] = float(colors[i].r) / 255;
        values[3 * i + 1] = float(colors[i].g) / 255;
        values[3 * i + 2] = float(colors[i].b) / 255;
    }
    glUniform3fv(location, 2, values);
}

}  // namespace

Presenter::Presenter(const GlFacts& facts, bool allowInterop)
    : before_(facts),
      after_(facts),
      live_{{{GlTexture(facts), CudaGlTexture(facts)}, {GlTexture(facts), CudaGlTexture(facts)}}},
      interopReason_(allowInterop ? "" : "It was switched off"),
      software_(facts.software) {
    GLuint id = linkProgram(kPresentFrag);
    const auto at = [&id](const char* name) { return glGetUniformLocation(id, name); };
    picture_ = {id, at("viewport"), at("origin"), at("extent"), at("cell"), at("checker"), at("picture")};
    try {
        id = linkProgram(kExactFrag);
        exact_ = {id, at("corner"), at("picture")};
        id = linkProgram(kSplitFrag);
    } catch (...) {
        glDeleteProgram(picture_.id);
        glDeleteProgram(exact_.id);  // 0 where it was not made
        throw;
    }
    split_ = {id, at("viewport"), at("middle"), at("ratio")};
    glGenVertexArrays(1, &vertexArray_);
    glGenSamplers(int(samplers_.size()), samplers_.data());
    makeSampler(samplers_[shrunk], GL_LINEAR_MIPMAP_LINEAR, GL_LINEAR);
    makeSampler(samplers_[smooth], GL_LINEAR, GL_LINEAR);
    makeSampler(samplers_[sharp], GL_LINEAR, GL_NEAREST);
}

Presenter::~Presenter() {
    glDeleteSamplers(int(samplers_.size()), samplers_.data());
    glDeleteVertexArrays(1, &vertexArray_);
    for (const GLuint id : {picture_.id, exact_.id, split_.id}) glDeleteProgram(id);
}

void Presenter::clear() {
    before_.release();
    after_.release();
    for (LiveTextures& textures : live_) {
        textures.uploaded.release();
        textures.shared.release();
    }
    shown_ = nullptr;
    shrunk_.take(nullptr);
    path_ = {};
}

void Presenter::show(const Picture& picture) {
    LiveTextures& textures = live_[nextLive_ ^= 1];
    if (showFromDevice(picture, textures.shared)) {
        shrunk_.take(nullptr);
        shown_ = &textures.shared.texture();
        path_ = {true, "", 0};
        return;
    }
    const auto image = picture.image();
    if (software_) {
        shrunk_.take(image);
    } else {
        textures.uploaded.upload(image->view());
    }
    shown_ = &textures.uploaded;
    path_ = {false, picture.device() ? interopReason_ : "The picture was made on the CPU", image->bytes()};
}

bool Presenter::showFromDevice(const Picture& picture, CudaGlTexture& texture) {
    if (!picture.device() || !interopReason_.empty()) return false;
    try {
        texture.copyFrom(*picture.device());
        return true;
    } catch (const Error& error) {
        interopReason_ = error.what();
        for (LiveTextures& textures : live_) textures.shared.release();
        return false;
    }
}

// The scissor cuts the box out of the quad over the whole viewport.
void Presenter::drawBox(Box box, Size viewport) {
    glScissor(box.left, viewport.height - box.top - box.height, box.width, box.height);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

void Presenter::drawPicture(GlTexture& texture, const View& view, Size viewport, Box box) {
    if (box.empty() || texture.empty()) return;
    const bool shrinks = view.width < kShrunkBelow * texture.size().width;
    if (shrinks) texture.makeMipmaps();
    glUseProgram(picture_.id);
    glUniform2f(picture_.viewport, float(viewport.width), float(viewport.height));
    glUniform2f(picture_.origin, float(view.left), float(view.top));
    glUniform2f(picture_.extent, float(view.width), float(view.height));
    glUniform1f(picture_.cell, float(kCheckerCell * view.pixelRatio));
    setChecker(picture_.checker, view.checker);
    glUniform1i(picture_.picture, 0);
    texture.bind(0);
    glBindSampler(0, samplers_[shrinks ? shrunk : view.sharpPixels ? sharp : smooth]);
    drawBox(box, viewport);
    glBindSampler(0, 0);
    glBindTexture(GL_TEXTURE_2D, 0);
}

// Each pixel of the texture is one of `picture`, where it is drawn.
void Presenter::drawExact(const GlTexture& texture, Box picture, Size viewport, Box seen) {
    if (seen.empty()) return;
    glUseProgram(exact_.id);
    glUniform2f(exact_.corner, float(picture.left), float(viewport.height - picture.top));
    glUniform1i(exact_.picture, 0);
    texture.bind(0);
    glBindSampler(0, samplers_[smooth]);  // without it the texture's own would ask for mipmaps
    drawBox(seen, viewport);
    glBindSampler(0, 0);
    glBindTexture(GL_TEXTURE_2D, 0);
}

/// Where the live picture is drawn, when its texture has just that size; else an empty box.
Presenter::Box Presenter::uploadShrunk(const View& view) {
    const Size own = shrunk_.size();
    if (own.width == 0) return {};
    const int left = int(std::lround(view.left)), top = int(std::lround(view.top));
    const Box whole{left, top, int(std::lround(view.left + view.width)) - left,
                    int(std::lround(view.top + view.height)) - top};
    const bool shrinks = view.width < kShrunkBelow * own.width && !whole.empty();
    const bool exact = shrunk_.uploadAs(shrinks ? Size{whole.width, whole.height} : own, *shown_);
    path_.bytesUp = shrunk_.bytesUp();
    return exact ? whole : Box{};
}

// As tall as what is seen of the picture, with the handle in its middle.
void Presenter::drawSplit(const View& view, Size viewport, Box seen) {
    if (seen.empty()) return;
    const int reach = int(kSplitReach * view.pixelRatio), left = std::max(0, int(view.split) - reach);
    const int right = std::min(viewport.width, int(view.split) + reach);
    glUseProgram(split_.id);
    glUniform2f(split_.viewport, float(viewport.width), float(viewport.height));
    const int middle = seen.top + seen.height / 2;  // on a whole pixel, so that the disc is sharp
    glUniform2f(split_.middle, float(view.split), float(middle));
    glUniform1f(split_.ratio, float(view.pixelRatio));
    glEnable(GL_BLEND);
    glBlendFuncSeparate(GL_ONE, GL_ONE_MINUS_SRC_ALPHA, GL_ZERO, GL_ONE);
    drawBox({left, seen.top, right - left, seen.height}, viewport);
    glDisable(GL_BLEND);
}

void Presenter::draw(const View& view, Size viewport) {
    glViewport(0, 0, viewport.width, viewport.height);
    glDisable(GL_BLEND);
    glDisable(GL_DEPTH_TEST);
    glDisable(GL_SCISSOR_TEST);
    glClearColor(float(view.surround.r) / 255, float(view.surround.g) / 255, float(view.surround.b) / 255, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    if (!shown_ && before_.empty()) return;
    const Box exact = uploadShrunk(view);
    const int left = int(std::clamp(std::round(view.left), 0.0, double(viewport.width)));
    const int right = int(std::clamp(std::round(view.left + view.width), 0.0, double(viewport.width)));
    const int top = int(std::clamp(std::round(view.top), 0.0, double(viewport.height)));
    const int bottom = int(std::clamp(std::round(view.top + view.height), 0.0, double(viewport.height)));
    const int split = std::clamp(int(view.split), left, right);
    glEnable(GL_SCISSOR_TEST);
    glBindVertexArray(vertexArray_);
    if (!exact.empty()) {
        drawExact(*shown_, exact, viewport, {left, top, right - left, bottom - top});
    } else if (shown_) {
        drawPicture(*shown_, view, viewport, {left, top, right - left, bottom - top});
    } else {
        drawPicture(before_, view, viewport, {left, top, split - left, bottom - top});
        drawPicture(after_.empty() ? before_ : after_, view, viewport, {split, top, right - split, bottom - top});
    }
    if (view.splitHandle) drawSplit(view, viewport, {left, top, right - left, bottom - top});
    glBindVertexArray(0);
    glUseProgram(0);
    glDisable(GL_SCISSOR_TEST);
}

}  // namespace matte
