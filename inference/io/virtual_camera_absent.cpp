// SPDX-License-Identifier: Apache-2.0
// For builds without PipeWire.
#include "inference/error.h"
#include "inference/io/virtual_camera.h"

namespace matte {

std::unique_ptr<VirtualCamera> openVirtualCamera(const std::stop_token&, const std::string&, const std::string&) {
    throw Error(Area::output,
                "This program was built without PipeWire, which makes the camera that others see: build "
                "it where PipeWire's development files are installed.");
}

}  // namespace matte
