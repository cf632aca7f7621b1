// SPDX-License-Identifier: Apache-2.0
#include "inference/media/video/deinterlacer.h"

extern "C" {
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
}

namespace matte {

struct Deinterlacer::State {
    std::unique_ptr<AVFilterGraph, ffmpeg::Release<avfilter_graph_free>> graph{avfilter_graph_alloc()};
    AVFilterContext *source = nullptr, *sink = nullptr;

    bool add(AVFilterContext*& made, const char* filter) {
        const AVFilter* found = avfilter_get_by_name(filter);
        made = found ? avfilter_graph_alloc_filter(graph.get(), found, filter) : nullptr;
        return made != nullptr;
    }
    bool build(const AVFrame& like, AVRational timeBase) {
        AVFilterContext* filter = nullptr;
        if (!graph || !add(source, "buffer") || !add(filter, "bwdif") || !add(sink, "buffersink")) return false;
        const std::unique_ptr<AVBufferSrcParameters, FreePlain> form{av_buffersrc_parameters_alloc()};
        if (!form) return false;
        form->format = like.format;
        form->width = like.width;
        form->height = like.height;
        form->time_base = timeBase;
        return av_buffersrc_parameters_set(source, form.get()) >= 0 && avfilter_init_str(source, nullptr) >= 0 &&
               avfilter_init_str(filter, "mode=send_frame:deint=interlaced") >= 0 &&
               avfilter_init_str(sink, nullptr) >= 0 && avfilter_link(source, 0, filter, 0) >= 0 &&
               avfilter_link(filter, 0, sink, 0) >= 0 && avfilter_graph_config(graph.get(), nullptr) >= 0;
    }
    struct FreePlain {
        void operator()(void* memory) const { av_free(memory); }
    };
};

Deinterlacer::Deinterlacer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Deinterlacer::~Deinterlacer() = default;

bool Deinterlacer::isNeededFor(const AVFrame& frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
    return (frame.flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
    return frame.interlaced_frame != 0;
#endif
}

std::unique_ptr<Deinterlacer> Deinterlacer::make(const AVFrame& like, AVRational timeBase) {
    auto state = std::make_unique<State>();
    if (!state->build(like, timeBase)) return nullptr;
    return std::unique_ptr<Deinterlacer>(new Deinterlacer(std::move(state)));
}

void Deinterlacer::push(AVFrame* frame) {
    if (frame) frame->pts = frame->best_effort_timestamp;  // which the filter leaves alone
    if (av_buffersrc_add_frame(state_->source, frame) < 0 && frame) av_frame_unref(frame);
}

bool Deinterlacer::pull(AVFrame* frame) {
    return av_buffersink_get_frame(state_->sink, frame) >= 0;
}

}  // namespace matte
