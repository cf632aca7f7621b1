// SPDX-License-Identifier: Apache-2.0
// Windows' cameras as Media Foundation lists them, and what they say about themselves. Any thread that has a
// MediaFoundation. Compiled on Windows alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <mfapi.h>
#include <mfidl.h>
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

}  // namespace matte
