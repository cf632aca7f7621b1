// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/network_bench.h"

#include <cuda_fp16.h>

#include <random>

namespace matte {
namespace {

constexpr int kWarmUps = 5;

/// Noise of -2 to 2, as a normalised picture has; five channels of zeros behind the three.
void fillInput(const CudaNetwork& network, ConvKernel kernel) {
    std::minstd_rand random(1);
    std::uniform_real_distribution<float> noise(-2, 2);
    std::vector<float> values(network.size().pixels() * 8, 0.0F);
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i % 8 < 3) values[i] = noise(random);
    }
    std::vector<__half> halves;
    halves.reserve(values.size());
    for (const float value : values) halves.push_back(__float2half_rn(value));
    const void* from = kernel == ConvKernel::fp32 ? static_cast<const void*>(values.data()) : halves.data();
    CUDA_CHECK(
        cudaMemcpy(network.input(), from, values.size() * std::size_t(valueBytes(kernel)), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));
}

}  // namespace

NetworkTimes timeNetwork(const std::shared_ptr<const CudaWeights>& weights,
                         Size size,
                         const CudaNetwork::Choose& choose,
                         int runs) {
    CudaNetwork network(weights, choose);
    network.configure(size);
    fillInput(network, weights->kernel());
    const Stream stream;
    network.forward(stream.get());
    stream.wait();
    const std::size_t layers = weights->unet().layers().size();
    const Event begin, end;
    const std::vector<Event> after(layers);
    const Graph plain(stream.get(), [&] { network.forward(stream.get()); });
    const Graph timed(stream.get(), [&] {
        begin.record(stream.get());
        network.forward(stream.get(), [&](int layer) { after[std::size_t(layer)].record(stream.get()); });
    });
    NetworkTimes times;
    times.kernels = network.choices();
    times.deviceBytes = network.deviceBytes();
    times.layerMs.resize(layers);
    for (int run = -kWarmUps; run < runs; ++run) {
        begin.record(stream.get());
        plain.launch(stream.get());
        end.record(stream.get());
        end.wait();
        if (run >= 0) times.ms.push_back(double(end.msSince(begin)));
    }
    for (int run = -kWarmUps; run < runs; ++run) {
        timed.launch(stream.get());
        stream.wait();
        for (std::size_t i = 0; run >= 0 && i < layers; ++i) {
            times.layerMs[i].push_back(double(after[i].msSince(i == 0 ? begin : after[i - 1])));
        }
    }
    return times;
}

}  // namespace matte
