// SPDX-License-Identifier: Apache-2.0
#include "inference/cpu/cpu_network.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <span>
#include <utility>

#include "inference/core/error.h"
#include "inference/core/parallel.h"
#include "inference/cpu/conv_gru.h"
#include "inference/cpu/onednn.h"
#include "inference/cpu/rows.h"
#include "inference/cpu/task_graph.h"
#include "inference/model/layer_cost.h"

namespace matte {
namespace {

using namespace onednn;

/// Minimum work per task, so that the cost of scheduling is negligible.
constexpr double kTaskFlops = 1.5e6;
/// Tasks per layer and thread: more than one, so that other threads can take over from a late one.
constexpr int kTasksPerThread = 2;

/// Turns oneDNN's exceptions into ours.
template <typename Work>
auto translated(const Work& work) {
    try {
        return work();
    } catch (const dnnl::error& error) {
        throw Error(ErrorCategory::engine,
                    std::string("The CPU engine failed (oneDNN: ") + error.what() +
                        "). Close other programs to free memory, or try a smaller network input.");
    }
}

}  // namespace

// The network's layers as tasks, each for some rows of one layer.
struct CpuNetwork::State : TaskGraph {
    /// Filters in the layouts that primitives wanted so far.
    using Packed = std::vector<std::pair<memory::desc, memory>>;

    State(UNet network, CpuPrecision wanted) : unet(std::move(network)), precision(wanted) {}

    UNet unet;
    CpuPrecision precision;
    Size size;
    std::vector<memory> tensors;
    memory staging;           ///< [H, W, 3] f32: what input() gives out
    std::span<float> states;  ///< of all cells, one after another

    [[nodiscard]] memory::data_type storage() const {
        return precision == CpuPrecision::bf16 ? memory::data_type::bf16 : memory::data_type::f32;
    }
    [[nodiscard]] int heightOf(int index) const { return size.height >> unet.tensors()[std::size_t(index)].level; }

    [[nodiscard]] memory::desc describe(int index, memory::data_type type, int height) const {
        const Tensor& tensor = unet.tensors()[std::size_t(index)];
        return {{1, tensor.channels, height, size.width >> tensor.level}, type, memory::format_tag::nhwc};
    }
    /// Some rows of `whole`, an activation, in place.
    [[nodiscard]] memory view(const memory& whole, int index, Rows rows) const {
        const memory::desc all = whole.get_desc();
        const std::size_t rowBytes = all.get_size() / std::size_t(heightOf(index));
        auto* first = static_cast<std::byte*>(whole.get_data_handle()) + std::size_t(rows.first) * rowBytes;
        return {describe(index, typeOf(all), rows.count()), engine, first};
    }
    [[nodiscard]] memory view(int index, Rows rows) const { return view(tensors[std::size_t(index)], index, rows); }

