// SPDX-License-Identifier: Apache-2.0
#include "inference/media/capture/media_foundation/media_foundation_device.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include <mferror.h>
#include <mfreadwrite.h>

#include "inference/core/error.h"
#include "inference/media/capture/camera_reader.h"
#include "inference/media/frame_convert.h"
#include "inference/media/frame_source.h"

namespace matte {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kStartTime{5000}, kCloseTime{2000};

/// Throws what is told of a camera that answers so.
void check(const std::string& camera, HRESULT answer) {
    if (FAILED(answer)) throw Error(ErrorCategory::source, mediaFoundationSentence(camera, std::uint32_t(answer)));
}

/// The memory of one picture, locked while it is read.
class LockedPicture {
public:
    /// `strideBytes` is taken for memory that does not say its own; 0 for a picture without rows.
    LockedPicture(ComPtr<IMFMediaBuffer> buffer, std::ptrdiff_t strideBytes, int rows)
        : buffer_(std::move(buffer)), strideBytes_(strideBytes) {
        BYTE *start = nullptr, *top = nullptr;
        DWORD length = 0;
        LONG pitch = 0;
        if (strideBytes != 0 && SUCCEEDED(buffer_.As(&plane_)) &&
            SUCCEEDED(plane_->Lock2DSize(MF2DBuffer_LockFlags_Read, &top, &pitch, &start, &length))) {
            strideBytes_ = pitch;
            // The rows that come first in memory, whichever they are, and all that lies behind them.
            BYTE* first = pitch < 0 ? top + (rows - 1) * std::ptrdiff_t(pitch) : top;
            if (first >= start && first <= start + length) bytes_ = {first, start + length};
            return;
        }
        plane_.Reset();
        isLocked_ = SUCCEEDED(buffer_->Lock(&start, nullptr, &length));
        if (isLocked_) bytes_ = {start, length};
    }
    ~LockedPicture() {
        if (plane_) plane_->Unlock2D();
        if (isLocked_) buffer_->Unlock();
    }
    LockedPicture(const LockedPicture&) = delete;
    LockedPicture& operator=(const LockedPicture&) = delete;

    /// Empty for memory that can't be had.
    [[nodiscard]] std::span<const std::uint8_t> bytes() const { return bytes_; }
    /// Negative when the lowest row comes first.
    [[nodiscard]] std::ptrdiff_t strideBytes() const { return strideBytes_; }

private:
    ComPtr<IMFMediaBuffer> buffer_;
    ComPtr<IMF2DBuffer2> plane_;  // null for memory without rows of its own
    bool isLocked_ = false;
    std::ptrdiff_t strideBytes_;
    std::span<const std::uint8_t> bytes_;
};

/// What Media Foundation calls with each picture, on threads of its own, one at a time. It may outlive the camera.
class Arrivals final : public Counted<IMFSourceReaderCallback> {
public:
    using Take = std::function<void(HRESULT status, DWORD flags, IMFSample* sample)>;

    /// After this, `take` is called until close().
    void open(Take take) {
        const std::lock_guard lock(mutex_);
        take_ = std::move(take);
    }
    /// Waits for a call that is under way.
    void close() { open(nullptr); }

    STDMETHODIMP OnReadSample(HRESULT status, DWORD, DWORD flags, LONGLONG, IMFSample* sample) override {
        const std::lock_guard lock(mutex_);
        if (take_) take_(status, flags, sample);
        return S_OK;
    }
    STDMETHODIMP OnFlush(DWORD) override { return S_OK; }
    STDMETHODIMP OnEvent(DWORD, IMFMediaEvent*) override { return S_OK; }

private:
    std::mutex mutex_;  // guards take_, and is held while it runs
    Take take_;
};

/// Made, read and destroyed by one thread, which has a MediaFoundation.
class MediaFoundationCamera : public FrameSource {
public:
    MediaFoundationCamera(const ComPtr<IMFActivate>& camera,
                          const std::string& name,
                          const CaptureSettings& settings,
                          const std::stop_token& stop)
        : name_(name), camera_(camera) {
        check(name_, camera_.fault());
        const auto choice = chooseMode(modesOf(camera_.formats()), settings);
        const auto format = choice ? formatFor(camera_.formats(), *choice) : std::nullopt;
        if (!format) {
            throw Error(ErrorCategory::source,
                        "The camera " + name_ + " sends no format that can be read: choose another camera.");
        }
        reader_.emplace(name_, *choice, settings.memory);
        makeReader(choice->encoding == Encoding::h264);
        setType(*camera_.types()[*format].Get(), choice->encoding == Encoding::h264);
        readAgreed();
        arrivals_->open([this](HRESULT status, DWORD flags, IMFSample* sample) { take(status, flags, sample); });
        try {
            check(name_, askForPicture());
            reader_->waitUntilReady(kStartTime, stop);
        } catch (...) {
            arrivals_->close();
            throw;
        }
    }
    ~MediaFoundationCamera() override { arrivals_->close(); }
    MediaFoundationCamera(const MediaFoundationCamera&) = delete;
    MediaFoundationCamera& operator=(const MediaFoundationCamera&) = delete;

