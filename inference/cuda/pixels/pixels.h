// SPDX-License-Identifier: Apache-2.0
// Everything around the network on the GPU: the same steps as matting/resample.h, matting/guided_filter.h and
// matting/composite.h, on device memory. Each function enqueues kernels on a stream and returns; a bad launch throws
// CudaError. Any thread, one at a time for each stream.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "inference/core/image.h"
#include "inference/cuda/device/cuda.h"
#include "inference/matting/resample.h"
#include "inference/matting/resolve.h"

namespace matte::device {

/// Rows of pixels in device memory that somebody else owns; any format but gray8. rgba8 lies at multiples of 4 bytes.
struct Source {
    const std::uint8_t* data = nullptr;
    Size size;
    std::ptrdiff_t strideBytes = 0;
    PixelFormat format = PixelFormat::rgba8;
};

/// For one output along one axis: `count` inputs from `first` on; the first weighs `head`, the last of several `tail`.
struct AxisTap {
    int first, count;
    float head, tail;
};
/// A tap for each output, in device memory, and the weight of every input between a tap's first and last.
struct Axis {
    const AxisTap* taps = nullptr;
    float inner = 0;
};

/// The weights of matting/resample.h's Taps for both axes, made once for a pair of sizes.
class Resampling {
public:
    Resampling() = default;
    Resampling(Size from, Size to);
    [[nodiscard]] Size from() const { return from_; }
    [[nodiscard]] Size to() const { return to_; }
    [[nodiscard]] Axis across() const { return across_; }
    [[nodiscard]] Axis down() const { return down_; }

private:
    Size from_, to_;
    DeviceBuffer taps_;
    Axis across_, down_;
};

/// sRGB-encoded R, G, B of 0 to 1 at the grid's size, as float4 [H, W] with 0 in w; what is transparent shows white.
void shrinkToGuide(const Source& source, const Resampling& resampling, float4* guide, cudaStream_t stream);

/// The network's input: [H, W, 8] halves or floats, (value - mean) / deviation for R, G, B and five zeros.
void shrinkToInput(const Source& source,
                   const Resampling& resampling,
                   const std::array<float, 3>& mean,
                   const std::array<float, 3>& deviation,
                   void* input,
                   bool inFloats,
                   cudaStream_t stream);

/// Set to the MatteFault by the step that finds the network's output no matte to show; set to 0 by whoever owns it.
struct NonFiniteFlag {
    int* onDevice = nullptr;
    int* onHost = nullptr;  ///< page-locked
};

/// Floats [h, w] at the grid's size; 0 where `matte` is not finite. `nonFinite` may be empty.
void resampleMatte(const float* matte,
                   const Resampling& resampling,
                   const NonFiniteFlag& nonFinite,
                   float* target,
                   cudaStream_t stream);

/// A picture at another size as rgba8, straight alpha, packed rows.
void resamplePicture(const Source& source, const Resampling& resampling, std::uint8_t* rgba, cudaStream_t stream);

/// A background picture in its frame, as layInto() does it: rgba8, opaque, packed rows. `resampling` is layout.seen to
/// layout.scaled.
void layPlate(const Source& picture,
              const Layout& layout,
              const Resampling& resampling,
              Size frame,
              Rgb color,
              std::uint8_t* rgba,
              cudaStream_t stream);

/// The coefficients' grid of matting/guided_filter.h, in planes of float4 [H, W]; w is unused where three channels are
/// named.
struct GuidedCoefficients {
    Size size;
    float4* coefficients = nullptr;  ///< alpha = coefficients . (r, g, b, 1) of the sRGB-encoded pixel
    float4* foreground = nullptr;    ///< local colour of the person, linear light
    float4* background = nullptr;    ///< and of what is behind
    float4* blurred = nullptr;       ///< the background blurred
    float4* linear = nullptr;        ///< the picture's own colour in linear light, and in w the refined alpha
    const int* nonFinite = nullptr;  ///< NonFiniteFlag::onDevice: when set, nobody is shown
    float4* wrap = nullptr;          ///< the new background's light nearby; read when ResolvedParams::lightWrap > 0
    static constexpr int kPlanes = 6;
};

/// Memory that one run of the steps below needs: not kept between them except for guide and target.
struct Scratch {
    float4* guide = nullptr;   ///< [H, W]
    float* target = nullptr;   ///< [H, W]: the network's matte on the grid
    float4* sums = nullptr;    ///< [4, H, W]
    float4* models = nullptr;  ///< [H, W]
    float* shares = nullptr;   ///< [H, W]
    float4* totals = nullptr;  ///< [2 + 2 kTotalBlocks]
    static constexpr int kTotalBlocks = 264;
    static std::size_t bytes(Size grid);
    /// Parts of `memory`, which holds bytes(grid), each at a multiple of 256.
    static Scratch in(std::byte* memory, Size grid);
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

/// linear and blurred or the plate -> wrap: for parameters with lightWrap > 0, before compositeOver(). `plate` of
/// `frame` pixels as there, `params` in device memory. A transparent background needs none.
void wrapLight(const GuidedCoefficients& guided,
               const Scratch& scratch,
               const ResolvedParams* params,
               const std::uint8_t* plate,
               Size frame,
               cudaStream_t stream);

/// The picture over its new background, rgba8 with packed rows of source.size. `plate` is such a picture for
/// Kind::image, else null. `params` lies in device memory.
void compositeOver(const Source& source,
                   const GuidedCoefficients& guided,
                   const ResolvedParams* params,
                   const std::uint8_t* plate,
                   std::uint8_t* rgba,
                   cudaStream_t stream);

/// The matte alone, one byte a pixel, packed rows.
void renderMatte(const Source& source,
                 const GuidedCoefficients& guided,
                 const ResolvedParams* params,
                 std::uint8_t* gray,
                 cudaStream_t stream);

}  // namespace matte::device
