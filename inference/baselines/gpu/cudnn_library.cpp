// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/gpu/cudnn_library.h"

#include <dlfcn.h>

#include <type_traits>

namespace matte::baselines {

Cudnn::Cudnn() {
    void* library = nullptr;
    for (const char* name : {"libcudnn.so.9", "libcudnn.so.8", "libcudnn.so"}) {
        if (!library) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (!library) {
        missing = "cuDNN is not installed: it is a yardstick only, and Matte does not need it.";
        return;
    }
    const auto find = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
        if (!function) missing = std::string("The cuDNN here has no ") + name + ": install version 8 or 9.";
    };
#define MATTE_FIND(name) find(name, #name)
    MATTE_FIND(cudnnCreate);
    MATTE_FIND(cudnnSetStream);
    MATTE_FIND(cudnnCreateTensorDescriptor);
    MATTE_FIND(cudnnSetTensor4dDescriptor);
    MATTE_FIND(cudnnCreateFilterDescriptor);
    MATTE_FIND(cudnnSetFilter4dDescriptor);
    MATTE_FIND(cudnnCreateConvolutionDescriptor);
    MATTE_FIND(cudnnSetConvolution2dDescriptor);
    MATTE_FIND(cudnnSetConvolutionMathType);
    MATTE_FIND(cudnnGetConvolutionForwardWorkspaceSize);
    MATTE_FIND(cudnnConvolutionForward);
    MATTE_FIND(cudnnAddTensor);
#undef MATTE_FIND
    if (missing.empty() && cudnnCreate(&handle) != 0) missing = "cuDNN does not start on this GPU's driver.";
}

const Cudnn& Cudnn::get() {
    static const Cudnn cudnn;
    return cudnn;
}

}  // namespace matte::baselines