    std::optional<Frame> read(std::stop_token stop) override { return reader_->read(stop); }
    [[nodiscard]] SourceInfo info() const override { return reader_->info(); }

private:
    void makeReader(bool decodes) {
        arrivals_.Attach(new Arrivals);
        ComPtr<IMFAttributes> wishes;
        check(name_, ::MFCreateAttributes(&wishes, 4));
        wishes->SetUnknown(MF_SOURCE_READER_ASYNC_CALLBACK, arrivals_.Get());
        // Pictures as the camera sends them: what Windows would make of them is made here, or on the GPU.
        wishes->SetUINT32(MF_READWRITE_DISABLE_CONVERTERS, BOOL(!decodes));
        wishes->SetUINT32(MF_SOURCE_READER_ENABLE_ADVANCED_VIDEO_PROCESSING, BOOL(decodes));
        wishes->SetUINT32(MF_LOW_LATENCY, TRUE);
        check(name_, ::MFCreateSourceReaderFromMediaSource(camera_.source(), wishes.Get(), &pictures_));
        check(name_, pictures_->SetStreamSelection(DWORD(MF_SOURCE_READER_ALL_STREAMS), FALSE));
        check(name_, pictures_->SetStreamSelection(camera_.stream(), TRUE));
    }

    void setType(IMFMediaType& sent, bool decodes) {
        ComPtr<IMFMediaType> wanted(&sent);
        if (decodes) {
            ComPtr<IMFSourceReaderEx> extended;
            check(name_, pictures_.As(&extended));
            DWORD changes = 0;
            check(name_, extended->SetNativeMediaType(camera_.stream(), &sent, &changes));
            wanted.Reset();
            check(name_, ::MFCreateMediaType(&wanted));
            wanted->SetGUID(MF_MT_MAJOR_TYPE, MFMediaType_Video);
            wanted->SetGUID(MF_MT_SUBTYPE, MFVideoFormat_NV12);
            // Without the rows that H264 adds to fill its blocks.
            wanted->SetUINT64(MF_MT_FRAME_SIZE, readFormat(sent).frameSize);
        }
        check(name_, pictures_->SetCurrentMediaType(camera_.stream(), nullptr, wanted.Get()));
    }

    /// What was really agreed on. Throws Error(source) when that can't be.
    void readAgreed() {
        ComPtr<IMFMediaType> type;
        check(name_, pictures_->GetCurrentMediaType(camera_.stream(), &type));
        const AnnouncedFormat format = readFormat(*type.Get());
        (void)frameFormat(format.encoding);  // throws when it can't be read
        encoding_ = format.encoding;
        size_ = sizeOfPair(format.frameSize);
        UINT32 said = 0;
        const bool isSaid = SUCCEEDED(type->GetUINT32(MF_MT_DEFAULT_STRIDE, &said));
        strideBytes_ = strideOf(encoding_, size_.width, isSaid ? std::optional(std::int32_t(said)) : std::nullopt);
        reader_->setFormat({encoding_, size_, rateOfPair(format.frameRate)}, std::abs(strideBytes_));
    }

    /// Returns at once; take() gets it.
    HRESULT askForPicture() { return pictures_->ReadSample(camera_.stream(), 0, nullptr, nullptr, nullptr, nullptr); }

    // Below: on Media Foundation's threads, one call at a time. Silence is the reader's to notice.

