// SPDX-License-Identifier: Apache-2.0
#include "tests/support/running/faulty_ffmpeg.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include <dlfcn.h>

#include "inference/media/video/ffmpeg.h"

namespace matte::test {
namespace {

using Read = int (*)(void*, std::uint8_t*, int);

struct State {
    FfmpegFault fault;
    int opened = 0, reads = 0;
    void* file = nullptr;  ///< FFmpeg's own, whose reads are watched
    Read read = nullptr;
};
std::optional<State> state;

int readOrFail(void* file, std::uint8_t* to, int size) {
    if (!state || file != state->file) return -1;
    const int number = ++state->reads, first = state->fault.read;
    if (number == first || (number > first && !state->fault.onlyOnce)) return AVERROR(EIO);
    return state->read(file, to, std::min(size, 512));
}

template <typename F>
F real(const char* name) {
    return reinterpret_cast<F>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

FaultyFfmpeg::FaultyFfmpeg(FfmpegFault fault) {
    state.emplace().fault = std::move(fault);
}
FaultyFfmpeg::~FaultyFfmpeg() {
    state.reset();
}
int FaultyFfmpeg::reads() {
    return state ? state->reads : 0;
}

}  // namespace matte::test

// These stand before FFmpeg's own for all that is linked into the tests.
extern "C" int avformat_open_input(AVFormatContext** format,
                                   const char* url,
                                   const AVInputFormat* form,
                                   AVDictionary** options) {
    using namespace matte::test;
    static const auto real = matte::test::real<decltype(&avformat_open_input)>("avformat_open_input");
    const int result = real(format, url, form, options);
    if (result < 0 || !state || ++state->opened != state->fault.file || !(*format)->pb) return result;
    state->file = (*format)->pb->opaque;
    state->read = (*format)->pb->read_packet;
    (*format)->pb->read_packet = readOrFail;
    return result;
}

extern "C" int avcodec_open2(AVCodecContext* context, const AVCodec* codec, AVDictionary** options) {
    using namespace matte::test;
    static const auto real = matte::test::real<decltype(&avcodec_open2)>("avcodec_open2");
    if (state && codec && state->fault.encoder == codec->name) return AVERROR_EXTERNAL;
    return real(context, codec, options);
}
