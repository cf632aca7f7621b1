// SPDX-License-Identifier: Apache-2.0
#include "inference/cpu/cpu_network.h"

#include <unordered_map>
#include <utility>

#include <oneapi/dnnl/dnnl.hpp>

#include "inference/error.h"

namespace matte {
namespace {

using dnnl::memory;
using Dims = memory::dims;

/// What a primitive does besides the sum of products.
struct Fused {
    bool addToOutput = false, relu = false, sigmoid = false;
};

dnnl::primitive_attr attributes(const Fused& fused) {
    dnnl::post_ops ops;
    if (fused.addToOutput) ops.append_sum(1.0F);
    const auto activation = [&](dnnl::algorithm algorithm) {
#if DNNL_VERSION_MAJOR >= 3
        ops.append_eltwise(algorithm, 0.0F, 0.0F);
#else
        ops.append_eltwise(1.0F, algorithm, 0.0F, 0.0F);
#endif
    };
    if (fused.relu) activation(dnnl::algorithm::eltwise_relu);
    if (fused.sigmoid) activation(dnnl::algorithm::eltwise_logistic);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(ops);
    return attributes;
}

// oneDNN 2 describes an operation first and 3 no longer does; these three are all that differs for us.
template <typename Primitive>
typename Primitive::primitive_desc describeConv(const dnnl::engine& engine,
                                                dnnl::algorithm algorithm,
                                                const memory::desc& src,
                                                const memory::desc& weights,
                                                const memory::desc& bias,
                                                const memory::desc& dst,
                                                memory::dim stride,
                                                memory::dim padding,
                                                const dnnl::primitive_attr& attr) {
    const Dims strides{stride, stride}, pad{padding, padding};
    constexpr auto kind = dnnl::prop_kind::forward_inference;
#if DNNL_VERSION_MAJOR >= 3
    return {engine, kind, algorithm, src, weights, bias, dst, strides, pad, pad, attr};
#else
    return {{kind, algorithm, src, weights, bias, dst, strides, pad, pad}, attr, engine};
#endif
}

dnnl::pooling_forward::primitive_desc describePool(const dnnl::engine& engine,
                                                   const memory::desc& src,
                                                   const memory::desc& dst) {
    const Dims two{2, 2}, none{0, 0};
    constexpr auto kind = dnnl::prop_kind::forward_inference;
    constexpr auto algorithm = dnnl::algorithm::pooling_max;
#if DNNL_VERSION_MAJOR >= 3
    return {engine, kind, algorithm, src, dst, two, two, none, none, none};
#else
    return {{kind, algorithm, src, dst, two, two, none, none}, engine};
#endif
}

/// The input channels [first, first + count) of a filter.
std::vector<float> sliceInputs(const Filter& filter, int first, int count) {
    const std::size_t area = filter.weights.size() / (std::size_t(filter.outChannels) * std::size_t(filter.inChannels));
    std::vector<float> slice;
    slice.reserve(std::size_t(filter.outChannels) * std::size_t(count) * area);
    for (int o = 0; o < filter.outChannels; ++o) {
        const auto begin = filter.weights.begin() + std::ptrdiff_t((std::size_t(o) * filter.inChannels + first) * area);
        slice.insert(slice.end(), begin, begin + std::ptrdiff_t(count * area));
    }
    return slice;
}

/// oneDNN names instruction sets by bit masks, each holding those that it builds on.
bool processorHas(dnnl::cpu_isa isa) {
    const auto wanted = static_cast<unsigned>(isa);
    return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & wanted) == wanted;
}

/// Turns oneDNN's exceptions into ours.
template <typename Work>
auto guarded(const Work& work) {
    try {
        return work();
    } catch (const dnnl::error& error) {
        throw Error(Area::engine, std::string("The CPU engine failed (oneDNN: ") + error.what() +
                                      "). Close other programs to free memory, or try a smaller network input.");
    }
}

}  // namespace

struct CpuNetwork::State {
    struct Step {
        dnnl::primitive primitive;
        std::unordered_map<int, memory> arguments;
    };

