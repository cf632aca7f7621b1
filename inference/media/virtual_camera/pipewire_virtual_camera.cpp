// SPDX-License-Identifier: Apache-2.0
#include "inference/media/virtual_camera/virtual_camera.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <pipewire/pipewire.h>
#include <spa/buffer/meta.h>
#include <spa/param/buffers.h>

#include "inference/core/error.h"
#include "inference/core/thread.h"
#include "inference/media/capture/pipewire/pipewire_connection.h"
#include "inference/media/capture/pipewire/pipewire_format.h"
#include "inference/media/frame_convert.h"
#include "inference/media/virtual_camera/camera_picture.h"

namespace matte {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kRate = 30;
constexpr std::chrono::seconds kPatience{3};
constexpr std::array<Size, 4> kSizes{Size{1280, 720}, {1920, 1080}, {640, 480}, {640, 360}};
constexpr std::array kEncodings{Encoding::yuyv, Encoding::nv12, Encoding::bgra};

class PipeWireVirtualCamera final : public VirtualCamera {
public:
    PipeWireVirtualCamera(const std::stop_token& stop, const std::string& id, const std::string& name) : name_(name) {
        {
            const auto alone = pipeWireAlone();
            loop_ = pw_thread_loop_new("virtual camera", nullptr);
            context_ = loop_ ? pw_context_new(pw_thread_loop_get_loop(loop_), nullptr, 0) : nullptr;
            core_ = context_ ? pw_context_connect(context_, nullptr, 0) : nullptr;
        }
        if (!core_) {
            close();
            throw Error(ErrorCategory::output,
                        "Other programs can't see Matte's camera, because PipeWire does not run: start it, or load the "
                        "kernel's v4l2loopback.");
        }
        listen();
        offer(id, name);
        pw_thread_loop_start(loop_);
        const auto until = Clock::now() + kPatience;
        while (!isThere_ && !isLost_ && !stop.stop_requested() && Clock::now() < until) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        if (isThere_) return;
        close();
        stopIfAsked(stop);
        throw Error(ErrorCategory::output, "PipeWire does not take Matte's camera: log in again.");
    }
    ~PipeWireVirtualCamera() override { close(); }

    void show(const ImageView& picture) override {
        if (isWatched_) draw(&picture);
    }
    void showNothing() override { draw(nullptr); }
    [[nodiscard]] bool isWatched() const override { return isWatched_; }
    [[nodiscard]] std::vector<std::string> names() const override { return {name_}; }
    [[nodiscard]] std::string problem() const override {
        return isLost_ ? "Matte's camera is gone because PipeWire ended: turn it on again." : "";
    }

private:
    void close() {
        if (loop_) pw_thread_loop_stop(loop_);
        if (stream_) pw_stream_destroy(stream_);
        if (core_) pw_core_disconnect(core_);
        if (timer_) pw_loop_destroy_source(pw_thread_loop_get_loop(loop_), timer_);
        if (context_) pw_context_destroy(context_);
        if (loop_) pw_thread_loop_destroy(loop_);
        stream_ = nullptr, core_ = nullptr, timer_ = nullptr, context_ = nullptr, loop_ = nullptr;
    }

    void listen() {
        coreEvents_.version = PW_VERSION_CORE_EVENTS;
        coreEvents_.error = [](void* data, std::uint32_t id, int, int result, const char*) {
            if (id != PW_ID_CORE || result != -EPIPE) return;
            calledBack<PipeWireVirtualCamera>(data, [](auto& self) { self.onLost(); });
        };
        pw_core_add_listener(core_, &coreListener_, &coreEvents_, this);
        events_.version = PW_VERSION_STREAM_EVENTS;
        events_.state_changed = [](void* data, pw_stream_state, pw_stream_state state, const char*) {
            calledBack<PipeWireVirtualCamera>(data, [&](auto& self) { self.onState(state); });
        };
        events_.param_changed = [](void* data, std::uint32_t param, const spa_pod* format) {
            if (param != SPA_PARAM_Format || !format) return;
            calledBack<PipeWireVirtualCamera>(data, [&](auto& self) { self.onFormat(format); });
        };
        events_.process = [](void* data) { calledBack<PipeWireVirtualCamera>(data, [](auto& self) { self.fill(); }); };
        timer_ = pw_loop_add_timer(
            pw_thread_loop_get_loop(loop_),
            [](void* data, std::uint64_t) {
                auto* self = static_cast<PipeWireVirtualCamera*>(data);
                if (self->isWatched_) pw_stream_trigger_process(self->stream_);
            },
            this);
    }

    void offer(const std::string& id, const std::string& name) {
        pw_properties* properties =
            pw_properties_new(PW_KEY_MEDIA_CLASS, "Video/Source", PW_KEY_MEDIA_ROLE, "Camera", PW_KEY_NODE_NAME,
                              id.c_str(), PW_KEY_NODE_DESCRIPTION, name.c_str(), nullptr);
        stream_ = pw_stream_new(core_, name.c_str(), properties);
        if (!stream_) return onLost();
        pw_stream_add_listener(stream_, &listener_, &events_, this);
        std::array<std::uint8_t, 8192> room;
        spa_pod_builder builder;
        spa_pod_builder_init(&builder, room.data(), room.size());
        std::vector<const spa_pod*> formats;
        for (const Encoding encoding : kEncodings) {
            for (const Size size : kSizes) formats.push_back(offerMode(builder, {encoding, size, kRate}));
        }
        const auto flags = pw_stream_flags(PW_STREAM_FLAG_DRIVER | PW_STREAM_FLAG_MAP_BUFFERS);
        if (pw_stream_connect(stream_, PW_DIRECTION_OUTPUT, PW_ID_ANY, flags, formats.data(),
                              std::uint32_t(formats.size())) < 0) {
            onLost();
        }
    }

