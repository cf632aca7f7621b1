// SPDX-License-Identifier: Apache-2.0
#include "inference/media/video/h264_decoder.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <utility>
#include <vector>

#include "inference/core/error.h"
#include "inference/core/frame_pool.h"
#include "inference/core/thread.h"
#include "inference/media/video/ffmpeg.h"
#include "inference/media/video/video_converter.h"

namespace matte {
namespace {

constexpr std::size_t kFrames = 8;
/// About a second: more than a decoder that keeps up ever needs.
constexpr std::size_t kMostUnits = 30;
/// How many units FFmpeg may hold before it gives out a frame of theirs; H264 allows 16.
constexpr std::size_t kMostHeld = 32;
/// Units in a row of which no frame comes before it is given up.
constexpr int kMostFailures = 300;

struct Unit {
    std::vector<std::uint8_t> bytes;
    std::uint64_t number = 0;
    H264Decoder::Time captured;
};

struct Contents {
    bool parameters = false, keyFrame = false;
};

/// What a unit has in it, by the types that follow its start codes.
Contents contentsOf(std::span<const std::uint8_t> unit) {
    constexpr int kKeyFrame = 5, kParameters = 7;
    Contents contents;
    for (std::size_t i = 0; i + 3 < unit.size(); ++i) {
        if (unit[i] != 0 || unit[i + 1] != 0 || unit[i + 2] != 1) continue;
        const int type = unit[i + 3] & 0x1f;
        contents.parameters |= type == kParameters;
        contents.keyFrame |= type == kKeyFrame;
    }
    return contents;
}

/// Threads share each picture: if each had its own, every frame would come some frames late.
ffmpeg::Codec openDecoder() {
    av_log_set_level(AV_LOG_QUIET);
    const AVCodec* decoder = avcodec_find_decoder(AV_CODEC_ID_H264);
    ffmpeg::Codec codec(decoder ? avcodec_alloc_context3(decoder) : nullptr);
    if (!codec) return nullptr;
    codec->thread_count = 0;
    codec->thread_type = FF_THREAD_SLICE;
    codec->max_pixels = std::int64_t(Image::kMaxPixels);
    return avcodec_open2(codec.get(), decoder, nullptr) == 0 ? std::move(codec) : nullptr;
}

}  // namespace

struct H264Decoder::Work {
    Work(PixelMemory memory, std::function<void(Frame)> deliverFrame, std::function<void()> tellFailure)
        : deliver(std::move(deliverFrame)), fail(std::move(tellFailure)), pool(kFrames, memory) {}

    void put(std::span<const std::uint8_t> unit, std::uint64_t number, Time captured);
    void run(const std::stop_token& stop);
    bool next(Unit& unit, const std::stop_token& stop);
    bool decode(const Unit& unit);
    void giveOut();

    std::mutex mutex;  // guards the next three
    std::deque<Unit> units;
    std::vector<std::vector<std::uint8_t>> spare;  // their memory, to be used again
    bool needsKey = true;
    std::condition_variable_any changed;

    // The decoding thread's:
    const std::function<void(Frame)> deliver;
    const std::function<void()> fail;
    FramePool pool;
    ffmpeg::Codec codec = openDecoder();
    ffmpeg::Packet packet{av_packet_alloc()};
    ffmpeg::Frame frame{av_frame_alloc()};
    std::optional<VideoConverter> converter;
    std::array<Unit, kMostHeld> held;  // without bytes, each at the place that its packet's time says
    std::int64_t sent = 0;
};

H264Decoder::H264Decoder(PixelMemory memory, std::function<void(Frame)> deliver, std::function<void()> fail)
    : work_(std::make_unique<Work>(memory, std::move(deliver), std::move(fail))) {
    if (!work_->codec || !work_->packet || !work_->frame) {
        throw Error(ErrorCategory::source, "H264 can't be decoded here: choose another format of the camera.");
    }
    thread_ = startThread(
        "decoding H264", ErrorCategory::source, [work = work_.get()](const std::stop_token& stop) { work->run(stop); },
        [work = work_.get()](const char*, ErrorCategory) { work->fail(); });
}

H264Decoder::~H264Decoder() = default;

void H264Decoder::put(std::span<const std::uint8_t> unit, std::uint64_t number, Time captured) {
    work_->put(unit, number, captured);
}

void H264Decoder::Work::put(std::span<const std::uint8_t> unit, std::uint64_t number, Time captured) {
    const Contents contents = contentsOf(unit);
    {
        const std::lock_guard lock(mutex);
        if (units.size() == kMostUnits) {
            units.clear();
            needsKey = true;
        }
        // The parameters may come as a unit of their own before the key frame.
        if (needsKey && !contents.keyFrame && !contents.parameters) return;
        needsKey = needsKey && !contents.keyFrame;
        Unit& waiting = units.emplace_back();
        if (!spare.empty()) {
            waiting.bytes = std::move(spare.back());
            spare.pop_back();
        }
        waiting.bytes.assign(unit.begin(), unit.end());
        waiting.bytes.resize(unit.size() + AV_INPUT_BUFFER_PADDING_SIZE);  // FFmpeg reads beyond the end
        waiting.number = number;
        waiting.captured = captured;
    }
    changed.notify_all();
}

// --- The decoding thread ---

void H264Decoder::Work::run(const std::stop_token& stop) {
    Unit unit;
    for (int failures = 0; next(unit, stop);) {
        failures = decode(unit) ? 0 : failures + 1;
        if (failures == kMostFailures) return fail();
    }
}

/// Gives the memory of the one before back; false at the end.
bool H264Decoder::Work::next(Unit& unit, const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    if (unit.bytes.capacity() > 0) spare.push_back(std::move(unit.bytes));
    if (!changed.wait(lock, stop, [this] { return !units.empty(); }) || stop.stop_requested()) return false;
    unit = std::move(units.front());
    units.pop_front();
    return true;
}

/// Whether a frame came of it, be it that of an earlier unit.
bool H264Decoder::Work::decode(const Unit& unit) {
    packet->data = const_cast<std::uint8_t*>(unit.bytes.data());
    packet->size = int(unit.bytes.size()) - AV_INPUT_BUFFER_PADDING_SIZE;
    packet->pts = packet->dts = sent;
    held[std::size_t(sent++) % kMostHeld] = {{}, unit.number, unit.captured};
    avcodec_send_packet(codec.get(), packet.get());  // an error is this unit's alone
    bool isGood = false;
    while (avcodec_receive_frame(codec.get(), frame.get()) == 0) {
        isGood = true;
        giveOut();
    }
    return isGood;
}

void H264Decoder::Work::giveOut() {
    if (frame->pts < std::max<std::int64_t>(sent - std::int64_t(kMostHeld), 0) || frame->pts >= sent) return;
    const Unit& unit = held[std::size_t(frame->pts) % kMostHeld];
    const Size size{frame->width, frame->height};
    if (!converter || converter->coded() != size) converter.emplace(size, 1, Turn{});
    auto image = pool.take(size, PixelFormat::bgr8);
    if (image && converter->convert(*frame, *image)) deliver({std::move(image), unit.number, unit.captured});
}

}  // namespace matte