    State(UNet network, CpuPrecision wanted) : unet(std::move(network)), precision(wanted) {}

    UNet unet;
    CpuPrecision precision;
    Size size;
    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};
    std::vector<memory> tensors;
    memory staging;  ///< [H, W, 3] f32: what input() gives out
    std::vector<Step> steps;
    std::vector<std::string> implementations;

    [[nodiscard]] memory::data_type storage() const {
        return precision == CpuPrecision::bf16 ? memory::data_type::bf16 : memory::data_type::f32;
    }

    void allocateTensors() {
        const int head = unet.layers().back().out;
        for (std::size_t i = 0; i < unet.tensors().size(); ++i) {
            const Tensor& tensor = unet.tensors()[i];
            const Dims dims{1, tensor.channels, size.height >> tensor.level, size.width >> tensor.level};
            const auto type = int(i) == head ? memory::data_type::f32 : storage();
            tensors.emplace_back(memory::desc(dims, type, memory::format_tag::nhwc), engine);
        }
        // Both ends are f32 in either precision; only the input needs a place of its own for that.
        const memory::desc plain(tensors[0].get_desc().dims(), memory::data_type::f32, memory::format_tag::nhwc);
        staging = plain == tensors[0].get_desc() ? tensors[0] : memory(plain, engine);
        if (plain != tensors[0].get_desc()) {
            const dnnl::reorder::primitive_desc described(staging, tensors[0]);
            addStep("input", described.impl_info_str(),
                    {dnnl::reorder(described), {{DNNL_ARG_SRC, staging}, {DNNL_ARG_DST, tensors[0]}}});
        }
    }

    memory packed(const std::vector<float>& values, const Dims& dims, const memory::desc& wanted) {
        const memory::desc plain(dims, memory::data_type::f32,
                                 dims.size() == 1 ? memory::format_tag::x : memory::format_tag::oihw);
        memory source(plain, engine, const_cast<float*>(values.data())), target(wanted, engine);
        dnnl::reorder(source, target).execute(stream, source, target);
        stream.wait();
        return target;
    }

    void addStep(const std::string& name, const char* implementation, Step step) {
        implementations.push_back(name + ": " + implementation);
        steps.push_back(std::move(step));
    }

    /// One of a layer's inputs: the filter's input channels from `firstChannel` on.
    template <typename Primitive>
    void addConv(const Conv& layer, int input, int firstChannel, dnnl::algorithm algorithm, const Fused& fused) {
        const Tensor& in = unet.tensors()[std::size_t(input)];
        const memory::dim side = layer.kind == ConvKind::conv3x3 ? 3 : layer.kind == ConvKind::up2x2 ? 2 : 1;
        const memory::dim stride = layer.kind == ConvKind::up2x2 ? 2 : 1;
        const memory::dim padding = layer.kind == ConvKind::conv3x3 ? 1 : 0;
        const Dims weightDims{layer.filter.outChannels, in.channels, side, side};
        memory& src = tensors[std::size_t(input)];
        memory& dst = tensors[std::size_t(layer.out)];
        const memory::desc anyWeights(weightDims, storage(), memory::format_tag::any);
        const memory::desc bias =
            fused.addToOutput ? memory::desc()
                              : memory::desc({layer.filter.outChannels}, memory::data_type::f32, memory::format_tag::x);
        const auto described = describeConv<Primitive>(engine, algorithm, src.get_desc(), anyWeights, bias,
                                                       dst.get_desc(), stride, padding, attributes(fused));
        Step step{Primitive(described), {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}}};
        step.arguments[DNNL_ARG_WEIGHTS] =
            packed(sliceInputs(layer.filter, firstChannel, in.channels), weightDims, described.weights_desc());
        if (!fused.addToOutput) {
            step.arguments[DNNL_ARG_BIAS] = packed(layer.filter.bias, {layer.filter.outChannels}, bias);
        }
        addStep(layer.name, described.impl_info_str(), std::move(step));
    }

    void addPool(const Conv& layer) {
        memory &src = tensors[std::size_t(layer.out)], &dst = tensors[std::size_t(layer.pooled)];
        const auto described = describePool(engine, src.get_desc(), dst.get_desc());
        addStep(layer.name + ".pool", described.impl_info_str(),
                {dnnl::pooling_forward(described), {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}}});
    }

    void addLayer(const Conv& layer) {
        using Convolution = dnnl::convolution_forward;
        switch (layer.kind) {
            case ConvKind::conv3x3: {
                const bool two = layer.in1 != kNoTensor;
                addConv<Convolution>(layer, layer.in0, 0, dnnl::algorithm::convolution_direct, {.relu = !two});
                if (two) {
                    const int skipped = unet.tensors()[std::size_t(layer.in0)].channels;
                    addConv<Convolution>(layer, layer.in1, skipped, dnnl::algorithm::convolution_direct,
                                         {.addToOutput = true, .relu = true});
                }
                break;
            }
            case ConvKind::up2x2:
                addConv<dnnl::deconvolution_forward>(layer, layer.in0, 0, dnnl::algorithm::deconvolution_direct, {});
                break;
            case ConvKind::head1x1:
                addConv<Convolution>(layer, layer.in0, 0, dnnl::algorithm::convolution_direct, {.sigmoid = true});
                break;
        }
        if (layer.pooled != kNoTensor) addPool(layer);
    }
};

