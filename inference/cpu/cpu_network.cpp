// SPDX-License-Identifier: Apache-2.0
#include "inference/cpu/cpu_network.h"

#include <chrono>
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
    bool addToOutput = false;
    memory added = {};  ///< a tensor like the output
    bool relu = false, sigmoid = false;
};

/// Where a primitive with Fused::added takes it from: its first post-operation, for none adds to its output as well.
constexpr int kAddedArgument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1;

dnnl::primitive_attr attributes(const Fused& fused) {
    dnnl::post_ops ops;
    if (fused.addToOutput) ops.append_sum(1.0F);
    if (fused.added) ops.append_binary(dnnl::algorithm::binary_add, fused.added.get_desc());
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
dnnl::convolution_forward::primitive_desc describeConv(const dnnl::engine& engine,
                                                       const memory::desc& src,
                                                       const memory::desc& weights,
                                                       const memory::desc& bias,
                                                       const memory::desc& dst,
                                                       memory::dim stride,
                                                       memory::dim padding,
                                                       const dnnl::primitive_attr& attr) {
    const Dims strides{stride, stride}, pad{padding, padding};
    constexpr auto kind = dnnl::prop_kind::forward_inference;
    constexpr auto algorithm = dnnl::algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
    return {engine, kind, algorithm, src, weights, bias, dst, strides, pad, pad, attr};
#else
    return {{kind, algorithm, src, weights, bias, dst, strides, pad, pad}, attr, engine};
#endif
}

dnnl::matmul::primitive_desc describeMatmul(const dnnl::engine& engine,
                                            const memory::desc& src,
                                            const memory::desc& weights,
                                            const memory::desc& bias,
                                            const memory::desc& dst) {
#if DNNL_VERSION_MAJOR >= 3
    return {engine, src, weights, bias, dst};
#else
    return {{src, weights, bias, dst}, engine};
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
    const auto area = std::size_t(filter.side() * filter.side());
    std::vector<float> slice;
    slice.reserve(std::size_t(filter.outChannels) * std::size_t(count) * area);
    for (int o = 0; o < filter.outChannels; ++o) {
        const auto begin = filter.weights.begin() + std::ptrdiff_t((std::size_t(o) * filter.inChannels + first) * area);
        slice.insert(slice.end(), begin, begin + std::ptrdiff_t(count * area));
    }
    return slice;
}

/// One row of a 2x2 up-sampling filter as a matrix [in, 2 x out]: the left pixel's outputs, then the right one's.
std::vector<float> upConvRow(const Filter& filter, int row) {
    const auto inputs = std::size_t(filter.inChannels), outputs = std::size_t(filter.outChannels);
    std::vector<float> matrix(inputs * 2 * outputs);
    for (std::size_t i = 0; i < inputs; ++i) {
        for (std::size_t column = 0; column < 2; ++column) {
            for (std::size_t o = 0; o < outputs; ++o) {
                matrix[(i * 2 + column) * outputs + o] =
                    filter.weights[((o * inputs + i) * 2 + std::size_t(row)) * 2 + column];
            }
        }
    }
    return matrix;
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
        std::unordered_map<int, memory> arguments = {};
        int layer = 0;  ///< index into UNet::layers(); the conversion of the input belongs to the first
        std::string implementation = {};
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
    int building = 0;  ///< the layer whose steps are being added

    [[nodiscard]] memory::data_type storage() const {
        return precision == CpuPrecision::bf16 ? memory::data_type::bf16 : memory::data_type::f32;
    }

    [[nodiscard]] memory::desc describe(int index, memory::data_type type) const {
        const Tensor& tensor = unet.tensors()[std::size_t(index)];
        const Dims dims{1, tensor.channels, size.height >> tensor.level, size.width >> tensor.level};
        return {dims, type, memory::format_tag::nhwc};
    }

    void allocateTensors() {
        const int head = unet.layers().back().out;
        for (int i = 0; i < int(unet.tensors().size()); ++i) {
            tensors.emplace_back(describe(i, i == head ? memory::data_type::f32 : storage()), engine);
        }
        // Both ends are f32 in either precision; only the input needs a place of its own for that.
        const memory::desc plain = describe(0, memory::data_type::f32);
        staging = plain == tensors[0].get_desc() ? tensors[0] : memory(plain, engine);
        if (plain != tensors[0].get_desc()) {
            const dnnl::reorder::primitive_desc described(staging, tensors[0]);
            addStep("input", described.impl_info_str(),
                    {dnnl::reorder(described), {{DNNL_ARG_SRC, staging}, {DNNL_ARG_DST, tensors[0]}}});
        }
    }

    /// `values`, laid out as `plain` says, in the layout and type that a primitive wants.
    memory packed(const std::vector<float>& values, const memory::desc& plain, const memory::desc& wanted) {
        memory source(plain, engine, const_cast<float*>(values.data())), target(wanted, engine);
        dnnl::reorder(source, target).execute(stream, source, target);
        stream.wait();
        return target;
    }

    void addStep(const std::string& name, const char* implementation, Step step) {
        implementations.push_back(name + ": " + implementation);
        step.layer = building;
        step.implementation = implementation;
        steps.push_back(std::move(step));
    }

    /// One of a layer's inputs: the filter's input channels from `firstChannel` on.
    void addConv(const Conv& layer, int input, int firstChannel, const Fused& fused) {
        const Tensor& in = unet.tensors()[std::size_t(input)];
        const memory::dim side = layer.filter.side(), outputs = layer.filter.outChannels;
        const bool depthwise = layer.kind == ConvKind::depthwise;
        memory& src = tensors[std::size_t(input)];
        memory& dst = tensors[std::size_t(layer.out)];
        const Dims dims = depthwise ? Dims{outputs, 1, 1, side, side} : Dims{outputs, in.channels, side, side};
        const memory::desc plain(dims, memory::data_type::f32,
                                 depthwise ? memory::format_tag::goihw : memory::format_tag::oihw);
        const memory::desc any(dims, storage(), memory::format_tag::any);
        const memory::desc bias({outputs}, memory::data_type::f32, memory::format_tag::x);
        const auto described = describeConv(engine, src.get_desc(), any, fused.addToOutput ? memory::desc() : bias,
                                            dst.get_desc(), layer.stride, side / 2, attributes(fused));
        Step step{dnnl::convolution_forward(described), {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}}};
        if (fused.added) step.arguments[kAddedArgument] = fused.added;
        step.arguments[DNNL_ARG_WEIGHTS] =
            packed(depthwise ? layer.filter.weights : sliceInputs(layer.filter, firstChannel, in.channels), plain,
                   described.weights_desc());
        if (!fused.addToOutput) step.arguments[DNNL_ARG_BIAS] = packed(layer.filter.bias, bias, bias);
        addStep(layer.name, described.impl_info_str(), std::move(step));
    }

    /// The 2x2 transposed convolution as two matrix products, for the even and for the odd output rows: of each, the
    /// two pixels that one input pixel gives lie side by side, so that a product of twice the channels writes them in
    /// place. oneDNN's own takes more than twice as long.
    void addUpConv(const Conv& layer) {
        const Tensor& in = unet.tensors()[std::size_t(layer.in0)];
        const memory::dim height = size.height >> in.level, width = size.width >> in.level;
        const memory::dim inputs = in.channels, outputs = layer.filter.outChannels;
        memory &src = tensors[std::size_t(layer.in0)], &dst = tensors[std::size_t(layer.out)];
        const memory::desc rows({height, width, inputs}, storage(), memory::format_tag::abc);
        const memory::desc twice({height, width, 2 * outputs}, storage(),
                                 Dims{4 * width * outputs, 2 * outputs, 1});  // every other output row
        const memory::desc bias({1, 1, 2 * outputs}, memory::data_type::f32, memory::format_tag::abc);
        const memory::desc plain({1, inputs, 2 * outputs}, memory::data_type::f32, memory::format_tag::abc);
        const memory::desc any({1, inputs, 2 * outputs}, storage(), memory::format_tag::any);
        const std::size_t rowBytes = dst.get_desc().get_size() / std::size_t(2 * height);
        std::vector<float> doubled = layer.filter.bias;
        doubled.insert(doubled.end(), layer.filter.bias.begin(), layer.filter.bias.end());
        const auto described = describeMatmul(engine, rows, any, bias, twice);
        for (int odd = 0; odd < 2; ++odd) {
            auto* first = static_cast<std::byte*>(dst.get_data_handle()) + std::size_t(odd) * rowBytes;
            Step step{dnnl::matmul(described),
                      {{DNNL_ARG_SRC, memory(rows, engine, src.get_data_handle())},
                       {DNNL_ARG_DST, memory(twice, engine, first)}}};
            step.arguments[DNNL_ARG_WEIGHTS] = packed(upConvRow(layer.filter, odd), plain, described.weights_desc());
            step.arguments[DNNL_ARG_BIAS] = packed(doubled, bias, bias);
            addStep(layer.name, described.impl_info_str(), std::move(step));
        }
    }

    void addPool(const Conv& layer) {
        memory &src = tensors[std::size_t(layer.out)], &dst = tensors[std::size_t(layer.pooled)];
        const auto described = describePool(engine, src.get_desc(), dst.get_desc());
        addStep(layer.name + ".pool", described.impl_info_str(),
                {dnnl::pooling_forward(described), {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}}});
    }

    void addLayer(const Conv& layer) {
        switch (layer.kind) {
            case ConvKind::conv3x3: {
                const bool two = layer.in1 != kNoTensor;
                addConv(layer, layer.in0, 0, {.relu = !two});
                const int skipped = unet.tensors()[std::size_t(layer.in0)].channels;
                if (two) addConv(layer, layer.in1, skipped, {.addToOutput = true, .relu = true});
                break;
            }
            case ConvKind::up2x2: addUpConv(layer); break;
            case ConvKind::head1x1: addConv(layer, layer.in0, 0, {.sigmoid = true}); break;
            case ConvKind::depthwise: addConv(layer, layer.in0, 0, {.relu = true}); break;
            case ConvKind::pointwise: {
                const memory added = layer.added == kNoTensor ? memory() : tensors[std::size_t(layer.added)];
                addConv(layer, layer.in0, 0, {.added = added, .relu = layer.relu});
                break;
            }
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

std::string CpuNetwork::name() const {
    return "oneDNN " + libraryVersion() + (precision() == CpuPrecision::bf16 ? ", bf16" : ", f32");
}

std::vector<std::string> CpuNetwork::warnings() const {
    std::vector<std::string> warnings;
    for (const std::string& line : implementations()) {
        if (line.find(": ref") == std::string::npos) continue;
        warnings.push_back("Slow: oneDNN has only a reference implementation for " + line + " on this processor.");
    }
    return warnings;
}

namespace {

/// oneDNN does not look whether it got memory for what it compiles, be it at the first run only, and crashes. Throws
/// std::bad_alloc where the system has less address space left than the layers and the team's threads take.
void requireMemory() {
    constexpr std::size_t kBytes = std::size_t(256) << 20;
    void* volatile memory = ::operator new(kBytes);  // no page of it is touched
    ::operator delete(memory);
}

}  // namespace

void CpuNetwork::configure(Size size) {
    if (size == state_->size) return;
    try {
        guarded([&] {
            state_->steps.clear();
            state_->tensors.clear();
            state_->implementations.clear();
            state_->building = 0;
            state_->size = size;
            state_->allocateTensors();
            const auto& layers = state_->unet.layers();
            for (int i = 0; i < int(layers.size()); ++i) {
                state_->building = i;
                requireMemory();
                state_->addLayer(layers[std::size_t(i)]);
            }
            requireMemory();
        });
    } catch (...) {
        state_->size = {};  // half a network must not pass for one that is built
        throw;
    }
}

void CpuNetwork::run(std::stop_token stop, std::vector<float>* layerMs) {
    if (layerMs) layerMs->assign(state_->unet.layers().size(), 0.0F);
    guarded([&] {
        auto begin = std::chrono::steady_clock::now();
        for (State::Step& step : state_->steps) {
            stopIfAsked(stop);
            step.primitive.execute(state_->stream, step.arguments);
            if (!layerMs) continue;
            state_->stream.wait();
            const auto end = std::chrono::steady_clock::now();
            (*layerMs)[std::size_t(step.layer)] += std::chrono::duration<float, std::milli>(end - begin).count();
            begin = end;
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
        const memory::desc wanted = state_->describe(index, memory::data_type::f32);
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
std::string CpuNetwork::implementation(int layer) const {
    std::string names;
    for (const State::Step& step : state_->steps) {
        if (step.layer == layer) names += (names.empty() ? "" : ", ") + step.implementation;
    }
    return names;
}
const UNet& CpuNetwork::unet() const {
    return state_->unet;
}
CpuPrecision CpuNetwork::precision() const {
    return state_->precision;
}

}  // namespace matte
