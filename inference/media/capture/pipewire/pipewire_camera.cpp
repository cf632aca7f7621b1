// SPDX-License-Identifier: Apache-2.0
#include "inference/media/capture/pipewire/pipewire_connection.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <span>
#include <thread>
#include <utility>

#include <spa/buffer/meta.h>
#include <spa/param/format-utils.h>
#include <spa/utils/result.h>

#include "inference/core/error.h"
#include "inference/core/thread.h"
#include "inference/media/capture/camera_reader.h"
#include "inference/media/capture/pipewire/pipewire_format.h"
#include "inference/media/frame_convert.h"

namespace matte {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kListTime{2000}, kStartTime{5000};

/// Unlocks PipeWire's loop at the end of the scope.
class LoopLock {
public:
    explicit LoopLock(pw_thread_loop* loop) : loop_(loop) { pw_thread_loop_lock(loop_); }
    ~LoopLock() { pw_thread_loop_unlock(loop_); }
    LoopLock(const LoopLock&) = delete;
    LoopLock& operator=(const LoopLock&) = delete;

private:
    pw_thread_loop* loop_;
};

class PipeWireCamera : public FrameSource {
public:
    /// Without a stream yet: `open` makes it.
    PipeWireCamera() : connection_([this] { onCamerasChanged(); }, false) {}
    ~PipeWireCamera() override {
        if (!stream_) return;
        // A loop that copies pictures without a pause gives its lock to nobody else.
        isClosing_ = true;
        const LoopLock lock(connection_.loop());
        pw_stream_destroy(stream_);
    }

    /// False when there is no daemon or no camera at all. Throws Cancelled.
    bool open(const std::string& name, const CaptureSettings& settings, const std::stop_token& stop) {
        if (!connection_.waitUntilKnown(kListTime, stop)) return false;
        auto cameras = connection_.cameras();
        if (cameras.empty()) return false;
        const CameraInfo* camera = findCamera(cameras, name);
        // One that was plugged in this moment has not said yet what it can do.
        for (const auto until = Clock::now() + kListTime; camera && camera->modes.empty() && Clock::now() < until;) {
            stopIfAsked(stop);
            std::this_thread::sleep_for(milliseconds(10));
            cameras = connection_.cameras();
            camera = findCamera(cameras, name);
        }
        if (!camera) refuseMissingCamera(name);
        const CaptureChoice choice = chosenMode(*camera, settings);
        reader_.emplace(camera->name, choice, settings.memory);
        {
            const std::lock_guard lock(serialMutex_);
            serial_ = connection_.serialOf(camera->id);
            if (serial_.empty()) refuseMissingCamera(camera->name);  // unplugged just now
            oldFault_ = connection_.faultOf(serial_);
        }
        start(choice);
        reader_->waitUntilReady(kStartTime, stop);
        return true;
    }

    std::optional<Frame> read(std::stop_token stop) override { return reader_->read(stop); }
    [[nodiscard]] SourceInfo info() const override { return reader_->info(); }

private:
    void start(const CaptureChoice& choice) {
        const LoopLock lock(connection_.loop());
        events_.version = PW_VERSION_STREAM_EVENTS;
        events_.state_changed = [](void* data, pw_stream_state /*old*/, pw_stream_state state, const char* error) {
            calledBack<PipeWireCamera>(data, [&](auto& self) { self.onState(state, error ? error : ""); });
        };
        events_.param_changed = [](void* data, std::uint32_t id, const spa_pod* format) {
            if (id != SPA_PARAM_Format || !format) return;
            calledBack<PipeWireCamera>(data, [&](auto& self) { self.onFormat(format); });
        };
        events_.process = [](void* data) { calledBack<PipeWireCamera>(data, [](auto& self) { self.onBuffers(); }); };
        // Never another camera than the one that was asked for: not when it goes, and not when it isn't there.
        pw_properties* properties = pw_properties_new(
            PW_KEY_MEDIA_TYPE, "Video", PW_KEY_MEDIA_CATEGORY, "Capture", PW_KEY_MEDIA_ROLE, "Camera", PW_KEY_APP_NAME,
            "Matte", PW_KEY_NODE_NAME, "matte", PW_KEY_TARGET_OBJECT, serial_.c_str(), PW_KEY_NODE_DONT_RECONNECT,
            "true", "node.dont-fallback", "true", nullptr);
        stream_ = connection_.core() ? pw_stream_new(connection_.core(), "Matte", properties) : nullptr;
        if (!stream_) throw Error(ErrorCategory::source, "PipeWire has ended: wait until it is back, or log in again.");
        pw_stream_add_listener(stream_, &listener_, &events_, this);
        std::array<std::uint8_t, 4096> room;
        spa_pod_builder builder;
        spa_pod_builder_init(&builder, room.data(), room.size());
        // Another program may have set the camera already: then what it has set is better than nothing.
        std::array<const spa_pod*, 3> formats{offerMode(builder, choice), offerAnyRaw(builder), offerAnyJpeg(builder)};
        const int result = pw_stream_connect(
            stream_, PW_DIRECTION_INPUT, PW_ID_ANY,
            pw_stream_flags(PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_MAP_BUFFERS | PW_STREAM_FLAG_DONT_RECONNECT),
            formats.data(), formats.size());
        if (result < 0) reader_->lose(sentenceFor(reader_->info().name, spa_strerror(result)));
    }