    void allocateTensors() {
        std::set<int> floats{unet.layers().back().out};
        for (const ConvGru& cell : unet.cells()) floats.insert({cell.input, cell.gates, cell.reset, cell.candidate});
        tensors.resize(unet.tensors().size());
        allocateStates();
        for (int i = 0; i < int(tensors.size()); ++i) {
            memory& tensor = tensors[std::size_t(i)];
            const auto type = floats.contains(i) ? memory::data_type::f32 : storage();
            if (!tensor) tensor = allocate(describe(i, type, heightOf(i)));
        }
        writers.resize(tensors.size());
        // Both ends are f32 in either precision; only the input needs a place of its own for that.
        const memory::desc plain = describe(0, memory::data_type::f32, size.height);
        staging = plain == tensors[0].get_desc() ? tensors[0] : allocate(plain);
        if (plain == tensors[0].get_desc()) return;
        const int parts = std::min(kTasksPerThread * workers, size.height);
        for (int part = 0; part < parts; ++part) {
            const Rows rows = regionOf(size.height, parts, part, 1);
            Task& task = begin(0);
            const memory from = view(staging, 0, rows), to = view(0, rows);
            const dnnl::reorder::primitive_desc described(from, to, attributes({}));
            call(task, "input", described, dnnl::reorder(described), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
            write(0, rows);
        }
    }

    /// In one block, zero before the first frame.
    void allocateStates() {
        std::size_t values = 0;
        std::vector<std::size_t> offsets;
        const auto described = [&](const ConvGru& cell) {
            return describe(cell.state, memory::data_type::f32, heightOf(cell.state));
        };
        for (const ConvGru& cell : unet.cells()) {
            offsets.push_back(values);
            values += described(cell).get_size() / sizeof(float);
        }
        if (values == 0) return;
        auto* first = reinterpret_cast<float*>(buffers.emplace_back(values * sizeof(float)).data());
        states = {first, values};
        std::ranges::fill(states, 0.0F);
        for (std::size_t i = 0; i < offsets.size(); ++i) {
            const ConvGru& cell = unet.cells()[i];
            tensors[std::size_t(cell.state)] = memory(described(cell), engine, first + offsets[i]);
        }
    }

    /// `values`, laid out as `plain` says, in the layout and type that a primitive wants.
    memory packed(const std::vector<float>& values, const memory::desc& plain, const memory::desc& wanted) {
        memory source(plain, engine, const_cast<float*>(values.data())), target = allocate(wanted);
        dnnl::reorder(source, target).execute(stream, source, target);
        stream.wait();
        return target;
    }
    const memory& packedOnce(Packed& known,
                             const std::vector<float>& values,
                             const memory::desc& plain,
                             const memory::desc& wanted) {
        for (const auto& [layout, filter] : known) {
            if (layout == wanted) return filter;
        }
        return known.emplace_back(wanted, packed(values, plain, wanted)).second;
    }

    /// A filter as one of a layer's primitives reads it.
    struct Weights {
        int input;  ///< the tensor
        Dims dims;
        memory::format_tag tag;
        std::vector<float> values;
        Packed layouts = {};
    };
    [[nodiscard]] Weights weightsOf(const Conv& layer, int input, int firstChannel) const {
        const int side = layer.filter.side(), outputs = layer.filter.outChannels;
        if (layer.kind == ConvKind::depthwise) {
            return {input, {outputs, 1, 1, side, side}, memory::format_tag::goihw, layer.filter.weights};
        }
        const int channels = unet.tensors()[std::size_t(input)].channels;
        return {input,
                {outputs, channels, side, side},
                memory::format_tag::oihw,
                sliceInputs(layer.filter, firstChannel, channels)};
    }

    /// Some output rows of a convolution of one of the layer's inputs.
    void addConv(Task& task, const Conv& layer, Weights& weights, const memory& bias, Rows rows, const Fused& fused) {
        const int side = layer.filter.side();
        const Window window(rows, side, layer.stride, heightOf(weights.input));
        const memory src = view(weights.input, window.rows), dst = view(layer.out, rows);
        const memory::desc plain(weights.dims, memory::data_type::f32, weights.tag);
        const memory::desc any(weights.dims, typeOf(src.get_desc()), memory::format_tag::any);
        const auto described =
            describeConv(engine, src.get_desc(), any, bias ? bias.get_desc() : memory::desc(), dst.get_desc(),
                         layer.stride, {window.above, side / 2}, {window.below, side / 2}, attributes(fused));
        std::vector<std::pair<int, memory>> arguments;
        arguments.reserve(5);
        arguments.emplace_back(DNNL_ARG_SRC, src);
        arguments.emplace_back(DNNL_ARG_DST, dst);
        arguments.emplace_back(DNNL_ARG_WEIGHTS,
                               packedOnce(weights.layouts, weights.values, plain, described.weights_desc()));
        if (bias) arguments.emplace_back(DNNL_ARG_BIAS, bias);
        call(task, layer.name, described, dnnl::convolution_forward(described), std::move(arguments));
        read(weights.input, window.rows);
    }

    /// The 2x2 transposed convolution as two matrix products, for the even and for the odd output rows: of each, the
    /// two pixels that one input pixel gives lie side by side, so that a product of twice the channels writes them in
    /// place. oneDNN's own takes more than twice as long.
    void addUpConv(const Conv& layer, int index, int parts) {
        const Tensor& in = unet.tensors()[std::size_t(layer.in0)];
        const int height = heightOf(layer.in0);
        const memory::dim width = size.width >> in.level, inputs = in.channels, outputs = layer.filter.outChannels;
        std::vector<float> doubled = layer.filter.bias;
        doubled.insert(doubled.end(), layer.filter.bias.begin(), layer.filter.bias.end());
        const memory::desc bias({1, 1, 2 * outputs}, memory::data_type::f32, memory::format_tag::abc);
        const memory::desc plain({1, inputs, 2 * outputs}, memory::data_type::f32, memory::format_tag::abc);
        const memory::desc any({1, inputs, 2 * outputs}, storage(), memory::format_tag::any);
        const memory biases = packed(doubled, bias, bias);
        const std::vector<float> matrices[2] = {upConvRow(layer.filter, 0), upConvRow(layer.filter, 1)};
        Packed layouts[2];
        for (int part = 0; part < parts; ++part) {
            const Rows rows = regionOf(height, parts, part, 1), twice{2 * rows.first, 2 * rows.last};
            Task& task = begin(index);
            const memory src = view(layer.in0, rows), dst = view(layer.out, twice);
            const memory::desc from({rows.count(), width, inputs}, storage(), memory::format_tag::abc);
            const memory::desc everyOther({rows.count(), width, 2 * outputs}, storage(),
                                          Dims{4 * width * outputs, 2 * outputs, 1});
            const auto described = describeMatmul(engine, from, any, bias, everyOther);
            const std::size_t rowBytes = dst.get_desc().get_size() / std::size_t(twice.count());
            for (int odd = 0; odd < 2; ++odd) {
                auto* first = static_cast<std::byte*>(dst.get_data_handle()) + std::size_t(odd) * rowBytes;
                call(task, layer.name, described, dnnl::matmul(described),
                     {{DNNL_ARG_SRC, memory(from, engine, src.get_data_handle())},
                      {DNNL_ARG_DST, memory(everyOther, engine, first)},
                      {DNNL_ARG_WEIGHTS, packedOnce(layouts[odd], matrices[odd], plain, described.weights_desc())},
                      {DNNL_ARG_BIAS, biases}});
            }
            read(layer.in0, rows);
            write(layer.out, twice);
        }
    }

    /// What the layer adds to.
    void addCopy(Task& task, const Conv& layer, Rows rows) {
        const memory from = view(layer.added, rows), to = view(layer.out, rows);
        const dnnl::reorder::primitive_desc described(from, to, attributes({}));
        call(task, layer.name + ".added", described, dnnl::reorder(described),
             {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
        read(layer.added, rows);
    }

    void addPool(Task& task, const Conv& layer, Rows rows) {
        const Rows pooled{rows.first / 2, rows.last / 2};
        const memory src = view(layer.out, rows), dst = view(layer.pooled, pooled);
        const auto described = describePool(engine, src.get_desc(), dst.get_desc());
        call(task, layer.name + ".pool", described, dnnl::pooling_forward(described),
             {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}});
        write(layer.pooled, pooled);
    }

    /// `rows` of a tensor, in place.
    template <typename Value>
    [[nodiscard]] Value* at(int tensor, Rows rows) const {
        return static_cast<Value*>(view(tensor, rows).get_data_handle());
    }

    /// What a cell's convolutions read of the level's output.
    template <typename Value>
    void addCellInput(const Conv& layer, int index, int parts) {
        const ConvGru& cell = *unet.cellOf(layer);
        const int half = unet.tensors()[std::size_t(cell.input)].channels;
        for (int part = 0; part < parts; ++part) {
            const Rows rows = regionOf(heightOf(cell.in), parts, part, 1);
            const auto* x = at<Value>(cell.in, rows);
            auto* input = at<float>(cell.input, rows);
            const std::size_t pixels = pixelsOf(cell.in, rows);
            step(begin(index), [=] { gru::takeInput(x, pixels, half, input); });
            read(cell.in, rows);
            write(cell.input, rows);
        }
    }

    /// What follows some rows of a cell's convolution. The state is replaced in place: who still reads the old one
    /// calculates the gates of these rows or of those beside them, for which the candidate's convolution has waited.
    template <typename Value>
    void addCellStep(Task& task, const Conv& layer, Rows rows) {
        const ConvGru& cell = *unet.cellOf(layer);
        const int half = unet.tensors()[std::size_t(cell.input)].channels;
        const std::size_t pixels = pixelsOf(cell.in, rows);
        const auto* gates = at<float>(cell.gates, rows);
        auto* state = at<float>(cell.state, rows);
        if (unet.isGates(layer)) {
            auto* reset = at<float>(cell.reset, rows);
            step(task, [=] { gru::resetState(gates, state, pixels, half, reset); });
            return write(cell.reset, rows);
        }
        const auto* candidate = at<float>(cell.candidate, rows);
        const auto* x = at<Value>(cell.in, rows);
        auto* y = at<Value>(cell.out, rows);
        step(task, [=] { gru::updateState(gates, candidate, x, pixels, half, state, y); });
        read(cell.in, rows);
        read(cell.gates, rows);
        write(cell.out, rows);
    }

    [[nodiscard]] std::size_t pixelsOf(int tensor, Rows rows) const {
        return std::size_t(rows.count()) * std::size_t(size.width >> unet.tensors()[std::size_t(tensor)].level);
    }

    void addLayer(int index) {
        const Conv& layer = unet.layers()[std::size_t(index)];
        const int unit = layer.pooled != kNoTensor ? 2 : 1;
        const int height = heightOf(layer.kind == ConvKind::up2x2 ? layer.in0 : layer.out);
        const int parts = std::clamp(int(layerFlops(unet, layer, size) / kTaskFlops), 1,
                                     std::max(1, std::min(kTasksPerThread * workers, height / unit)));
        if (layer.kind == ConvKind::up2x2) return addUpConv(layer, index, parts);
        const memory::desc biasLayout({layer.filter.outChannels}, memory::data_type::f32, memory::format_tag::x);
        const memory bias = packed(layer.filter.bias, biasLayout, biasLayout);
        std::vector<Weights> weights{weightsOf(layer, layer.in0, 0)};
        if (layer.in1 != kNoTensor) {
            weights.push_back(weightsOf(layer, layer.in1, unet.tensors()[std::size_t(layer.in0)].channels));
        }
        const bool bf16 = precision == CpuPrecision::bf16;
        if (unet.isGates(layer)) {
            bf16 ? addCellInput<gru::Bfloat16>(layer, index, parts) : addCellInput<float>(layer, index, parts);
        }
        for (int part = 0; part < parts; ++part) {
            const Rows rows = regionOf(height, parts, part, unit);
            Task& task = begin(index);
            if (layer.added != kNoTensor) addCopy(task, layer, rows);
            for (std::size_t i = 0; i < weights.size(); ++i) {
                Fused fused{.addToOutput = i > 0 || layer.added != kNoTensor};
                const bool last = i + 1 == weights.size();
                fused.relu = last && layer.relu && layer.kind != ConvKind::head1x1;
                fused.sigmoid = last && (layer.kind == ConvKind::head1x1 || unet.isGates(layer));
                fused.tanh = last && unet.cellOf(layer) && !unet.isGates(layer);
                addConv(task, layer, weights[i], i == 0 ? bias : memory(), rows, fused);
            }
            write(layer.out, rows);
            if (layer.pooled != kNoTensor) addPool(task, layer, rows);
            if (layer.cell == kNoCell) continue;
            bf16 ? addCellStep<gru::Bfloat16>(task, layer, rows) : addCellStep<float>(task, layer, rows);
        }
    }

    void build(Size wanted) {
        const OneThread one;
        clear();
        tensors.clear();
        states = {};
        size = wanted;
        allocateTensors();
        for (int i = 0; i < int(unet.layers().size()); ++i) {
            requireMemory();
            addLayer(i);
        }
        bind();
        requireMemory();
    }
};

CpuNetwork::CpuNetwork(UNet network, CpuPrecision precision)
    : state_(translated([&] { return std::make_unique<State>(std::move(network), precision); })) {}
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

void CpuNetwork::configure(Size size) {
    if (size == state_->size && threads() == state_->workers) return;
    try {
        translated([&] { state_->build(size); });
    } catch (...) {
        state_->size = {};  // a partly built network must not count as configured
        throw;
    }
}

void CpuNetwork::run(std::stop_token stop, std::vector<float>* layerMs) {
    const auto begin = std::chrono::steady_clock::now();
    translated([&] { state_->run(layerMs != nullptr, stop); });
    stopIfAsked(stop);
    if (!layerMs) return;
    const float ms = std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - begin).count();
    layerMs->assign(state_->unet.layers().size(), 0.0F);
    float sum = 0;
    for (std::size_t i = 0; i < state_->tasks.size(); ++i) {
        (*layerMs)[std::size_t(state_->tasks[i].layer)] += state_->taskMs[i];
        sum += state_->taskMs[i];
    }
    for (float& layer : *layerMs) layer *= ms / sum;
}

void CpuNetwork::checkMemory() {
    state_->checked = true;
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

std::span<float> CpuNetwork::state() {
    return state_->states;
}

std::vector<float> CpuNetwork::activation(int index) const {
    return translated([&] {
        const memory& tensor = state_->tensors[std::size_t(index)];
        const memory::desc wanted = state_->describe(index, memory::data_type::f32, state_->heightOf(index));
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
    const std::string prefix = state_->unet.layers()[std::size_t(layer)].name + ": ";
    std::string names;
    for (const std::string& line : implementations()) {
        if (line.starts_with(prefix)) names += (names.empty() ? "" : ", ") + line.substr(prefix.size());
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