CpuNetwork::CpuNetwork(UNet network, CpuPrecision precision)
    : state_(guarded([&] { return std::make_unique<State>(std::move(network), precision); })) {}
CpuNetwork::~CpuNetwork() = default;
CpuNetwork::CpuNetwork(CpuNetwork&&) noexcept = default;

CpuPrecision CpuNetwork::bestPrecision() {
    return processorHas(dnnl::cpu_isa::avx512_core_amx) ? CpuPrecision::bf16 : CpuPrecision::f32;
}

bool CpuNetwork::supports(CpuPrecision precision) {
    return precision == CpuPrecision::f32 || processorHas(dnnl::cpu_isa::avx512_core_bf16);
}

std::string CpuNetwork::libraryVersion() {
    const dnnl::version_t* version = dnnl::version();
    return std::to_string(version->major) + "." + std::to_string(version->minor) + "." + std::to_string(version->patch);
}

void CpuNetwork::configure(Size size) {
    if (size == state_->size) return;
    guarded([&] {
        state_->size = {};
        state_->steps.clear();
        state_->tensors.clear();
        state_->implementations.clear();
        state_->size = size;
        state_->allocateTensors();
        for (const Conv& layer : state_->unet.layers()) state_->addLayer(layer);
    });
}

void CpuNetwork::run(std::stop_token stop) {
    guarded([&] {
        for (State::Step& step : state_->steps) {
            if (stop.stop_requested()) throw Cancelled{};
            step.primitive.execute(state_->stream, step.arguments);
        }
        state_->stream.wait();
    });
}

Size CpuNetwork::size() const {
    return state_->size;
}
float* CpuNetwork::input() {
    return static_cast<float*>(state_->staging.get_data_handle());
}
const float* CpuNetwork::alpha() const {
    return static_cast<const float*>(state_->tensors[std::size_t(state_->unet.layers().back().out)].get_data_handle());
}

std::vector<float> CpuNetwork::activation(int index) const {
    return guarded([&] {
        const memory& tensor = state_->tensors[std::size_t(index)];
        const memory::desc wanted(tensor.get_desc().dims(), memory::data_type::f32, memory::format_tag::nhwc);
        std::vector<float> values(wanted.get_size() / sizeof(float));
        memory target(wanted, state_->engine, values.data()), source = tensor;
        dnnl::reorder(source, target).execute(state_->stream, source, target);
        state_->stream.wait();
        return values;
    });
}

const std::vector<std::string>& CpuNetwork::implementations() const {
    return state_->implementations;
}
const UNet& CpuNetwork::unet() const {
    return state_->unet;
}
CpuPrecision CpuNetwork::precision() const {
    return state_->precision;
}

}  // namespace matte
