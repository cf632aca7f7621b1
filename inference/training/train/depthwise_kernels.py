# SPDX-License-Identifier: Apache-2.0
"""Triton kernels of depthwise.py. Parameters without tl.constexpr are pointers or integers;
pictures have channels last."""

import triton
import triton.language as tl

# Otherwise frames with multiples of 16 would be compiled anew.
UNSPECIALISED = ["count", "height", "width", "source_height", "source_width", "chunk"]


@triton.jit(do_not_specialize=UNSPECIALISED)
def convolve(
    source,
    weight,
    result,
    count,
    height,
    width,
    source_height,
    source_width,
    channels,
    SIDE: tl.constexpr,
    STRIDE: tl.constexpr,
    BACKWARD: tl.constexpr,
    PIXELS: tl.constexpr,
    CHANNELS: tl.constexpr,
):
    """result [count = n*height*width, channels] of source [n, source_height, source_width,
    channels] and weight [SIDE*SIDE, channels]: the convolution or, BACKWARD, the gradient of its
    input, where source is that of its output."""
    pixel = tl.program_id(0) * PIXELS + tl.arange(0, PIXELS)
    channel = tl.program_id(1) * CHANNELS + tl.arange(0, CHANNELS)
    column, row, picture = pixel % width, pixel // width % height, pixel // (width * height)
    wanted = channel < channels
    total = tl.zeros([PIXELS, CHANNELS], tl.float32)
    for ky in tl.static_range(SIDE):
        for kx in tl.static_range(SIDE):
            if BACKWARD:
                y, x = row + SIDE // 2 - ky, column + SIDE // 2 - kx
                valid = (y >= 0) & (x >= 0) & (y % STRIDE == 0) & (x % STRIDE == 0)
                y, x = y // STRIDE, x // STRIDE
            else:
                y, x = row * STRIDE + ky - SIDE // 2, column * STRIDE + kx - SIDE // 2
                valid = (y >= 0) & (x >= 0)
            valid = valid & (y < source_height) & (x < source_width) & (pixel < count)
            offset = ((picture * source_height + y) * source_width + x) * channels
            values = tl.load(
                source + offset[:, None] + channel[None, :],
                mask=valid[:, None] & wanted[None, :],
                other=0.0,
            )
            tap = weight + (ky * SIDE + kx) * channels + channel
            factors = tl.load(tap, mask=wanted, other=0.0)
            total += values.to(tl.float32) * factors[None, :]
    tl.store(
        result + pixel[:, None] * channels + channel[None, :],
        total.to(result.dtype.element_ty),
        mask=(pixel < count)[:, None] & wanted[None, :],
    )


@triton.jit
def multiply_tap(
    gradient,
    source,
    x,
    base,
    valid,
    source_width,
    channels,
    channel,
    wanted,
):
    """The gradient times the values at one tap of the kernel, in column x of the source."""
    valid = valid & (x >= 0) & (x < source_width)
    values = tl.load(
        source + (base + x * channels)[:, None] + channel[None, :],
        mask=valid[:, None] & wanted[None, :],
        other=0.0,
    )
    return gradient * values.to(tl.float32)


@triton.jit(do_not_specialize=UNSPECIALISED)
def correlate(
    source,
    gradient,
    sums,
    count,
    height,
    width,
    source_height,
    source_width,
    channels,
    chunk,
    SIDE: tl.constexpr,
    STRIDE: tl.constexpr,
    PIXELS: tl.constexpr,
    CHANNELS: tl.constexpr,
):
    """sums [chunks, SIDE*SIDE, channels]: the share of each chunk of output pixels in the gradient
    of the weights. gradient [count, channels] is that of the output. A program has one row of the
    kernel."""
    part, ky = tl.program_id(0), tl.program_id(2)
    channel = tl.program_id(1) * CHANNELS + tl.arange(0, CHANNELS)
    wanted = channel < channels
    sum0 = tl.zeros([PIXELS, CHANNELS], tl.float32)
    sum1, sum2, sum3, sum4 = sum0, sum0, sum0, sum0
    for begin in range(part * chunk, tl.minimum((part + 1) * chunk, count), PIXELS):
        pixel = begin + tl.arange(0, PIXELS)
        inside = pixel < count
        column, row, picture = pixel % width, pixel // width % height, pixel // (width * height)
        g = tl.load(
            gradient + pixel[:, None] * channels + channel[None, :],
            mask=inside[:, None] & wanted[None, :],
            other=0.0,
        ).to(tl.float32)
        y, x = row * STRIDE + ky - SIDE // 2, column * STRIDE - SIDE // 2
        ok = inside & (y >= 0) & (y < source_height)
        base = (picture * source_height + y) * source_width * channels
        sum0 += multiply_tap(g, source, x, base, ok, source_width, channels, channel, wanted)
        sum1 += multiply_tap(g, source, x + 1, base, ok, source_width, channels, channel, wanted)
        sum2 += multiply_tap(g, source, x + 2, base, ok, source_width, channels, channel, wanted)
        if SIDE == 5:
            sum3 += multiply_tap(
                g, source, x + 3, base, ok, source_width, channels, channel, wanted
            )
            sum4 += multiply_tap(
                g, source, x + 4, base, ok, source_width, channels, channel, wanted
            )
    place = sums + ((part * SIDE + ky) * SIDE) * channels + channel
    tl.store(place, tl.sum(sum0, 0), mask=wanted)
    tl.store(place + channels, tl.sum(sum1, 0), mask=wanted)
    tl.store(place + 2 * channels, tl.sum(sum2, 0), mask=wanted)
    if SIDE == 5:
        tl.store(place + 3 * channels, tl.sum(sum3, 0), mask=wanted)
        tl.store(place + 4 * channels, tl.sum(sum4, 0), mask=wanted)
