// SPDX-License-Identifier: Apache-2.0
// The yardstick: cuDNN's own convolution in single precision, where the system has it. The numbers below are cuDNN's
// documented enumerations. The library is not linked and not needed: its functions are looked up when a benchmark asks
// for them.
#include <dlfcn.h>

#include <limits>
#include <string>
#include <type_traits>

#include "inference/baselines/gpu/gpu.h"

namespace matte::baselines {
namespace {

using Handle = void*;

/// The functions of cuDNN that are called, with their parameters. Each returns a status, 0 for success.
#define MATTE_CUDNN_FUNCTIONS(X)                                                                                  \
    X(cudnnCreate, Handle*)                                                                                       \
    X(cudnnSetStream, Handle, cudaStream_t)                                                                       \
    X(cudnnCreateTensorDescriptor, Handle*)                                                                       \
    X(cudnnSetTensor4dDescriptor, Handle, int, int, int, int, int, int)                                           \
    X(cudnnCreateFilterDescriptor, Handle*)                                                                       \
    X(cudnnSetFilter4dDescriptor, Handle, int, int, int, int, int, int)                                           \
    X(cudnnCreateConvolutionDescriptor, Handle*)                                                                  \
    X(cudnnSetConvolution2dDescriptor, Handle, int, int, int, int, int, int, int, int)                            \
    X(cudnnSetConvolutionMathType, Handle, int)                                                                   \
    X(cudnnGetConvolutionForwardWorkspaceSize, Handle, Handle, Handle, Handle, Handle, int, std::size_t*)         \
    X(cudnnConvolutionForward, Handle, const void*, Handle, const void*, Handle, const void*, Handle, int, void*, \
      std::size_t, const void*, Handle, void*)                                                                    \
    X(cudnnAddTensor, Handle, const void*, Handle, const void*, const void*, Handle, void*)

struct Cudnn {
#define MATTE_DECLARE(name, ...) int (*name)(__VA_ARGS__);
    MATTE_CUDNN_FUNCTIONS(MATTE_DECLARE)
    std::string missing;  ///< why it can't be used; empty when it can
    Handle handle = nullptr;

    /// One for the program's life: it takes seconds to load, and is never unloaded.
    static const Cudnn& get() {
        static const Cudnn cudnn;
        return cudnn;
    }

private:
    Cudnn() {
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
#define MATTE_FIND(name, ...) find(name, #name);
        MATTE_CUDNN_FUNCTIONS(MATTE_FIND)
        if (missing.empty() && cudnnCreate(&handle) != 0) missing = "cuDNN does not start on this GPU's driver.";
    }
};

constexpr int kNchw = 0, kFloat = 0, kCrossCorrelation = 1, kFmaMath = 3, kAlgorithms = 8;

void check(int status, const char* what) {
    if (status != 0) {
        throw Error(ErrorCategory::engine,
                    std::string("cuDNN failed in ") + what + " (" + std::to_string(status) + "): leave gpu-cudnn out.");
    }
}
#define MATTE_CUDNN(function, ...) check(Cudnn::get().function(__VA_ARGS__), #function)

/// Tries every algorithm once at its making and keeps the fastest. Its batch norm and ReLU are ours.
class CudnnConv final : public Layer {
public:
    CudnnConv(const Filter& filter, const Shape& s) : weights_(uploaded(filter.weights)), bias_(uploaded(filter.bias)) {
        for (Handle* descriptor : {&in_, &out_, &biasOf_}) MATTE_CUDNN(cudnnCreateTensorDescriptor, descriptor);
        MATTE_CUDNN(cudnnCreateFilterDescriptor, &filter_);
        MATTE_CUDNN(cudnnCreateConvolutionDescriptor, &conv_);
        const int o = filter.outChannels;
        MATTE_CUDNN(cudnnSetTensor4dDescriptor, in_, kNchw, kFloat, s.batch, s.channels, s.height, s.width);
        MATTE_CUDNN(cudnnSetTensor4dDescriptor, out_, kNchw, kFloat, s.batch, o, s.height, s.width);
        MATTE_CUDNN(cudnnSetTensor4dDescriptor, biasOf_, kNchw, kFloat, 1, o, 1, 1);
        MATTE_CUDNN(cudnnSetFilter4dDescriptor, filter_, kFloat, kNchw, o, s.channels, 3, 3);
        MATTE_CUDNN(cudnnSetConvolution2dDescriptor, conv_, 1, 1, 1, 1, 1, 1, kCrossCorrelation, kFloat);
        MATTE_CUDNN(cudnnSetConvolutionMathType, conv_, kFmaMath);
        const DeviceBuffer from(s.floats() * sizeof(float)), to(s.pixels() * std::size_t(s.batch * o) * sizeof(float));
        chooseAlgorithm(from.as<float>(), to.as<float>());
    }
    void run(int, const float* in, float* out, StreamHandle stream) override {
        MATTE_CUDNN(cudnnSetStream, Cudnn::get().handle, stream);
        check(convolve(in, out), "cudnnConvolutionForward");
        MATTE_CUDNN(cudnnAddTensor, Cudnn::get().handle, &one_, biasOf_, bias_.data(), &one_, out_, out);
    }

private:
    int convolve(const float* in, float* out) const {
        const Cudnn& cudnn = Cudnn::get();
        return cudnn.cudnnConvolutionForward(cudnn.handle, &one_, in_, in, filter_, weights_.data(), conv_, algorithm_,
                                             workspace_.data(), workspace_.bytes(), &zero_, out_, out);
    }
    void chooseAlgorithm(const float* from, float* to) {
        const Cudnn& cudnn = Cudnn::get();
        const Stream stream;
        const Event start, end;
        MATTE_CUDNN(cudnnSetStream, cudnn.handle, stream.get());
        float bestMs = std::numeric_limits<float>::infinity();
        int best = -1;
        for (algorithm_ = 0; algorithm_ < kAlgorithms; ++algorithm_) {
            if (!reserve() || convolve(from, to) != 0) continue;
            start.record(stream.get());
            if (convolve(from, to) != 0) continue;
            end.record(stream.get());
            end.wait();
            if (end.msSince(start) < bestMs) bestMs = end.msSince(start), best = algorithm_;
        }
        algorithm_ = best;
        if (best < 0 || !reserve())
            throw Error(ErrorCategory::engine, "cuDNN runs this layer by no algorithm: leave it out.");
    }
    bool reserve() {
        constexpr std::size_t kMost = std::size_t(4) << 30;
        std::size_t bytes = 0;
        const Cudnn& cudnn = Cudnn::get();
        if (cudnn.cudnnGetConvolutionForwardWorkspaceSize(cudnn.handle, in_, filter_, conv_, out_, algorithm_, &bytes))
            return false;
        if (bytes > kMost) return false;
        workspace_ = DeviceBuffer();
        workspace_ = DeviceBuffer(bytes);
        return true;
    }

    // Descriptors live as long as the library, which is never unloaded: a benchmark makes a few dozen.
    Handle in_ = nullptr, out_ = nullptr, biasOf_ = nullptr, filter_ = nullptr, conv_ = nullptr;
    float one_ = 1, zero_ = 0;
    int algorithm_ = 0;
    DeviceBuffer weights_, bias_, workspace_;
};

}  // namespace

std::unique_ptr<Layer> makeCudnn(const Block& block, const Shape& in) {
    return makeSeparate(std::make_unique<CudnnConv>(block.filter, in), gpuLayers(), block, in);
}

std::string whyNoCudnn() {
    return Cudnn::get().missing;
}

}  // namespace matte::baselines
