// SPDX-License-Identifier: Apache-2.0
#include "inference/cpu/onednn.h"

#include <omp.h>

namespace matte::onednn {

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
    if (fused.tanh) activation(dnnl::algorithm::eltwise_tanh);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(ops);
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return attributes;
}

// oneDNN 2 describes an operation first and 3 no longer does.
dnnl::convolution_forward::primitive_desc describeConv(const dnnl::engine& engine,
                                                       const memory::desc& src,
                                                       const memory::desc& weights,
                                                       const memory::desc& bias,
                                                       const memory::desc& dst,
                                                       memory::dim stride,
                                                       const Dims& before,
                                                       const Dims& after,
                                                       const dnnl::primitive_attr& attr) {
    const Dims strides{stride, stride};
    constexpr auto kind = dnnl::prop_kind::forward_inference;
    constexpr auto algorithm = dnnl::algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
    return {engine, kind, algorithm, src, weights, bias, dst, strides, before, after, attr};
#else
    return {{kind, algorithm, src, weights, bias, dst, strides, before, after}, attr, engine};
#endif
}

dnnl::matmul::primitive_desc describeMatmul(const dnnl::engine& engine,
                                            const memory::desc& src,
                                            const memory::desc& weights,
                                            const memory::desc& bias,
                                            const memory::desc& dst) {
#if DNNL_VERSION_MAJOR >= 3
    return {engine, src, weights, bias, dst, attributes({})};
#else
    return {{src, weights, bias, dst}, attributes({}), engine};
#endif
}

dnnl::pooling_forward::primitive_desc describePool(const dnnl::engine& engine,
                                                   const memory::desc& src,
                                                   const memory::desc& dst) {
    const Dims two{2, 2}, none{0, 0};
    constexpr auto kind = dnnl::prop_kind::forward_inference;
    constexpr auto algorithm = dnnl::algorithm::pooling_max;
#if DNNL_VERSION_MAJOR >= 3
    return {engine, kind, algorithm, src, dst, two, two, none, none, none, attributes({})};
#else
    return {{kind, algorithm, src, dst, two, two, none, none}, attributes({}), engine};
#endif
}

memory::data_type typeOf(const memory::desc& described) {
#if DNNL_VERSION_MAJOR >= 3
    return described.get_data_type();
#else
    return described.data_type();
#endif
}

bool processorHas(dnnl::cpu_isa isa) {
    // They are bit masks, each holding those of the sets that it builds on.
    const auto wanted = static_cast<unsigned>(isa);
    return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & wanted) == wanted;
}

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

void requireMemory() {
    constexpr std::size_t kBytes = std::size_t(256) << 20;
    void* volatile memory = ::operator new(kBytes);  // no page of it is touched
    ::operator delete(memory);
}

OneThread::OneThread() : before_(omp_get_max_threads()) {
    omp_set_num_threads(1);
}
OneThread::~OneThread() {
    omp_set_num_threads(before_);
}

}  // namespace matte::onednn
