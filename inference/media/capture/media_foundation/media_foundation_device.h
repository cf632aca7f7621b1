// SPDX-License-Identifier: Apache-2.0
// Windows' cameras, by Media Foundation: what they say about themselves, and a camera's frames, by its source reader.
// Any thread that has a MediaFoundation. Compiled on Windows alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <mfapi.h>
#include <mfidl.h>
#include <unknwn.h>
#include <wrl/client.h>

#include "inference/media/capture/camera.h"
#include "inference/media/capture/media_foundation/media_foundation_format.h"

namespace matte {

using Microsoft::WRL::ComPtr;

/// MFSampleExtension_DeviceTimestamp, which some headers lack: when the driver had the picture, as MFGetSystemTime.
inline constexpr GUID kDeviceTimestamp{0x8f3e35e7, 0x2dcd, 0x4887, {0x86, 0x22, 0x2a, 0x58, 0xba, 0xa6, 0x52, 0xb0}};

/// COM and Media Foundation for the thread that makes it. Every object of theirs is let go before it ends.
class MediaFoundation {
public:
    /// Throws Error(source) when Windows has none.
    MediaFoundation();
    ~MediaFoundation();
    MediaFoundation(const MediaFoundation&) = delete;
    MediaFoundation& operator=(const MediaFoundation&) = delete;

private:
    bool hasCom_ = false;  // not where the thread has chosen another kind of COM: that one does
};

/// An object of ours that Media Foundation holds: counts the references to its `Interface` and to `Base`, which
/// Interface extends. It begins with one
/// reference and deletes itself with the last.
template <class Interface, class Base = IUnknown>
class Counted : public Interface {
public:
    STDMETHODIMP QueryInterface(REFIID wanted, void** answer) override {
        if (!answer) return E_POINTER;
        const bool isKnown = wanted == __uuidof(IUnknown) || wanted == __uuidof(Base) || wanted == __uuidof(Interface);
        *answer = isKnown ? static_cast<Interface*>(this) : nullptr;
        if (!isKnown) return E_NOINTERFACE;
        AddRef();
        return S_OK;
    }
    STDMETHODIMP_(ULONG) AddRef() override { return ++references_; }
    STDMETHODIMP_(ULONG) Release() override {
        const ULONG left = --references_;
        if (left == 0) delete this;
        return left;
    }

protected:
    virtual ~Counted() = default;

private:
    std::atomic<ULONG> references_{1};
};

/// The cameras that are plugged in, not yet opened; empty when Windows can't say.
std::vector<ComPtr<IMFActivate>> pluggedInCameras();

/// Its symbolic link, by which Windows knows it: the same when it is plugged into the same place again.
std::string idOf(IMFActivate& camera);

/// The camera of that id; null when there is none.
ComPtr<IMFActivate> withId(const std::vector<ComPtr<IMFActivate>>& cameras, std::string_view id);

/// Their ids and names, told apart; without modes, for none is opened.
std::vector<CameraInfo> nameCameras(const std::vector<ComPtr<IMFActivate>>& cameras);

/// The same with their modes, for which each is opened whose modes aren't `known`: one that is in use need not let
/// itself be opened once more. One that can't be opened has none, so that there is something to explain.
std::vector<CameraInfo> describeCameras(const std::vector<ComPtr<IMFActivate>>& cameras,
                                        std::span<const CameraInfo> known = {});

/// A camera that was opened, from which nothing flows yet; closed at the end.
class OpenedCamera {
public:
    explicit OpenedCamera(ComPtr<IMFActivate> camera);
    ~OpenedCamera();
    OpenedCamera(const OpenedCamera&) = delete;
    OpenedCamera& operator=(const OpenedCamera&) = delete;

    /// Why it can't be used; S_OK when it can.
    [[nodiscard]] HRESULT fault() const { return fault_; }
    [[nodiscard]] IMFMediaSource* source() const { return source_.Get(); }
    /// Of its first stream of pictures.
    [[nodiscard]] DWORD stream() const { return stream_; }
    [[nodiscard]] const std::vector<ComPtr<IMFMediaType>>& types() const { return types_; }
    /// What each of types() says.
    [[nodiscard]] const std::vector<AnnouncedFormat>& formats() const { return formats_; }

private:
    HRESULT readTypes();

    ComPtr<IMFActivate> camera_;
    ComPtr<IMFMediaSource> source_;
    HRESULT fault_;
    DWORD stream_ = 0;
    std::vector<ComPtr<IMFMediaType>> types_;
    std::vector<AnnouncedFormat> formats_;
};

/// What a type says of its pictures.
AnnouncedFormat readFormat(IMFMediaType& type);

/// Opens the camera with that name or id, the first for an empty name, and switches it on. H264 is decoded by Windows.
/// All of it happens on a thread of the source's own, which a driver that hangs takes with it: opening ends when `stop`
/// is asked for, and closing after two seconds. Throws Error(source): missing, busy, forbidden, silent, or with no
/// format that can be read; Cancelled when `stop` was asked for. `plugged` lists the cameras, on that thread.
std::unique_ptr<FrameSource> openMediaFoundationCamera(std::function<std::vector<ComPtr<IMFActivate>>()> plugged,
                                                       const std::string& name,
                                                       const CaptureSettings& settings,
                                                       const std::stop_token& stop = {});

}  // namespace matte
