// SPDX-License-Identifier: Apache-2.0
// A camera that is a Media Foundation source, so that the system's own source reader reads it as it would a real one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "inference/media/capture/media_foundation/media_foundation_device.h"

namespace matte::test {

struct FakeType {
    GUID subtype;
    UINT32 width, height, rate;
    INT32 stride = 0;  ///< 0: not said
};

/// What the camera is, and what becomes of it. The atomics may be changed while it sends.
struct FakeCamera {
    std::wstring name = L"Integrated Camera", link = L"\\\\?\\usb#vid_046d&pid_0825#1";
    std::vector<FakeType> types;
    std::size_t bytes = 0;         ///< of each picture, all of them its number, which begins with 1; RGB's first is 0
    DWORD planes = 0;              ///< not 0: pictures of the first type come in memory with rows, of this FOURCC
    std::atomic<LONGLONG> age{0};  ///< of each picture by the driver's clock, in 100 ns; 0: it says nothing

    std::atomic<HRESULT> openFault{S_OK}, startFault{S_OK};
    std::atomic<HRESULT> fault{S_OK};  ///< the end of one that sends
    std::atomic<bool> isSilent{false};
    std::atomic<std::size_t> missing{0};             ///< so many bytes less arrive
    std::atomic<std::chrono::milliseconds> hangs{};  ///< so long opening takes

    std::atomic<int> opened{0};              ///< sources that were made and not shut down
    std::atomic<int> asked{0}, answered{0};  ///< so often opening has begun, and ended
};

/// As Windows lists it. `camera` outlives it.
ComPtr<IMFActivate> plugIn(FakeCamera& camera);

}  // namespace matte::test
