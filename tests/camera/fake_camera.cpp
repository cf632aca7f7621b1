// SPDX-License-Identifier: Apache-2.0
#include "tests/camera/fake_camera.h"

#include <array>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <pipewire/pipewire.h>
#include <spa/buffer/meta.h>
#include <spa/param/buffers.h>
#include <spa/param/video/format-utils.h>
#include <opencv2/imgcodecs.hpp>

#include "inference/media/capture/pipewire/pipewire_format.h"
#include "inference/media/frame_convert.h"
#include "tests/support/files/h264_clip.h"
#include "tests/support/running/eventually.h"

namespace matte::test {

struct FakeCamera::State {
    explicit State(FakeCameraOptions what) : options(std::move(what)) {}
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() {
        if (loop) pw_thread_loop_stop(loop);
        if (stream) pw_stream_destroy(stream);
        if (core) pw_core_disconnect(core);
        if (timer) pw_loop_destroy_source(pw_thread_loop_get_loop(loop), timer);
        if (context) pw_context_destroy(context);
        if (loop) pw_thread_loop_destroy(loop);
    }

    FakeCameraOptions options;
    pw_thread_loop* loop = nullptr;
    pw_context* context = nullptr;
    pw_core* core = nullptr;
    pw_stream* stream = nullptr;
    spa_source* timer = nullptr;
    pw_stream_events events{};
    spa_hook listener{};
    std::optional<CaptureChoice> agreed;
    std::vector<std::uint8_t> picture;
    std::vector<std::vector<std::uint8_t>> clip;  // of H264
    std::atomic<int> sent{0};
    std::atomic<bool> silent{false}, damaged{false}, isPluggedIn{false};

    void onFormat(const spa_pod* format);
    void onState(pw_stream_state state);
    void fill();
    void drawPicture(int level);
};

namespace {

/// JPEG frames vary in size, and have room enough.
std::size_t roomFor(const CaptureChoice& choice) {
    return choice.encoding == Encoding::mjpg || choice.encoding == Encoding::h264
               ? choice.size.pixels()
               : rawBytes(choice.encoding, choice.size, packedRawStride(choice.encoding, choice.size.width));
}

/// A mode in one format that has others of the same encoding beside it.
const spa_pod* offerOnly(spa_pod_builder& builder, std::uint32_t format, Size size, double rate) {
    const spa_rectangle rectangle{std::uint32_t(size.width), std::uint32_t(size.height)};
    const spa_fraction fraction{std::uint32_t(rate), 1};
    return static_cast<const spa_pod*>(spa_pod_builder_add_object(
        &builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
        SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), SPA_FORMAT_VIDEO_format, SPA_POD_Id(format),
        SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&rectangle), SPA_FORMAT_VIDEO_framerate, SPA_POD_Fraction(&fraction)));
}

}  // namespace

void FakeCamera::State::onFormat(const spa_pod* format) {
    agreed = readChoice(format);
    if (!agreed) return;
    if (!options.refusal.empty()) {
        pw_stream_set_error(stream, -EBUSY, "%s", options.refusal.c_str());
        return;
    }
    const auto stride = packedRawStride(agreed->encoding, agreed->size.width);
    std::array<std::uint8_t, 1024> room;
    spa_pod_builder builder;
    spa_pod_builder_init(&builder, room.data(), room.size());
    std::array<const spa_pod*, 2> params{
        static_cast<const spa_pod*>(spa_pod_builder_add_object(
            &builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
            SPA_POD_CHOICE_RANGE_Int(4, 2, 8), SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(1), SPA_PARAM_BUFFERS_size,
            SPA_POD_Int(int(roomFor(*agreed))), SPA_PARAM_BUFFERS_stride, SPA_POD_Int(int(stride)),
            SPA_PARAM_BUFFERS_dataType, SPA_POD_CHOICE_FLAGS_Int(1 << SPA_DATA_MemFd))),
        askForHeader(builder)};
    pw_stream_update_params(stream, params.data(), params.size());
}

void FakeCamera::State::onState(pw_stream_state state) {
    if (state == PW_STREAM_STATE_PAUSED) isPluggedIn = true;
    timespec none{}, period{};
    if (state == PW_STREAM_STATE_STREAMING && agreed) {
        const double rate = agreed->rate > 0 ? agreed->rate : 30;
        period.tv_nsec = long(1e9 / rate);
        if (rate <= 1) period = {1, 0};
    }
    timespec first = period;
    pw_loop_update_timer(pw_thread_loop_get_loop(loop), timer, &first,
                         state == PW_STREAM_STATE_STREAMING ? &period : &none, false);
}

