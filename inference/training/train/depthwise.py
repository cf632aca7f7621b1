#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Depthwise convolutions for training on a GPU. cuDNN compiles one anew for every size of frame, which takes it seconds, and PyTorch's own kernels read every value once for
each weight that it meets when they sum the weights' gradient. These kernels keep the channels innermost, as everything around them does, and are compiled once for a kernel's
side and stride. On a GPU machine,

    python3 inference/training/train/depthwise.py

prints what each of `portrait`'s takes, beside PyTorch's.
"""
import math
import sys
from pathlib import Path

import torch
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

try:
    import triton
    import triton.language as tl
except ImportError:  # it comes with PyTorch where that comes with CUDA on Linux
    triton = None

PIXELS, CHANNELS = 64, 32  # of one program's outputs
PIXELS_AT_ONCE = 32  # whose products with a row of the kernel a program has in registers
PROGRAMS = 2048  # that the sums over all pixels are spread over: several for each multiprocessor

if triton:
    UNSPECIALISED = ["count", "height", "width", "source_height", "source_width", "chunk"]  # else frames with multiples of 16 would be compiled anew

    @triton.jit(do_not_specialize=UNSPECIALISED)
    def convolve(source, weight, result, count, height, width, source_height, source_width, channels,
                 SIDE: tl.constexpr, STRIDE: tl.constexpr, BACK: tl.constexpr, PIXELS: tl.constexpr, CHANNELS: tl.constexpr):
        """result [count = n*height*width, channels] of source [n, source_height, source_width, channels] and weight [SIDE*SIDE, channels]: the convolution, or, BACK, the
        gradient of its input, where source is that of its output."""
        pixel = tl.program_id(0) * PIXELS + tl.arange(0, PIXELS)
        channel = tl.program_id(1) * CHANNELS + tl.arange(0, CHANNELS)
        column, row, picture = pixel % width, pixel // width % height, pixel // (width * height)
        wanted = channel < channels
        total = tl.zeros([PIXELS, CHANNELS], tl.float32)
        for ky in tl.static_range(SIDE):
            for kx in tl.static_range(SIDE):
                if BACK:
                    down, across = row + SIDE // 2 - ky, column + SIDE // 2 - kx
                    there = (down >= 0) & (across >= 0) & (down % STRIDE == 0) & (across % STRIDE == 0)
                    down, across = down // STRIDE, across // STRIDE
                else:
                    down, across = row * STRIDE + ky - SIDE // 2, column * STRIDE + kx - SIDE // 2
                    there = (down >= 0) & (across >= 0)
                there = there & (down < source_height) & (across < source_width) & (pixel < count)
                place = ((picture * source_height + down) * source_width + across) * channels
                values = tl.load(source + place[:, None] + channel[None, :], mask=there[:, None] & wanted[None, :], other=0.0)
                factors = tl.load(weight + (ky * SIDE + kx) * channels + channel, mask=wanted, other=0.0)
                total += values.to(tl.float32) * factors[None, :]
        tl.store(result + pixel[:, None] * channels + channel[None, :], total.to(result.dtype.element_ty), mask=(pixel < count)[:, None] & wanted[None, :])

    @triton.jit
    def product(gradient, source, across, base, there, source_width, channels, channel, wanted):
        """Of the gradient and the values that one weight met."""
        there = there & (across >= 0) & (across < source_width)
        values = tl.load(source + (base + across * channels)[:, None] + channel[None, :], mask=there[:, None] & wanted[None, :], other=0.0)
        return gradient * values.to(tl.float32)

    @triton.jit(do_not_specialize=UNSPECIALISED)
    def correlate(source, gradient, sums, count, height, width, source_height, source_width, channels, chunk,
                  SIDE: tl.constexpr, STRIDE: tl.constexpr, PIXELS: tl.constexpr, CHANNELS: tl.constexpr):
        """sums [chunks, SIDE*SIDE, channels]: of each chunk of the output's pixels, its share of the weights' gradient. gradient [count, channels] is the output's. A program
        has one row of the kernel."""
        part, ky = tl.program_id(0), tl.program_id(2)
        channel = tl.program_id(1) * CHANNELS + tl.arange(0, CHANNELS)
        wanted = channel < channels
        sum0 = tl.zeros([PIXELS, CHANNELS], tl.float32)
        sum1, sum2, sum3, sum4 = sum0, sum0, sum0, sum0
        for begin in range(part * chunk, tl.minimum((part + 1) * chunk, count), PIXELS):
            pixel = begin + tl.arange(0, PIXELS)
            inside = pixel < count
            column, row, picture = pixel % width, pixel // width % height, pixel // (width * height)
            slope = tl.load(gradient + pixel[:, None] * channels + channel[None, :], mask=inside[:, None] & wanted[None, :], other=0.0).to(tl.float32)
            down, across = row * STRIDE + ky - SIDE // 2, column * STRIDE - SIDE // 2
            there = inside & (down >= 0) & (down < source_height)
            base = (picture * source_height + down) * source_width * channels
            sum0 += product(slope, source, across, base, there, source_width, channels, channel, wanted)
            sum1 += product(slope, source, across + 1, base, there, source_width, channels, channel, wanted)
            sum2 += product(slope, source, across + 2, base, there, source_width, channels, channel, wanted)
            if SIDE == 5:
                sum3 += product(slope, source, across + 3, base, there, source_width, channels, channel, wanted)
                sum4 += product(slope, source, across + 4, base, there, source_width, channels, channel, wanted)
        place = sums + ((part * SIDE + ky) * SIDE) * channels + channel
        tl.store(place, tl.sum(sum0, 0), mask=wanted)
        tl.store(place + channels, tl.sum(sum1, 0), mask=wanted)
        tl.store(place + 2 * channels, tl.sum(sum2, 0), mask=wanted)
        if SIDE == 5:
            tl.store(place + 3 * channels, tl.sum(sum3, 0), mask=wanted)
            tl.store(place + 4 * channels, tl.sum(sum4, 0), mask=wanted)


def innermost(planes):
    return planes.contiguous(memory_format=torch.channels_last)


def by_place(weight):
    """[channels, 1, side, side] -> float [side*side, channels]."""
    return weight.detach().float().flatten(1).t().contiguous()


def swept(source, weight, shape, stride, back):
    """convolve() into a new tensor of `shape` [n, channels, height, width], channels innermost."""
    result = torch.empty(shape, dtype=source.dtype, device=source.device, memory_format=torch.channels_last)
    n, channels, height, width = shape
    count = n * height * width
    grid = (triton.cdiv(count, PIXELS), triton.cdiv(channels, CHANNELS))
    convolve[grid](source, by_place(weight), result, count, height, width, source.shape[2], source.shape[3], channels,
                   SIDE=weight.shape[2], STRIDE=stride, BACK=back, PIXELS=PIXELS, CHANNELS=CHANNELS)  # fmt: skip
    return result


def weights_gradient(x, gradient, weight, stride):
    n, channels, height, width = gradient.shape
    count, side = n * height * width, weight.shape[2]
    blocks = triton.cdiv(channels, CHANNELS)
    chunk = PIXELS_AT_ONCE * max(1, math.ceil(count * blocks * side / (PROGRAMS * PIXELS_AT_ONCE)))
    sums = torch.empty(triton.cdiv(count, chunk), side * side, channels, device=x.device)
    correlate[(len(sums), blocks, side)](x, gradient, sums, count, height, width, x.shape[2], x.shape[3], channels, chunk,
                                         SIDE=side, STRIDE=stride, PIXELS=PIXELS_AT_ONCE, CHANNELS=CHANNELS)  # fmt: skip
    return sums.sum(0).t().reshape(weight.shape)


class Depthwise(torch.autograd.Function):
    """x [n, c, H, W], weight [c, 1, side, side] with a side of 3 or 5: padded so that a stride of 1 keeps the size. Sums in float, in the same order each time."""

    @staticmethod
    def forward(ctx, x, weight, stride):
        x = innermost(x)
        ctx.save_for_backward(x, weight)
        ctx.stride = stride
        n, channels, *sides = x.shape
        return swept(x, weight, (n, channels, *((side - 1) // stride + 1 for side in sides)), stride, False)

    @staticmethod
    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        gradient = innermost(gradient.to(x.dtype))
        of_x = swept(gradient, weight, x.shape, ctx.stride, True) if ctx.needs_input_grad[0] else None
        of_weight = weights_gradient(x, gradient, weight, ctx.stride).to(weight.dtype) if ctx.needs_input_grad[1] else None
        return of_x, of_weight, None


class PyTorchs(torch.autograd.Function):
    """The same by PyTorch's own kernels, which want each channel by itself."""

    @staticmethod
    def forward(ctx, x, weight, stride):
        x, weight = x.contiguous(), weight.to(x.dtype)
        ctx.save_for_backward(x, weight)
        ctx.stride = stride
        with torch.backends.cudnn.flags(enabled=False):
            return innermost(F.conv2d(x, weight, None, stride, weight.shape[2] // 2, 1, len(weight)))

    @staticmethod
    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        twice = [[n, n] for n in (ctx.stride, weight.shape[2] // 2, 1, 0)]
        with torch.backends.cudnn.flags(enabled=False):
            of_x, of_weight, _ = torch.ops.aten.convolution_backward(
                gradient.contiguous(), x, weight, None, *twice[:3], False, twice[3], len(weight), [True, True, False]
            )
        return of_x, of_weight, None


def depthwise(conv, x):
    """conv(x), laid out with the channels innermost on a GPU."""
    if not x.is_cuda:
        return conv(x)
    found = (Depthwise if triton else PyTorchs).apply(x, conv.weight, conv.stride[0])
    return found if conv.bias is None else found + conv.bias.to(x.dtype).view(1, -1, 1, 1)


def main():
    """6 megapixels of 512x320 through each depthwise convolution of `portrait`: medians, and how far the results lie apart."""
    from train import model

    sizes = {}

    def note(conv, inputs, _):
        key = (conv.in_channels, conv.kernel_size[0], conv.stride[0], *inputs[0].shape[2:])
        sizes[key] = sizes.get(key, 0) + 1

    net = model.UNet(*model.SHAPES["portrait"]).eval()
    for block in net.modules():
        if isinstance(block, model.Bottleneck):
            block.conv2.register_forward_hook(note)
    with torch.no_grad():
        net(torch.zeros(1, 3, 320, 512))
    totals = [0.0, 0.0]
    for (channels, side, stride, height, width), count in sizes.items():
        x = innermost(torch.randn(36, channels, height, width, device="cuda", dtype=torch.bfloat16)).requires_grad_()
        weight = torch.randn(channels, 1, side, side, device="cuda", requires_grad=True)
        slope, found, times = None, [], []
        for kind in (Depthwise, PyTorchs):
            y = kind.apply(x, weight, stride)
            slope = torch.randn_like(y) if slope is None else slope
            found.append((y, *torch.autograd.grad(y, (x, weight), slope)))
            forward = triton.testing.do_bench(lambda: kind.apply(x, weight, stride), return_mode="median")
            y = kind.apply(x, weight, stride)
            backward = triton.testing.do_bench(lambda: torch.autograd.grad(y, (x, weight), slope, retain_graph=True), return_mode="median")
            times += [forward, backward]
        for i in (0, 1):
            totals[i] += count * (times[2 * i] + times[2 * i + 1])
        apart = [float((a.float() - b.float()).norm() / b.float().norm()) for a, b in zip(*found)]
        print(f"{count} x {channels} channels {side}x{side} by {stride}, {height}x{width}: forward and backward {times[0]:.3f} {times[1]:.3f} ms, "
              f"PyTorch's {times[2]:.3f} {times[3]:.3f}; apart {apart[0]:.1e} {apart[1]:.1e} {apart[2]:.1e}")  # fmt: skip
    print(f"all: {totals[0]:.2f} ms a step, PyTorch's {totals[1]:.2f}")


if __name__ == "__main__":
    main()
