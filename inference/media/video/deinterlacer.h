// SPDX-License-Identifier: Apache-2.0
// Deinterlacer: whole pictures from interlaced ones, whose even and odd rows were filmed one after the other, as
// camcorders and television do; without it, moving edges look like combs. Each picture gives one, at its own time, by
// FFmpeg's bwdif (Weston's 3-field filter, BBC R&D, with yadif's checks), which is one picture late. Progressive
// pictures pass unchanged. One thread at a time.
#pragma once

#include <memory>

#include "inference/media/video/ffmpeg.h"

extern "C" {
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
}

namespace matte {

class Deinterlacer {
public:
    static bool isNeededFor(const AVFrame& frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
        return (frame.flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
        return frame.interlaced_frame != 0;
#endif
    }

    /// For pictures like this one. Null where this FFmpeg has no such filter.
    static std::unique_ptr<Deinterlacer> make(const AVFrame& like, AVRational timeBase) {
        auto made = std::make_unique<Deinterlacer>();
        return made->build(like, timeBase) ? std::move(made) : nullptr;
    }

    /// Takes the next picture, which is empty afterwards; null: there are no more.
    void push(AVFrame* frame) {
        if (frame) frame->pts = frame->best_effort_timestamp;  // which the filter leaves alone
        if (av_buffersrc_add_frame(source_, frame) < 0 && frame) av_frame_unref(frame);
    }
    /// Gives the next picture that is ready; false when another must be pushed first.
    bool pull(AVFrame* frame) {
        return av_buffersink_get_frame(sink_, frame) >= 0;
    }

private:
    struct FreePlain {
        void operator()(void* memory) const { av_free(memory); }
    };

    bool add(AVFilterContext*& made, const char* filter) {
        const AVFilter* found = avfilter_get_by_name(filter);
        made = found ? avfilter_graph_alloc_filter(graph_.get(), found, filter) : nullptr;
        return made != nullptr;
    }

    bool build(const AVFrame& like, AVRational timeBase) {
        AVFilterContext* filter = nullptr;
        if (!graph_ || !add(source_, "buffer") || !add(filter, "bwdif") || !add(sink_, "buffersink")) return false;
        const std::unique_ptr<AVBufferSrcParameters, FreePlain> form{av_buffersrc_parameters_alloc()};
        if (!form) return false;
        form->format = like.format;
        form->width = like.width;
        form->height = like.height;
        form->time_base = timeBase;
        return av_buffersrc_parameters_set(source_, form.get()) >= 0 && avfilter_init_str(source_, nullptr) >= 0 &&
               avfilter_init_str(filter, "mode=send_frame:deint=interlaced") >= 0 &&
               avfilter_init_str(sink_, nullptr) >= 0 && avfilter_link(source_, 0, filter, 0) >= 0 &&
               avfilter_link(filter, 0, sink_, 0) >= 0 && avfilter_graph_config(graph_.get(), nullptr) >= 0;
    }

    std::unique_ptr<AVFilterGraph, ffmpeg::Release<avfilter_graph_free>> graph_{avfilter_graph_alloc()};
    AVFilterContext *source_ = nullptr, *sink_ = nullptr;
};

}  // namespace matte