    void take(HRESULT status, DWORD flags, IMFSample* sample) {
        if (FAILED(status)) return lose(status);
        if ((flags & MF_SOURCE_READERF_ENDOFSTREAM) != 0) return lose(MF_E_VIDEO_RECORDING_DEVICE_INVALIDATED);
        try {
            if ((flags & MF_SOURCE_READERF_CURRENTMEDIATYPECHANGED) != 0) readAgreed();
            if ((flags & MF_SOURCE_READERF_STREAMTICK) != 0) reader_->skip();
            if (sample) deliver(*sample);
        } catch (const Error& error) {
            return reader_->lose(error.what());
        } catch (const std::exception&) {  // no memory: nothing may be thrown at Media Foundation
            return reader_->lose("The pictures of the camera " + name_ + " can't be held: choose a smaller size.");
        }
        if (const HRESULT answer = askForPicture(); FAILED(answer)) lose(answer);
    }

    void lose(HRESULT why) { reader_->lose(mediaFoundationSentence(name_, std::uint32_t(why))); }

    void deliver(IMFSample& sample) {
        UINT32 isDamaged = FALSE;
        ComPtr<IMFMediaBuffer> buffer;
        if ((SUCCEEDED(sample.GetUINT32(MFSampleExtension_FrameCorruption, &isDamaged)) && isDamaged != FALSE) ||
            FAILED(sample.ConvertToContiguousBuffer(&buffer))) {
            return reader_->skipDamaged();
        }
        const LockedPicture picture(std::move(buffer), strideBytes_, size_.height);
        const auto captured = capturedAt(sample);
        if (picture.strideBytes() >= 0) return reader_->deliver(picture.bytes(), picture.strideBytes(), captured);
        const std::ptrdiff_t row = packedRawStride(encoding_, size_.width);
        const bool isUpright =
            turnUpright(picture.bytes(), -picture.strideBytes(), std::size_t(row), size_.height, upright_);
        if (!isUpright) return reader_->skipDamaged();
        reader_->deliver(upright_, row, captured);
    }

    static Clock::time_point capturedAt(IMFSample& sample) {
        using Ticks = std::chrono::duration<std::int64_t, std::ratio<1, 10'000'000>>;
        const auto now = Clock::now();
        UINT64 said = 0;
        if (FAILED(sample.GetUINT64(kDeviceTimestamp, &said))) return now;
        const Ticks age{::MFGetSystemTime() - LONGLONG(said)};
        return CameraReader::plausible(now - std::chrono::duration_cast<Clock::duration>(age));
    }

    const MediaFoundation platform_;  // before everything that it has made
    const std::string name_;
    OpenedCamera camera_;
    std::optional<CameraReader> reader_;
    ComPtr<Arrivals> arrivals_;
    ComPtr<IMFSourceReader> pictures_;  // let go before the camera is closed
    // Of what arrives: written before the first picture, and then by Media Foundation's threads.
    Encoding encoding_ = Encoding::any;
    Size size_;
    std::ptrdiff_t strideBytes_ = 0;
    std::vector<std::uint8_t> upright_;  // rows in order, of pictures that come upside down
};

std::unique_ptr<FrameSource> openHere(const std::function<std::vector<ComPtr<IMFActivate>>()>& plugged,
                                      const std::string& name,
                                      const CaptureSettings& settings,
                                      const std::stop_token& stop) {
    const MediaFoundation platform;
    const auto devices = plugged();
    const auto cameras = nameCameras(devices);
    const CameraInfo* camera = findCamera(cameras, name);
    if (!camera) refuseMissingCamera(name);
    return std::make_unique<MediaFoundationCamera>(withId(devices, camera->id), camera->name, settings, stop);
}

/// Waits for the thread that a camera is closed on, so that it can be opened again at once; not for ever.
class Closing {
public:
    explicit Closing(std::future<void> closed) : closed_(std::move(closed)) {}
    ~Closing() {
        if (closed_.valid()) closed_.wait_for(kCloseTime);
    }
    Closing(Closing&&) = default;

private:
    std::future<void> closed_;
};

}  // namespace

std::unique_ptr<FrameSource> openMediaFoundationCamera(std::function<std::vector<ComPtr<IMFActivate>>()> plugged,
                                                       const std::string& name,
                                                       const CaptureSettings& settings,
                                                       const std::stop_token& stop) {
    // Held by the thread alone, from whose end on it is broken: that is the sign.
    auto held = std::make_shared<std::promise<void>>();
    Closing closing(held->get_future());
    const auto open = [&] {
        return openDetached([plugged = std::move(plugged), name, settings, held = std::move(held)](
                                const std::stop_token& left) { return openHere(plugged, name, settings, left); },
                            stop);
    };
    return std::make_unique<HoldingSource<Closing>>(std::move(closing), open);
}

}  // namespace matte
