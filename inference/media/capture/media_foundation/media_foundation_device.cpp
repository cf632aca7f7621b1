// SPDX-License-Identifier: Apache-2.0
#include "inference/media/capture/media_foundation/media_foundation_device.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <mferror.h>

#include "inference/core/error.h"

namespace matte {
namespace {

constexpr HRESULT fromWin32(DWORD code) {
    return HRESULT(0x80070000U | code);
}
static_assert(HRESULT(WindowsFault::fileNotFound) == fromWin32(ERROR_FILE_NOT_FOUND));
static_assert(HRESULT(WindowsFault::accessDenied) == E_ACCESSDENIED);
static_assert(HRESULT(WindowsFault::sharingViolation) == fromWin32(ERROR_SHARING_VIOLATION));
static_assert(HRESULT(WindowsFault::busy) == fromWin32(ERROR_BUSY));
static_assert(HRESULT(WindowsFault::noSuchDevice) == fromWin32(433));  // ERROR_NO_SUCH_DEVICE, which some headers lack
static_assert(HRESULT(WindowsFault::deviceNotConnected) == fromWin32(ERROR_DEVICE_NOT_CONNECTED));
static_assert(HRESULT(WindowsFault::noSystemResources) == fromWin32(ERROR_NO_SYSTEM_RESOURCES));
static_assert(HRESULT(WindowsFault::deviceRemoved) == fromWin32(ERROR_DEVICE_REMOVED));
static_assert(HRESULT(WindowsFault::invalidMediaType) == MF_E_INVALIDMEDIATYPE);
static_assert(HRESULT(WindowsFault::startStreaming) == MF_E_HW_MFT_FAILED_START_STREAMING);
static_assert(HRESULT(WindowsFault::shutDown) == MF_E_SHUTDOWN);
static_assert(HRESULT(WindowsFault::invalidated) == MF_E_VIDEO_RECORDING_DEVICE_INVALIDATED);
static_assert(HRESULT(WindowsFault::preempted) == MF_E_VIDEO_RECORDING_DEVICE_PREEMPTED);
static_assert(HRESULT(WindowsFault::codecNotFound) == MF_E_TOPO_CODEC_NOT_FOUND);

constexpr DWORD kMostTypes = 4096;  // a driver that never ends its list is cut off

/// UTF-8 without control characters; empty when the camera doesn't say.
std::string textOf(IMFActivate& camera, const GUID& key) {
    WCHAR* wide = nullptr;
    UINT32 length = 0;
    if (FAILED(camera.GetAllocatedString(key, &wide, &length))) return {};
    const int bytes = ::WideCharToMultiByte(CP_UTF8, 0, wide, int(length), nullptr, 0, nullptr, nullptr);
    std::string text(std::size_t(std::max(0, bytes)), '\0');
    ::WideCharToMultiByte(CP_UTF8, 0, wide, int(length), text.data(), bytes, nullptr, nullptr);
    ::CoTaskMemFree(wide);
    return withoutControls(std::move(text));
}

Encoding encodingOf(const GUID& subtype) {
    if (subtype == MFVideoFormat_H264_ES) return Encoding::h264;
    GUID base = subtype;  // most subtypes differ in their first number alone
    base.Data1 = 0;
    return base == MFVideoFormat_Base ? encodingOfSubtype(subtype.Data1) : Encoding::other;
}

const CameraInfo* findById(std::span<const CameraInfo> cameras, std::string_view id) {
    const auto found =
        std::find_if(cameras.begin(), cameras.end(), [&](const auto& camera) { return camera.id == id; });
    return found == cameras.end() ? nullptr : &*found;
}

}  // namespace

MediaFoundation::MediaFoundation() : hasCom_(SUCCEEDED(::CoInitializeEx(nullptr, COINIT_MULTITHREADED))) {
    const HRESULT fault = ::MFStartup(MF_VERSION, MFSTARTUP_LITE);
    if (SUCCEEDED(fault)) return;
    if (hasCom_) ::CoUninitialize();
    char code[16];
    std::snprintf(code, sizeof code, "0x%08lX", static_cast<unsigned long>(fault));
    throw Error(ErrorCategory::source, "Cameras can't be used (Media Foundation answers " + std::string(code) +
                                           "): install Windows' Media Feature Pack, or choose a video.");
}

MediaFoundation::~MediaFoundation() {
    ::MFShutdown();
    if (hasCom_) ::CoUninitialize();
}

std::vector<ComPtr<IMFActivate>> pluggedInCameras() {
    ComPtr<IMFAttributes> wanted;
    if (FAILED(::MFCreateAttributes(&wanted, 1))) return {};
    wanted->SetGUID(MF_DEVSOURCE_ATTRIBUTE_SOURCE_TYPE, MF_DEVSOURCE_ATTRIBUTE_SOURCE_TYPE_VIDCAP_GUID);
    IMFActivate** list = nullptr;
    UINT32 count = 0;
    if (FAILED(::MFEnumDeviceSources(wanted.Get(), &list, &count))) return {};
    std::vector<ComPtr<IMFActivate>> cameras(count);
    for (UINT32 i = 0; i < count; ++i) cameras[i].Attach(list[i]);
    ::CoTaskMemFree(list);
    return cameras;
}

std::string idOf(IMFActivate& camera) {
    return textOf(camera, MF_DEVSOURCE_ATTRIBUTE_SOURCE_TYPE_VIDCAP_SYMBOLIC_LINK);
}

std::vector<CameraInfo> nameCameras(const std::vector<ComPtr<IMFActivate>>& cameras) {
    std::vector<CameraInfo> named;
    for (const auto& camera : cameras) {
        CameraInfo info{idOf(*camera.Get()), textOf(*camera.Get(), MF_DEVSOURCE_ATTRIBUTE_FRIENDLY_NAME), {}};
        if (info.id.empty() || findById(named, info.id)) continue;  // it could not be told from another
        if (info.name.empty()) info.name = "Camera";
        named.push_back(std::move(info));
    }
    tellApart(named);
    return named;
}

std::vector<CameraInfo> describeCameras(const std::vector<ComPtr<IMFActivate>>& cameras,
                                        std::span<const CameraInfo> known) {
    std::vector<CameraInfo> described;
    for (auto& camera : nameCameras(cameras)) {
        if (const CameraInfo* before = findById(known, camera.id)) camera.modes = before->modes;
        if (camera.modes.empty()) {
            const OpenedCamera opened(withId(cameras, camera.id));
            camera.modes = modesOf(opened.formats());
            if (SUCCEEDED(opened.fault()) && camera.modes.empty()) continue;  // it has no pictures
        }
        described.push_back(std::move(camera));
    }
    return described;
}

ComPtr<IMFActivate> withId(const std::vector<ComPtr<IMFActivate>>& cameras, std::string_view id) {
    const auto found =
        std::find_if(cameras.begin(), cameras.end(), [&](const auto& camera) { return idOf(*camera.Get()) == id; });
    return found == cameras.end() ? nullptr : *found;
}

OpenedCamera::OpenedCamera(ComPtr<IMFActivate> camera)
    : camera_(std::move(camera)), fault_(camera_->ActivateObject(IID_PPV_ARGS(&source_))) {
    if (SUCCEEDED(fault_)) fault_ = readTypes();
}

OpenedCamera::~OpenedCamera() {
    types_.clear();
    if (source_) source_->Shutdown();
    camera_->ShutdownObject();
}

HRESULT OpenedCamera::readTypes() {
    ComPtr<IMFPresentationDescriptor> streams;
    if (const HRESULT fault = source_->CreatePresentationDescriptor(&streams); FAILED(fault)) return fault;
    DWORD count = 0;
    if (const HRESULT fault = streams->GetStreamDescriptorCount(&count); FAILED(fault)) return fault;
    for (stream_ = 0; stream_ < count; ++stream_) {
        BOOL isSelected = FALSE;
        ComPtr<IMFStreamDescriptor> stream;
        ComPtr<IMFMediaTypeHandler> handler;
        GUID major{};
        if (FAILED(streams->GetStreamDescriptorByIndex(stream_, &isSelected, &stream)) ||
            FAILED(stream->GetMediaTypeHandler(&handler)) || FAILED(handler->GetMajorType(&major)) ||
            major != MFMediaType_Video) {
            continue;
        }
        ComPtr<IMFMediaType> type;
        for (DWORD i = 0; i < kMostTypes && SUCCEEDED(handler->GetMediaTypeByIndex(i, &type)); ++i) {
            formats_.push_back(readFormat(*type.Get()));
            types_.push_back(type);
        }
        break;
    }
    return S_OK;
}

AnnouncedFormat readFormat(IMFMediaType& type) {
    AnnouncedFormat format;
    if (GUID subtype{}; SUCCEEDED(type.GetGUID(MF_MT_SUBTYPE, &subtype))) format.encoding = encodingOf(subtype);
    if (UINT64 size = 0; SUCCEEDED(type.GetUINT64(MF_MT_FRAME_SIZE, &size))) format.frameSize = size;
    if (UINT64 rate = 0; SUCCEEDED(type.GetUINT64(MF_MT_FRAME_RATE, &rate))) format.frameRate = rate;
    return format;
}

}  // namespace matte
