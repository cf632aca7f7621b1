// SPDX-License-Identifier: Apache-2.0
#include "interop/presenter.h"

#include <GL/glew.h>

#include <string>

#include "inference/error.h"
#include "shaders.inc"

namespace matte {
namespace {

constexpr int kBeforeUnit = 0, kAfterUnit = 1;

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

GLuint linkProgram() {
    const GLuint program = glCreateProgram();
    const GLuint vertex = attachShader(program, GL_VERTEX_SHADER, kQuadVert);
    const GLuint fragment = attachShader(program, GL_FRAGMENT_SHADER, kPresentFrag);
    glLinkProgram(program);
    GLint linked = 0;
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    if (!linked) {
        const std::string log = logOf(vertex, false) + logOf(fragment, false) + logOf(program, true);
        glDeleteProgram(program);
        throw Error(Area::engine, "The graphics driver refused the shaders, so update it. It said: " + log);
    }
    return program;
}

void makeSampler(GLuint sampler, GLint magnify) {
    glSamplerParameteri(sampler, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    glSamplerParameteri(sampler, GL_TEXTURE_MAG_FILTER, magnify);
    glSamplerParameteri(sampler, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glSamplerParameteri(sampler, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    // Trilinear filtering alone looks soft beside what photo viewers show.
    glSamplerParameterf(sampler, GL_TEXTURE_LOD_BIAS, -0.4F);
}

void setColor(int location, const Rgb* colors, int count) {
    float values[6];
    for (int i = 0; i < count; ++i) {
        values[3 * i] = float(colors[i].r) / 255;
        values[3 * i + 1] = float(colors[i].g) / 255;
        values[3 * i + 2] = float(colors[i].b) / 255;
    }
    glUniform3fv(location, count, values);
}

}  // namespace

Presenter::Presenter(const GlFacts& facts) : before_(facts), after_(facts), program_(linkProgram()) {
    const auto at = [this](const char* name) { return glGetUniformLocation(program_, name); };
    uniforms_ = {at("viewport"), at("origin"),   at("extent"),  at("split"),  at("handle"),
                 at("ratio"),    at("surround"), at("checker"), at("before"), at("after")};
    glGenVertexArrays(1, &vertexArray_);
    glGenSamplers(int(samplers_.size()), samplers_.data());
    makeSampler(samplers_[0], GL_LINEAR);
    makeSampler(samplers_[1], GL_NEAREST);
}

Presenter::~Presenter() {
    glDeleteSamplers(int(samplers_.size()), samplers_.data());
    glDeleteVertexArrays(1, &vertexArray_);
    glDeleteProgram(program_);
}

void Presenter::clear() {
    before_.release();
    after_.release();
}

void Presenter::draw(const View& view, Size viewport) {
    glViewport(0, 0, viewport.width, viewport.height);
    glDisable(GL_BLEND);
    glDisable(GL_DEPTH_TEST);
    glDisable(GL_SCISSOR_TEST);
    glUseProgram(program_);
    glUniform2f(uniforms_.viewport, float(viewport.width), float(viewport.height));
    glUniform2f(uniforms_.origin, float(view.left), float(view.top));
    const bool shown = !before_.empty();
    glUniform2f(uniforms_.extent, shown ? float(view.width) : 0, shown ? float(view.height) : 0);
    glUniform1f(uniforms_.split, float(view.split));
    glUniform1i(uniforms_.handle, view.splitHandle);
    glUniform1f(uniforms_.ratio, float(view.pixelRatio));
    setColor(uniforms_.surround, &view.surround, 1);
    setColor(uniforms_.checker, view.checker, 2);
    glUniform1i(uniforms_.before, kBeforeUnit);
    glUniform1i(uniforms_.after, kAfterUnit);
    before_.bind(kBeforeUnit);
    (after_.empty() ? before_ : after_).bind(kAfterUnit);
    for (const int unit : {kBeforeUnit, kAfterUnit}) glBindSampler(unsigned(unit), samplers_[view.sharpPixels]);
    glBindVertexArray(vertexArray_);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glBindVertexArray(0);
    for (const int unit : {kAfterUnit, kBeforeUnit}) {
        glBindSampler(unsigned(unit), 0);
        glActiveTexture(GLenum(GL_TEXTURE0 + unit));
        glBindTexture(GL_TEXTURE_2D, 0);
    }
    glUseProgram(0);
}

}  // namespace matte