    // Below: on the loop's thread, but for draw().

    void onLost() {
        isWatched_ = false;
        isLost_ = true;
    }

    void onState(pw_stream_state state) {
        isThere_ = isThere_ || state == PW_STREAM_STATE_PAUSED || state == PW_STREAM_STATE_STREAMING;
        if (state == PW_STREAM_STATE_ERROR || (isThere_ && state == PW_STREAM_STATE_UNCONNECTED)) return onLost();
        {
            const std::scoped_lock lock(mutex_);
            isWatched_ = state == PW_STREAM_STATE_STREAMING;
            // Whoever begins to watch, or goes on, is not to see what was shown before: black, until draw() is called.
            if (!isWatched_ && drawn_) frame_ = drawn_->drawBlack();
        }
        timespec period{0, isWatched_ ? long(1e9 / kRate) : 0};
        timespec first = period;
        pw_loop_update_timer(pw_thread_loop_get_loop(loop_), timer_, &first, &period, false);
    }

    void onFormat(const spa_pod* format) {
        const auto agreed = readChoice(format);
        if (!agreed || std::find(kEncodings.begin(), kEncodings.end(), agreed->encoding) == kEncodings.end()) {
            pw_stream_set_error(stream_, -EINVAL, "unknown format");
            return;
        }
        std::size_t bytes = 0;
        {
            const std::scoped_lock lock(mutex_);
            drawn_.emplace(agreed->encoding, agreed->size);
            frame_ = drawn_->drawBlack();
            bytes = frame_.size();
        }
        stride_ = std::int32_t(packedRawStride(agreed->encoding, agreed->size.width));
        std::array<std::uint8_t, 1024> room;
        spa_pod_builder builder;
        spa_pod_builder_init(&builder, room.data(), room.size());
        std::array<const spa_pod*, 2> params{
            static_cast<const spa_pod*>(spa_pod_builder_add_object(
                &builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
                SPA_POD_CHOICE_RANGE_Int(4, 2, 8), SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(1), SPA_PARAM_BUFFERS_size,
                SPA_POD_Int(int(bytes)), SPA_PARAM_BUFFERS_stride, SPA_POD_Int(stride_), SPA_PARAM_BUFFERS_dataType,
                SPA_POD_CHOICE_FLAGS_Int(1 << SPA_DATA_MemFd))),
            askForHeader(builder)};
        pw_stream_update_params(stream_, params.data(), params.size());
    }

    void fill() {
        pw_buffer* buffer = pw_stream_dequeue_buffer(stream_);
        if (!buffer) return;  // whoever watches has not given one back
        spa_data& data = buffer->buffer->datas[0];
        std::size_t size = 0;
        if (data.data) {
            const std::scoped_lock lock(mutex_);
            size = std::min<std::size_t>(frame_.size(), data.maxsize);
            std::memcpy(data.data, frame_.data(), size);
        }
        data.chunk->offset = 0;
        data.chunk->size = std::uint32_t(size);
        data.chunk->stride = stride_;
        data.chunk->flags = 0;
        if (auto* header = static_cast<spa_meta_header*>(
                spa_buffer_find_meta_data(buffer->buffer, SPA_META_Header, sizeof(spa_meta_header)))) {
            *header = {};
            header->seq = sent_++;
            header->pts = Clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
        }
        pw_stream_queue_buffer(stream_, buffer);
    }

    /// The picture into the frame that is sent from now on; null: black. Drawing it takes longer than fill() may wait.
    void draw(const ImageView* picture) {
        {
            const std::scoped_lock lock(mutex_);
            if (!drawn_ || !isWatched_) return;
            if (!drawing_ || !isAsAgreed(*drawing_)) drawing_.emplace(drawn_->encoding(), drawn_->size());
        }
        const auto& bytes = picture ? drawing_->draw(*picture) : drawing_->drawBlack();
        const std::scoped_lock lock(mutex_);
        // Otherwise somebody has begun to watch in another form meanwhile, or nobody watches any more.
        if (isWatched_ && isAsAgreed(*drawing_)) frame_ = bytes;
    }

    /// With the lock held.
    [[nodiscard]] bool isAsAgreed(const CameraPicture& picture) const {
        return picture.encoding() == drawn_->encoding() && picture.size() == drawn_->size();
    }

    const std::string name_;
    std::atomic<bool> isThere_ = false, isWatched_ = false, isLost_ = false;
    std::optional<CameraPicture> drawing_;  ///< of whoever shows
    std::mutex mutex_;                      ///< guards the next two, and is held while isWatched_ changes with them
    std::optional<CameraPicture> drawn_;    ///< of what was agreed on
    std::vector<std::uint8_t> frame_;
    std::int32_t stride_ = 0;
    std::uint64_t sent_ = 0;
    pw_thread_loop* loop_ = nullptr;
    pw_context* context_ = nullptr;
    pw_core* core_ = nullptr;
    pw_stream* stream_ = nullptr;
    spa_source* timer_ = nullptr;
    pw_core_events coreEvents_{};
    pw_stream_events events_{};
    spa_hook coreListener_{}, listener_{};
};

}  // namespace

std::unique_ptr<VirtualCamera> openPipeWireVirtualCamera(const std::stop_token& stop,
                                                         const std::string& id,
                                                         const std::string& name) {
    return std::make_unique<PipeWireVirtualCamera>(stop, id, name);
}

}  // namespace matte
