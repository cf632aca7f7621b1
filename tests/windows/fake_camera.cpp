// SPDX-License-Identifier: Apache-2.0
#include "tests/windows/fake_camera.h"

#include <cstring>
#include <mutex>
#include <thread>

#include <mferror.h>

#include "inference/media/capture/media_foundation/media_foundation_device.h"

namespace matte::test {
namespace {

/// What has events, which Media Foundation keeps.
template <class Interface>
class Eventful : public Counted<Interface, IMFMediaEventGenerator> {
public:
    Eventful() { ::MFCreateEventQueue(&events_); }
    STDMETHODIMP GetEvent(DWORD flags, IMFMediaEvent** event) override { return events_->GetEvent(flags, event); }
    STDMETHODIMP BeginGetEvent(IMFAsyncCallback* callback, IUnknown* state) override {
        return events_->BeginGetEvent(callback, state);
    }
    STDMETHODIMP EndGetEvent(IMFAsyncResult* result, IMFMediaEvent** event) override {
        return events_->EndGetEvent(result, event);
    }
    STDMETHODIMP QueueEvent(MediaEventType type, REFGUID guid, HRESULT status, const PROPVARIANT* value) override {
        return events_->QueueEventParamVar(type, guid, status, value);
    }

protected:
    void tell(MediaEventType type, HRESULT status = S_OK) {
        events_->QueueEventParamVar(type, GUID_NULL, status, nullptr);
    }
    void give(MediaEventType type, IUnknown* what) { events_->QueueEventParamUnk(type, GUID_NULL, S_OK, what); }
    void endEvents() { events_->Shutdown(); }

private:
    ComPtr<IMFMediaEventQueue> events_;
};

class Stream final : public Eventful<IMFMediaStream> {
public:
    Stream(FakeCamera& camera, IMFMediaSource* source, IMFStreamDescriptor* descriptor)
        : camera_(camera), source_(source), descriptor_(descriptor) {}

    STDMETHODIMP GetMediaSource(IMFMediaSource** source) override {
        const std::lock_guard lock(mutex_);
        return source_ ? source_->QueryInterface(IID_PPV_ARGS(source)) : MF_E_SHUTDOWN;
    }
    STDMETHODIMP GetStreamDescriptor(IMFStreamDescriptor** descriptor) override {
        return descriptor_.CopyTo(descriptor);
    }
    STDMETHODIMP RequestSample(IUnknown* token) override {
        const std::lock_guard lock(mutex_);
        if (!source_) return MF_E_SHUTDOWN;
        requests_.emplace_back(token);
        return S_OK;
    }

    void start() {
        tell(MEStreamStarted);
        thread_ = std::jthread([this](const std::stop_token& stop) { send(stop); });
    }
    void shutDown() {
        {
            const std::lock_guard lock(mutex_);
            source_ = nullptr;
            requests_.clear();
        }
        if (thread_.joinable()) {
            thread_.request_stop();
            thread_.join();
        }
        endEvents();
    }

private:
    void send(const std::stop_token& stop) {
        for (; !stop.stop_requested(); std::this_thread::sleep_for(std::chrono::milliseconds(10))) {  // paces
            const std::lock_guard lock(mutex_);
            if (!source_) return;
            if (const HRESULT fault = camera_.fault; FAILED(fault)) {
                source_->QueueEvent(MEError, GUID_NULL, fault, nullptr);
                tell(MEError, fault);
                tell(MEEndOfStream);  // Wine's reader passes no errors on
                return;
            }
            if (requests_.empty() || camera_.isSilent) continue;
            const auto token = std::move(requests_.front());
            requests_.erase(requests_.begin());
            const auto sample = picture();
            if (token) sample->SetUnknown(MFSampleExtension_Token, token.Get());
            give(MEMediaSample, sample.Get());
        }
    }