    // Below: on the loop's thread.

    void onCamerasChanged() {
        const std::lock_guard lock(serialMutex_);
        if (serial_.empty()) return;  // not open yet
        if (!connection_.isConnected()) {
            reader_->lose("The camera " + reader_->info().name +
                          " was lost because PipeWire ended: wait until it is back, or log in again.");
        } else if (!connection_.hasSerial(serial_)) {
            reader_->lose("The camera " + reader_->info().name + " was unplugged: plug it in again.");
        } else if (const auto fault = connection_.faultOf(serial_); !fault.empty() && fault != oldFault_) {
            reader_->lose(sentenceFor(reader_->info().name, fault));
        }
    }

    void onState(pw_stream_state state, const std::string& error) {
        if (state == PW_STREAM_STATE_ERROR) reader_->lose(sentenceFor(reader_->info().name, error));
        if (state == PW_STREAM_STATE_UNCONNECTED) {
            reader_->lose("The camera " + reader_->info().name + " was taken away: choose it again.");
        }
    }

    void onFormat(const spa_pod* format) {
        agreed_ = readChoice(format);
        try {
            if (!agreed_) reader_->refuseFormat();
            reader_->setFormat(*agreed_);
        } catch (const Error& error) {
            agreed_.reset();
            reader_->lose(error.what());
            pw_stream_set_error(stream_, -EINVAL, "unknown format");
            return;
        }
        std::array<std::uint8_t, 1024> room;
        spa_pod_builder builder;
        spa_pod_builder_init(&builder, room.data(), room.size());
        std::array<const spa_pod*, 2> params{askForBuffers(builder), askForHeader(builder)};
        pw_stream_update_params(stream_, params.data(), params.size());
    }

    void onBuffers() {
        // Of several that wait, only the newest is worth copying.
        pw_buffer* newest = nullptr;
        while (pw_buffer* buffer = pw_stream_dequeue_buffer(stream_)) {
            if (newest) {
                reader_->skip();
                pw_stream_queue_buffer(stream_, newest);
            }
            newest = buffer;
        }
        if (!newest) return;
        if (agreed_ && !isClosing_) deliver(*newest->buffer);
        pw_stream_queue_buffer(stream_, newest);
    }

    void deliver(const spa_buffer& buffer) {
        const auto* header = static_cast<const spa_meta_header*>(
            spa_buffer_find_meta_data(&buffer, SPA_META_Header, sizeof(spa_meta_header)));
        const bool damaged = header && (header->flags & SPA_META_HEADER_FLAG_CORRUPTED) != 0;
        if (buffer.n_datas != 1 || !buffer.datas[0].data || !buffer.datas[0].chunk || damaged) {
            return reader_->skipDamaged();
        }
        const spa_data& data = buffer.datas[0];
        // The camera's program writes these while we read: each is read once and then checked.
        const std::uint32_t offset = data.chunk->offset, said = data.chunk->size;
        const std::int32_t stride = data.chunk->stride;
        if (offset > data.maxsize || (data.chunk->flags & SPA_CHUNK_FLAG_CORRUPTED) != 0) {
            return reader_->skipDamaged();
        }
        const std::size_t size = std::min<std::size_t>(said, data.maxsize - offset);
        const std::span bytes(static_cast<const std::uint8_t*>(data.data) + offset, size);
        reader_->deliver(bytes, stride, capturedAt(header));
    }

    static Clock::time_point capturedAt(const spa_meta_header* header) {
        if (!header || header->pts <= 0) return Clock::now();
        return CameraReader::plausible(Clock::time_point{std::chrono::nanoseconds(header->pts)});
    }

    std::optional<CameraReader> reader_;
    std::mutex serialMutex_;  // guards the next two: opening against the loop's thread
    std::string serial_;      // of the camera as it is plugged in now
    std::string oldFault_;    // one from before says nothing about this attempt
    PipeWireConnection connection_;
    std::atomic<bool> isClosing_{false};
    pw_stream* stream_ = nullptr;
    pw_stream_events events_{};
    spa_hook listener_{};
    std::optional<CaptureChoice> agreed_;
};

}  // namespace

std::string sentenceFor(const std::string& camera, const std::string& reason) {
    const auto says = [&](const char* words) { return reason.find(words) != std::string::npos; };
    if (says("busy")) {
        return "The camera " + camera + " is used by another program: close it there and try again.";
    }
    if (says("ermission") || says("not permitted") || says("access")) {
        return "The camera " + camera + " may not be used: allow it in the system's privacy settings.";
    }
    if (says("format")) {
        return "The camera " + camera +
               " can't send the size and format asked for: choose others, or close the other "
               "program that uses it.";
    }
    return "The camera " + camera + " can't be started" + (reason.empty() ? "" : " (" + reason + ")") +
           ": unplug it and plug it in again.";
}

std::unique_ptr<FrameSource> openPipeWireCamera(const std::string& name,
                                                const CaptureSettings& settings,
                                                const std::stop_token& stop) {
    auto camera = std::make_unique<PipeWireCamera>();
    if (!camera->open(name, settings, stop)) return nullptr;
    return camera;
}

}  // namespace matte
