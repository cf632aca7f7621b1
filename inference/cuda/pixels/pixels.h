// SPDX-License-Identifier: Apache-2.0
// The pixel steps around the network on the GPU, the same as in matting/resample.h, matting/guided_filter.h and
// matting/composite.h. Pointers are to device memory. Functions enqueue kernels on a stream and return; a failed launch
// throws CudaError. Any thread, one at a time per stream.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "inference/core/image.h"
#include "inference/cuda/device/cuda.h"
#include "inference/cuda/pixels/partition.h"
#include "inference/matting/resample.h"
#include "inference/matting/resolve.h"

namespace matte::device {

/// A non-owning view of pixels in device memory, any format but gray8. rgba8 is 4-byte aligned.
struct Source {
    const std::uint8_t* data = nullptr;
    Size size;
    std::ptrdiff_t strideBytes = 0;
    PixelFormat format = PixelFormat::rgba8;
};

/// One output's inputs along one axis: `count` from `first` on; the first has weight `head`, the last of several
/// `tail`.
struct AxisTap {
    int first, count;
    float head, tail;
};
/// One tap per output, in device memory, and the weight of the inputs between a tap's first and last.
struct Axis {
    const AxisTap* taps = nullptr;
    float inner = 0;
};

/// The weights of matting/resample.h's Taps for both axes and one pair of sizes.
class Resampling {
public:
    Resampling() = default;
    /// Waits until the weights are there.
    Resampling(Size from, Size to);
    /// Makes it one of these sizes; whether it was of others.
    bool change(Size from, Size to);
    [[nodiscard]] Size from() const { return from_; }
    [[nodiscard]] Size to() const { return to_; }
    [[nodiscard]] Axis across() const { return across_; }
    [[nodiscard]] Axis down() const { return down_; }

private:
    Size from_, to_;
    DeviceBuffer taps_;
    Axis across_, down_;
};

/// The guide: sRGB-encoded R, G, B, 0 to 1, at the grid's size, as float4 [H, W] with w 0; transparent pixels are over
/// white.
void shrinkToGuide(const Source& source, const Resampling& resampling, float4* guide, cudaStream_t stream);

/// The network's input in device memory: [H, W, 8] halves or floats: (value - mean) / deviation for R, G, B, then five
/// zeros.
struct NetworkInput {
    void* data = nullptr;
    bool inFloats = false;
    std::array<float, 3> mean, deviation;
};
void shrinkToInput(const Source& source, const Resampling& resampling, const NetworkInput& input, cudaStream_t stream);

/// Set to the MatteFault by the kernel that finds one; the owner sets it to 0 before each picture.
struct NonFiniteFlag {
    int* onDevice = nullptr;
    int* onHost = nullptr;  ///< page-locked
};

/// Resamples the matte to floats [H, W] at the grid's size; non-finite values become 0 and set `nonFinite`, which may
/// be empty.
void resampleMatte(const float* matte,
                   const Resampling& resampling,
                   const NonFiniteFlag& nonFinite,
                   float* target,
                   cudaStream_t stream);

/// Resamples a picture to rgba8, straight alpha, packed rows.
void resamplePicture(const Source& source, const Resampling& resampling, std::uint8_t* rgba, cudaStream_t stream);

/// Fits a background picture to the frame, as layInto(): rgba8, opaque, packed rows. `resampling` is from layout.seen
/// to layout.scaled.
void layPlate(const Source& picture,
              const Layout& layout,
              const Resampling& resampling,
              Size frame,
              Rgb color,
              std::uint8_t* rgba,
              cudaStream_t stream);

/// The coefficients' grid of matting/guided_filter.h as planes of float4 [H, W]; w is unused unless documented.
struct GuidedCoefficients {
    Size size;
    float4* coefficients = nullptr;  ///< alpha = coefficients . (r, g, b, 1) of the sRGB-encoded pixel
    float4* foreground = nullptr;    ///< local colour of the person, linear light
    float4* background = nullptr;    ///< local colour of the background, linear light
    float4* blurred = nullptr;       ///< the blurred background
    float4* linear = nullptr;        ///< the picture in linear light; w is the refined alpha
    const int* nonFinite = nullptr;  ///< NonFiniteFlag::onDevice: when set, only the background is shown
    float4* wrap = nullptr;          ///< light wrap; read only if ResolvedParams::lightWrap > 0
    static constexpr int kPlanes = 6;
};

/// Scratch memory of the functions below. Only guide and target carry data between them.
struct Scratch : Partitioned<Scratch> {
    Scratch() = default;
    Scratch(Partition& parts, Size grid);
    float4* guide = nullptr;   ///< [H, W]
    float* target = nullptr;   ///< [H, W]: the network's matte on the grid
    float4* sums = nullptr;    ///< [4, H, W]
    float4* models = nullptr;  ///< [H, W]
    float* shares = nullptr;   ///< [H, W]
    float4* totals = nullptr;  ///< [2 + 2 kTotalBlocks]
    static constexpr int kTotalBlocks = 264;
};

/// guide and target -> coefficients, linear. `radius` is guidedRadius().
void fitGuidedFilter(const GuidedCoefficients& guided, const Scratch& scratch, int radius, cudaStream_t stream);
/// linear -> foreground, background.
void estimateColors(const GuidedCoefficients& guided, const Scratch& scratch, cudaStream_t stream);

/// linear, background -> blurred, by params->blurRadius (device memory).
void blurBackground(const GuidedCoefficients& guided,
                    const Scratch& scratch,
                    const ResolvedParams* params,
                    cudaStream_t stream);

/// linear and blurred or the plate -> wrap. Call it before compositeOver() if lightWrap > 0; not needed for a
/// transparent background. `plate` has `frame` pixels, as in compositeOver(); `params` lies in device memory.
void wrapLight(const GuidedCoefficients& guided,
               const Scratch& scratch,
               const ResolvedParams* params,
               const std::uint8_t* plate,
               Size frame,
               cudaStream_t stream);

/// Composites the picture over its new background: rgba8, packed rows, source.size. `plate`: for Kind::image the
/// background in the same format and size, else null. `params` lies in device memory.
void compositeOver(const Source& source,
                   const GuidedCoefficients& guided,
                   const ResolvedParams* params,
                   const std::uint8_t* plate,
                   std::uint8_t* rgba,
                   cudaStream_t stream);

/// Renders the matte, gray8, packed rows, source.size. `params` lies in device memory.
void renderMatte(const Source& source,
                 const GuidedCoefficients& guided,
                 const ResolvedParams* params,
                 std::uint8_t* gray,
                 cudaStream_t stream);

/// Premultiplies alpha, for textures with linear filtering: rgba8, packed rows, each colour becomes (color * alpha +
/// 127) / 255.
void premultiply(const std::byte* rgba, Size size, std::byte* premultiplied, cudaStream_t stream);

}  // namespace matte::device