    ComPtr<IMFSample> picture() {
        ComPtr<IMFSample> sample;
        ::MFCreateSample(&sample);
        const auto buffer = camera_.planes != 0 ? planes() : memory();
        sample->AddBuffer(buffer.Get());
        sample->SetSampleTime(::MFGetSystemTime());
        if (camera_.age != 0) sample->SetUINT64(kDeviceTimestamp, UINT64(::MFGetSystemTime() - camera_.age));
        return sample;
    }
    ComPtr<IMFMediaBuffer> memory() {
        const auto bytes = DWORD(camera_.bytes - camera_.missing);
        ComPtr<IMFMediaBuffer> buffer;
        ::MFCreateMemoryBuffer(bytes, &buffer);
        BYTE* start = nullptr;
        buffer->Lock(&start, nullptr, nullptr);
        std::memset(start, ++number_, bytes);
        if (camera_.types[0].subtype == MFVideoFormat_RGB32) start[0] = 0;
        buffer->Unlock();
        buffer->SetCurrentLength(bytes);
        return buffer;
    }
    ComPtr<IMFMediaBuffer> planes() {
        ComPtr<IMFMediaBuffer> buffer;
        ComPtr<IMF2DBuffer2> rows;
        ::MFCreate2DMediaBuffer(camera_.types[0].width, camera_.types[0].height, camera_.planes, FALSE, &buffer);
        buffer.As(&rows);
        BYTE *top = nullptr, *start = nullptr;
        LONG pitch = 0;
        DWORD length = 0;
        rows->Lock2DSize(MF2DBuffer_LockFlags_Write, &top, &pitch, &start, &length);
        std::memset(start, ++number_, length);
        rows->Unlock2D();
        return buffer;
    }

    FakeCamera& camera_;
    std::mutex mutex_;  // guards the next two
    IMFMediaSource* source_;
    std::vector<ComPtr<IUnknown>> requests_;
    const ComPtr<IMFStreamDescriptor> descriptor_;
    std::uint8_t number_ = 0;
    std::jthread thread_;
};

class Source final : public Eventful<IMFMediaSource> {
public:
    explicit Source(FakeCamera& camera) : camera_(camera) {
        std::vector<ComPtr<IMFMediaType>> types;
        std::vector<IMFMediaType*> plain;
        for (const auto& said : camera.types) {
            ComPtr<IMFMediaType>& type = types.emplace_back();
            ::MFCreateMediaType(&type);
            type->SetGUID(MF_MT_MAJOR_TYPE, MFMediaType_Video);
            type->SetGUID(MF_MT_SUBTYPE, said.subtype);
            type->SetUINT64(MF_MT_FRAME_SIZE, UINT64(said.width) << 32 | said.height);
            type->SetUINT64(MF_MT_FRAME_RATE, UINT64(said.rate) << 32 | 1);
            if (said.stride != 0) type->SetUINT32(MF_MT_DEFAULT_STRIDE, UINT32(said.stride));
            plain.push_back(type.Get());
        }
        ::MFCreateStreamDescriptor(7, DWORD(plain.size()), plain.data(), &descriptor_);
        ComPtr<IMFMediaTypeHandler> handler;
        descriptor_->GetMediaTypeHandler(&handler);
        handler->SetCurrentMediaType(plain.at(0));
        stream_.Attach(new Stream(camera, this, descriptor_.Get()));
        ++camera_.opened;
    }

    STDMETHODIMP GetCharacteristics(DWORD* answer) override {
        *answer = MFMEDIASOURCE_IS_LIVE;
        return S_OK;
    }
    STDMETHODIMP CreatePresentationDescriptor(IMFPresentationDescriptor** answer) override {
        if (isShutDown_) return MF_E_SHUTDOWN;
        IMFStreamDescriptor* streams = descriptor_.Get();
        const HRESULT fault = ::MFCreatePresentationDescriptor(1, &streams, answer);
        if (SUCCEEDED(fault)) (*answer)->SelectStream(0);
        return fault;
    }
    STDMETHODIMP Start(IMFPresentationDescriptor*, const GUID*, const PROPVARIANT*) override {
        if (const HRESULT fault = camera_.startFault; FAILED(fault)) return fault;
        give(MENewStream, stream_.Get());
        tell(MESourceStarted);
        stream_->start();
        return S_OK;
    }
    STDMETHODIMP Stop() override { return S_OK; }
    STDMETHODIMP Pause() override { return MF_E_INVALID_STATE_TRANSITION; }
    STDMETHODIMP Shutdown() override {
        if (isShutDown_.exchange(true)) return MF_E_SHUTDOWN;
        stream_->shutDown();
        endEvents();
        --camera_.opened;
        return S_OK;
    }

private:
    FakeCamera& camera_;
    ComPtr<IMFStreamDescriptor> descriptor_;
    ComPtr<Stream> stream_;
    std::atomic<bool> isShutDown_{false};
};

/// Has two texts, and nothing else that attributes may have.
class Activate final : public Counted<IMFActivate, IMFAttributes> {
public:
    explicit Activate(FakeCamera& camera) : camera_(camera) {}

    STDMETHODIMP ActivateObject(REFIID wanted, void** answer) override {
        ++camera_.asked;
        std::this_thread::sleep_for(camera_.hangs.load());  // paces: a driver that no stop reaches
        ++camera_.answered;
        if (const HRESULT fault = camera_.openFault; FAILED(fault)) return fault;
        if (!source_) source_.Attach(new Source(camera_));
        return source_->QueryInterface(wanted, answer);
    }
    STDMETHODIMP ShutdownObject() override {
        if (source_) source_->Shutdown();
        source_.Reset();
        return S_OK;
    }
    STDMETHODIMP DetachObject() override { return E_NOTIMPL; }

