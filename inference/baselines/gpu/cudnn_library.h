// SPDX-License-Identifier: Apache-2.0
// The dozen functions of cuDNN that the yardstick calls. Not linked and not needed: they are looked up in the system's
// library when a benchmark asks for them. Any thread.
#pragma once

#include <string>

#include "inference/cuda/device/cuda.h"

namespace matte::baselines {

using Handle = void*;
/// Every function returns a status, 0 for success.
struct Cudnn {
    int (*cudnnCreate)(Handle*);
    int (*cudnnSetStream)(Handle, cudaStream_t);
    int (*cudnnCreateTensorDescriptor)(Handle*);
    int (*cudnnSetTensor4dDescriptor)(Handle, int, int, int, int, int, int);
    int (*cudnnCreateFilterDescriptor)(Handle*);
    int (*cudnnSetFilter4dDescriptor)(Handle, int, int, int, int, int, int);
    int (*cudnnCreateConvolutionDescriptor)(Handle*);
    int (*cudnnSetConvolution2dDescriptor)(Handle, int, int, int, int, int, int, int, int);
    int (*cudnnSetConvolutionMathType)(Handle, int);
    int (*cudnnGetConvolutionForwardWorkspaceSize)(Handle, Handle, Handle, Handle, Handle, int, std::size_t*);
    int (*cudnnConvolutionForward)(Handle,
                                   const void*,
                                   Handle,
                                   const void*,
                                   Handle,
                                   const void*,
                                   Handle,
                                   int,
                                   void*,
                                   std::size_t,
                                   const void*,
                                   Handle,
                                   void*);
    int (*cudnnAddTensor)(Handle, const void*, Handle, const void*, const void*, Handle, void*);
    std::string missing;  ///< why it can't be used; empty when it can
    Handle handle = nullptr;

    /// One for the program's life: it takes seconds to load, and is never unloaded.
    static const Cudnn& get();

private:
    Cudnn();
};

}  // namespace matte::baselines
