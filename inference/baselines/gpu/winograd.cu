// SPDX-License-Identifier: Apache-2.0
// Baseline 6 of the GPU: Winograd's minimal filtering F(2x2, 3x3) (Lavin, Gray, "Fast Algorithms for Convolutional
// Neural Networks", 2015). 2x2 output pixels take a 4x4 tile of the input; both the tile and the filter are transformed
// to 16 numbers, multiplied number by number, and the products, summed over the channels, transformed back: 16
// multiplications for four pixels instead of 36. For all tiles at once these are 16 matrix products [out, in] x [in,
// tiles].
#include <algorithm>

#include "inference/baselines/gpu/gemm.cuh"

namespace matte::baselines {
namespace {

constexpr int kThreads = 128;
constexpr std::size_t kWorkspace = std::size_t(96) << 20;  // floats: 384 MiB for both sides of the products

/// 16 matrices [out, in]: G g G' of each filter, in double precision.
std::vector<float> transformedFilter(const Filter& filter) {
    const std::size_t matrix = std::size_t(filter.outChannels) * filter.inChannels;
    std::vector<float> all(16 * matrix);
    const double by[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};  // G
    for (std::size_t i = 0; i < 16 * matrix; ++i) {
        const auto &down = by[i / matrix / 4], &along = by[i / matrix % 4];
        double sum = 0;
        for (int tap = 0; tap < 9; ++tap) sum += down[tap / 3] * along[tap % 3] * filter.weights[i % matrix * 9 + tap];
        all[i] = float(sum);
    }
    return all;
}

struct Tiles {
    int channels, height, width;  ///< of the picture
    int across, perImage;         ///< tiles of 2x2 output pixels
    int first, count, pitch;      ///< of the strip; `pitch` floats from a channel to the next
    std::size_t matrix;           ///< floats from one of the 16 to the next
};

/// B' d B of one tile and one channel a thread.
__global__ void inputKernel(const float* in, float* to, const __grid_constant__ Tiles t) {
    const int q = int(blockIdx.x) * kThreads + int(threadIdx.x), channel = int(blockIdx.y);
    if (q >= t.count) return;
    const int tile = (t.first + q) % t.perImage, image = (t.first + q) / t.perImage;
    const int y = tile / t.across * 2 - 1, x = tile % t.across * 2 - 1;
    const float* plane = in + (std::size_t(image) * t.channels + channel) * t.height * t.width;
    float half[4][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {  // column i of the tile
        float d[4];
        for (int j = 0; j < 4; ++j) {
            const bool inside = y + j >= 0 && y + j < t.height && x + i >= 0 && x + i < t.width;
            d[j] = inside ? plane[std::size_t(y + j) * t.width + x + i] : 0.0F;
        }
        half[0][i] = d[0] - d[2], half[1][i] = d[1] + d[2], half[2][i] = d[2] - d[1], half[3][i] = d[1] - d[3];
    }
    to += std::size_t(channel) * t.pitch + q;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float* d = half[i];
        to[(4 * i + 0) * t.matrix] = d[0] - d[2];
        to[(4 * i + 1) * t.matrix] = d[1] + d[2];
        to[(4 * i + 2) * t.matrix] = d[2] - d[1];
        to[(4 * i + 3) * t.matrix] = d[1] - d[3];
    }
}

/// A' m A, the bias and the ReLU: 2x2 pixels of one output channel a thread.
__global__ void outputKernel(
    const float* from, const float* bias, float* out, bool relu, const __grid_constant__ Tiles t) {
    const int q = int(blockIdx.x) * kThreads + int(threadIdx.x), channel = int(blockIdx.y);
    if (q >= t.count) return;
    const int tile = (t.first + q) % t.perImage, image = (t.first + q) / t.perImage;
    from += std::size_t(channel) * t.pitch + q;
    float half[2][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float a = from[i * t.matrix], b = from[(4 + i) * t.matrix], c = from[(8 + i) * t.matrix],
                    d = from[(12 + i) * t.matrix];
        half[0][i] = a + b + c, half[1][i] = b - c - d;
    }
    float* plane = out + (std::size_t(image) * gridDim.y + channel) * t.height * t.width;
    for (int j = 0; j < 2; ++j) {
        const float pair[2] = {half[j][0] + half[j][1] + half[j][2], half[j][1] - half[j][2] - half[j][3]};
        const int y = tile / t.across * 2 + j;
        for (int i = 0; i < 2; ++i) {
            const int x = tile % t.across * 2 + i;
            const float value = pair[i] + bias[channel];
            if (y < t.height && x < t.width) plane[std::size_t(y) * t.width + x] = relu ? fmaxf(value, 0.0F) : value;
        }
    }
}

class Winograd final : public Layer {
public:
    Winograd(const Block& block, const Shape& shape) : shape_(shape), relu_(block.relu) {
        const Filter filter = folded(block);
        outChannels_ = filter.outChannels;
        weights_ = uploaded(transformedFilter(filter));
        bias_ = uploaded(filter.bias);
        tiles_ = {shape.channels, shape.height, shape.width, (shape.width + 1) / 2, 0, 0, 0, 0, 0};
        tiles_.perImage = tiles_.across * ((shape.height + 1) / 2);
        const int perTile = 16 * (shape.channels + outChannels_);
        tiles_.pitch = std::min(tiles_.perImage * shape.batch, std::max(int(kWorkspace / std::size_t(perTile)), 128));
        transformed_ = DeviceBuffer(std::size_t(16 * shape.channels) * tiles_.pitch * sizeof(float));
        products_ = DeviceBuffer(std::size_t(16 * outChannels_) * tiles_.pitch * sizeof(float));
    }

    void run(int, const float* in, float* out, StreamHandle stream) override {
        Tiles from = tiles_, to = tiles_;
        from.matrix = std::size_t(shape_.channels) * tiles_.pitch;
        to.matrix = std::size_t(outChannels_) * tiles_.pitch;
        Product product{};  // 16 of them, each [out, in] x [in, tiles]
        product.a = weights_.as<float>(), product.b = transformed_.as<float>(), product.c = products_.as<float>();
        product.rows = outChannels_, product.depth = shape_.channels;
        product.pitchB = product.pixels = tiles_.pitch, product.rowFloats = std::size_t(tiles_.pitch);
        product.strideA = std::size_t(outChannels_) * shape_.channels;
        product.strideB = from.matrix, product.strideC = to.matrix;
        const int all = tiles_.perImage * shape_.batch;
        for (int first = 0; first < all; first += tiles_.pitch) {
            from.first = to.first = first;
            from.count = to.count = product.columns = std::min(tiles_.pitch, all - first);
            const unsigned blocks = blocksFor(std::size_t(from.count), kThreads);
            inputKernel<<<dim3(blocks, unsigned(shape_.channels)), kThreads, 0, stream>>>(in, transformed_.as<float>(),
                                                                                          from);
            CUDA_CHECK(cudaGetLastError());
            launchProduct(product, 16, stream);
            outputKernel<<<dim3(blocks, unsigned(outChannels_)), kThreads, 0, stream>>>(
                products_.as<float>(), bias_.as<float>(), out, relu_, to);
            CUDA_CHECK(cudaGetLastError());
        }
    }

private:
    Shape shape_;
    bool relu_;
    int outChannels_ = 0;
    Tiles tiles_{};
    DeviceBuffer weights_, bias_, transformed_, products_;
};

}  // namespace

std::unique_ptr<Layer> makeWinograd(const Block& block, const Shape& in) {
    return std::make_unique<Winograd>(block, in);
}

}  // namespace matte::baselines