void FakeCamera::State::drawPicture(int level) {
    if (agreed->encoding == Encoding::mjpg) {
        cv::imencode(".jpg", cv::Mat(agreed->size.height, agreed->size.width, CV_8UC3, cv::Scalar::all(level)), picture,
                     {cv::IMWRITE_JPEG_QUALITY, 90});
        if (damaged) picture.resize(picture.size() / 2);
        return;
    }
    if (agreed->encoding == Encoding::h264) {
        picture = clip.empty() ? std::vector<std::uint8_t>{} : clip[std::size_t(sent) % clip.size()];
        return;
    }
    picture.assign(roomFor(*agreed), 128);
    const auto width = std::size_t(agreed->size.width), height = std::size_t(agreed->size.height);
    switch (agreed->encoding) {
        case Encoding::yuyv:
            for (std::size_t i = 0; i < picture.size(); i += 2) picture[i] = std::uint8_t(level);
            break;
        case Encoding::nv12:
        case Encoding::i420: std::memset(picture.data(), level, width * height); break;
        default: std::memset(picture.data(), level, picture.size());
    }
    if (damaged) picture.resize(picture.size() / 2);
}

void FakeCamera::State::fill() {
    pw_buffer* buffer = pw_stream_dequeue_buffer(stream);
    if (!buffer) return;
    spa_data& data = buffer->buffer->datas[0];
    if (!options.still || picture.empty()) drawPicture(20 + sent % 200);
    const std::size_t size = std::min<std::size_t>(picture.size(), data.maxsize);
    std::memcpy(data.data, picture.data(), size);
    data.chunk->offset = 0;
    data.chunk->size = std::uint32_t(size);
    data.chunk->flags = 0;
    const auto stride = packedRawStride(agreed->encoding, agreed->size.width);
    data.chunk->stride = stride == 0 ? 0 : std::int32_t(stride) + options.strideError;
    if (auto* header = static_cast<spa_meta_header*>(
            spa_buffer_find_meta_data(buffer->buffer, SPA_META_Header, sizeof(spa_meta_header)))) {
        header->flags = 0;
        header->seq = std::uint64_t(sent);
        header->pts = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
        header->dts_offset = 0;
    }
    ++sent;
    pw_stream_queue_buffer(stream, buffer);
}

FakeCamera::FakeCamera(FakeCameraOptions options) : state_(std::make_unique<State>(std::move(options))) {
    State& s = *state_;
    // Before anyone waits for it; of one size alone.
    for (const auto& mode : s.options.modes) {
        if (mode.encoding == Encoding::h264 && s.clip.empty()) s.clip = h264Clip(mode.size, 60);
    }
    pw_init(nullptr, nullptr);
    s.loop = pw_thread_loop_new("fake camera", nullptr);
    pw_loop* loop = pw_thread_loop_get_loop(s.loop);
    s.context = pw_context_new(loop, nullptr, 0);
    s.core = s.context ? pw_context_connect(s.context, nullptr, 0) : nullptr;
    if (!s.core) throw std::runtime_error("there is no PipeWire to plug a camera into");
    s.stream = pw_stream_new(
        s.core, s.options.name.c_str(),
        pw_properties_new(PW_KEY_MEDIA_CLASS, "Video/Source", PW_KEY_NODE_NAME, s.options.id.c_str(),
                          PW_KEY_NODE_DESCRIPTION, s.options.name.c_str(), PW_KEY_MEDIA_ROLE, "Camera", nullptr));
    s.events.version = PW_VERSION_STREAM_EVENTS;
    s.events.param_changed = [](void* data, std::uint32_t id, const spa_pod* format) {
        if (id == SPA_PARAM_Format && format) static_cast<State*>(data)->onFormat(format);
    };
    s.events.state_changed = [](void* data, pw_stream_state, pw_stream_state state, const char*) {
        static_cast<State*>(data)->onState(state);
    };
    s.events.process = [](void* data) { static_cast<State*>(data)->fill(); };
    pw_stream_add_listener(s.stream, &s.listener, &s.events, &s);
    s.timer = pw_loop_add_timer(
        loop,
        [](void* data, std::uint64_t) {
            auto* self = static_cast<State*>(data);
            if (!self->silent) pw_stream_trigger_process(self->stream);
        },
        &s);
    std::array<std::uint8_t, 16384> room;
    spa_pod_builder builder;
    spa_pod_builder_init(&builder, room.data(), room.size());
    std::vector<const spa_pod*> formats;
    for (const auto& mode : s.options.modes) {
        for (const double rate : mode.rates) {
            formats.push_back(s.options.onlyFormat == 0 ? offerMode(builder, {mode.encoding, mode.size, rate})
                                                        : offerOnly(builder, s.options.onlyFormat, mode.size, rate));
        }
    }
    pw_stream_connect(s.stream, PW_DIRECTION_OUTPUT, PW_ID_ANY,
                      pw_stream_flags(PW_STREAM_FLAG_DRIVER | PW_STREAM_FLAG_MAP_BUFFERS), formats.data(),
                      std::uint32_t(formats.size()));
    pw_thread_loop_start(s.loop);
    // Others can see it once it waits to be started.
    if (!eventually([&] { return s.isPluggedIn.load(); })) {
        throw std::runtime_error("PipeWire does not take the camera");
    }
}

FakeCamera::~FakeCamera() = default;

void FakeCamera::setSilent(bool silent) {
    state_->silent = silent;
}
void FakeCamera::setDamaged(bool damaged) {
    state_->damaged = damaged;
}
int FakeCamera::sent() const {
    return state_->sent;
}

}  // namespace matte::test