    STDMETHODIMP GetAllocatedString(REFGUID key, LPWSTR* text, UINT32* length) override {
        const bool isName = key == MF_DEVSOURCE_ATTRIBUTE_FRIENDLY_NAME;
        if (!isName && key != MF_DEVSOURCE_ATTRIBUTE_SOURCE_TYPE_VIDCAP_SYMBOLIC_LINK) return MF_E_ATTRIBUTENOTFOUND;
        const std::wstring& said = isName ? camera_.name : camera_.link;
        const std::size_t bytes = (said.size() + 1) * sizeof(wchar_t);
        *text = static_cast<LPWSTR>(::CoTaskMemAlloc(bytes));
        std::memcpy(*text, said.c_str(), bytes);
        *length = UINT32(said.size());
        return S_OK;
    }

    STDMETHODIMP GetItem(REFGUID, PROPVARIANT*) override { return E_NOTIMPL; }
    STDMETHODIMP GetItemType(REFGUID, MF_ATTRIBUTE_TYPE*) override { return E_NOTIMPL; }
    STDMETHODIMP CompareItem(REFGUID, REFPROPVARIANT, BOOL*) override { return E_NOTIMPL; }
    STDMETHODIMP Compare(IMFAttributes*, MF_ATTRIBUTES_MATCH_TYPE, BOOL*) override { return E_NOTIMPL; }
    STDMETHODIMP GetUINT32(REFGUID, UINT32*) override { return E_NOTIMPL; }
    STDMETHODIMP GetUINT64(REFGUID, UINT64*) override { return E_NOTIMPL; }
    STDMETHODIMP GetDouble(REFGUID, double*) override { return E_NOTIMPL; }
    STDMETHODIMP GetGUID(REFGUID, GUID*) override { return E_NOTIMPL; }
    STDMETHODIMP GetStringLength(REFGUID, UINT32*) override { return E_NOTIMPL; }
    STDMETHODIMP GetString(REFGUID, LPWSTR, UINT32, UINT32*) override { return E_NOTIMPL; }
    STDMETHODIMP GetBlobSize(REFGUID, UINT32*) override { return E_NOTIMPL; }
    STDMETHODIMP GetBlob(REFGUID, UINT8*, UINT32, UINT32*) override { return E_NOTIMPL; }
    STDMETHODIMP GetAllocatedBlob(REFGUID, UINT8**, UINT32*) override { return E_NOTIMPL; }
    STDMETHODIMP GetUnknown(REFGUID, REFIID, void**) override { return E_NOTIMPL; }
    STDMETHODIMP SetItem(REFGUID, REFPROPVARIANT) override { return E_NOTIMPL; }
    STDMETHODIMP DeleteItem(REFGUID) override { return E_NOTIMPL; }
    STDMETHODIMP DeleteAllItems() override { return E_NOTIMPL; }
    STDMETHODIMP SetUINT32(REFGUID, UINT32) override { return E_NOTIMPL; }
    STDMETHODIMP SetUINT64(REFGUID, UINT64) override { return E_NOTIMPL; }
    STDMETHODIMP SetDouble(REFGUID, double) override { return E_NOTIMPL; }
    STDMETHODIMP SetGUID(REFGUID, REFGUID) override { return E_NOTIMPL; }
    STDMETHODIMP SetString(REFGUID, LPCWSTR) override { return E_NOTIMPL; }
    STDMETHODIMP SetBlob(REFGUID, const UINT8*, UINT32) override { return E_NOTIMPL; }
    STDMETHODIMP SetUnknown(REFGUID, IUnknown*) override { return E_NOTIMPL; }
    STDMETHODIMP LockStore() override { return E_NOTIMPL; }
    STDMETHODIMP UnlockStore() override { return E_NOTIMPL; }
    STDMETHODIMP GetCount(UINT32*) override { return E_NOTIMPL; }
    STDMETHODIMP GetItemByIndex(UINT32, GUID*, PROPVARIANT*) override { return E_NOTIMPL; }
    STDMETHODIMP CopyAllItems(IMFAttributes*) override { return E_NOTIMPL; }

private:
    FakeCamera& camera_;
    ComPtr<Source> source_;
};

}  // namespace

ComPtr<IMFActivate> plugIn(FakeCamera& camera) {
    ComPtr<IMFActivate> activate;
    activate.Attach(new Activate(camera));
    return activate;
}

}  // namespace matte::test
