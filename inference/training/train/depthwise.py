#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Depthwise convolutions for training on a GPU, as Triton kernels with channels last.

cuDNN compiles a depthwise convolution anew for every size of frame, which takes seconds, and
PyTorch's own kernels read every value once for each weight that it meets when they sum the gradient
of the weights. These kernels are compiled once for each kernel size and stride. On a GPU machine,

    python3 inference/training/train/depthwise.py

prints the time of each depthwise convolution of `portrait`, beside PyTorch's.
"""

import math
import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

try:
    import triton

    from train import depthwise_kernels
except ImportError:  # Triton comes with PyTorch where that comes with CUDA on Linux
    triton = None

PIXELS, CHANNELS = 64, 32  # of the outputs of one program
PIXELS_AT_ONCE = 32  # whose products with a row of the kernel a program has in registers
PROGRAMS = 2048  # that share the sums over all pixels: several for each multiprocessor


def channels_last(planes: Tensor) -> Tensor:
    """`planes` [n, c, H, W] in memory with channels last."""
    return planes.contiguous(memory_format=torch.channels_last)


def launch_convolve(
    source: Tensor, weight: Tensor, shape: tuple[int, ...], stride: int, backward: bool
) -> Tensor:
    """convolve() of `weight` [channels, 1, side, side] into a new tensor of `shape` [n, channels,
    height, width], channels last."""
    result = torch.empty(
        shape, dtype=source.dtype, device=source.device, memory_format=torch.channels_last
    )
    n, channels, height, width = shape
    count = n * height * width
    taps = weight.detach().float().flatten(1).t().contiguous()  # [side*side, channels]
    grid = (triton.cdiv(count, PIXELS), triton.cdiv(channels, CHANNELS))
    depthwise_kernels.convolve[grid](
        source,
        taps,
        result,
        count,
        height,
        width,
        source.shape[2],
        source.shape[3],
        channels,
        SIDE=weight.shape[2],
        STRIDE=stride,
        BACKWARD=backward,
        PIXELS=PIXELS,
        CHANNELS=CHANNELS,
    )
    return result


def weight_gradient(x: Tensor, gradient: Tensor, weight: Tensor, stride: int) -> Tensor:
    """The gradient of `weight` [channels, 1, side, side] by that of the output."""
    n, channels, height, width = gradient.shape
    count, side = n * height * width, weight.shape[2]
    blocks = triton.cdiv(channels, CHANNELS)
    turns = math.ceil(count * blocks * side / (PROGRAMS * PIXELS_AT_ONCE))
    chunk = PIXELS_AT_ONCE * max(1, turns)
    sums = torch.empty(triton.cdiv(count, chunk), side * side, channels, device=x.device)
    depthwise_kernels.correlate[(len(sums), blocks, side)](
        x,
        gradient,
        sums,
        count,
        height,
        width,
        x.shape[2],
        x.shape[3],
        channels,
        chunk,
        SIDE=side,
        STRIDE=stride,
        PIXELS=PIXELS_AT_ONCE,
        CHANNELS=CHANNELS,
    )
    return sums.sum(0).t().reshape(weight.shape)


class TritonDepthwise(torch.autograd.Function):
    """x [n, c, H, W], weight [c, 1, side, side] with a side of 3 or 5, padded so that a stride of 1
    keeps the size. Sums in float, deterministically."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, stride: int) -> Tensor:
        """The convolution."""
        x = channels_last(x)
        ctx.save_for_backward(x, weight)
        ctx.stride = stride
        n, channels, *sides = x.shape
        shape = (n, channels, *((side - 1) // stride + 1 for side in sides))
        return launch_convolve(x, weight, shape, stride, False)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        """Gradients of x and weight."""
        x, weight = ctx.saved_tensors
        gradient = channels_last(gradient.to(x.dtype))
        of_x = of_weight = None
        if ctx.needs_input_grad[0]:
            of_x = launch_convolve(gradient, weight, x.shape, ctx.stride, True)
        if ctx.needs_input_grad[1]:
            of_weight = weight_gradient(x, gradient, weight, ctx.stride).to(weight.dtype)
        return of_x, of_weight, None


class PyTorchDepthwise(torch.autograd.Function):
    """The same by PyTorch's own kernels, which need planar channels."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, stride: int) -> Tensor:
        """The convolution."""
        x, weight = x.contiguous(), weight.to(x.dtype)
        ctx.save_for_backward(x, weight)
        ctx.stride = stride
        padding = weight.shape[2] // 2
        with torch.backends.cudnn.flags(enabled=False):
            return channels_last(F.conv2d(x, weight, None, stride, padding, 1, len(weight)))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        """Gradients of x and weight."""
        x, weight = ctx.saved_tensors
        options = (ctx.stride, weight.shape[2] // 2, 1, 0)
        stride, padding, dilation, output_padding = ([n, n] for n in options)
        with torch.backends.cudnn.flags(enabled=False):
            of_x, of_weight, _ = torch.ops.aten.convolution_backward(
                gradient.contiguous(),
                x,
                weight,
                None,
                stride,
                padding,
                dilation,
                False,
                output_padding,
                len(weight),
                [True, True, False],
            )
        return of_x, of_weight, None


def depthwise_conv(conv: nn.Conv2d, x: Tensor) -> Tensor:
    """conv(x); on a GPU with channels last."""
    if not x.is_cuda:
        return conv(x)
    function = TritonDepthwise if triton else PyTorchDepthwise
    result = function.apply(x, conv.weight, conv.stride[0])
    return result if conv.bias is None else result + conv.bias.to(x.dtype).view(1, -1, 1, 1)


def layer_shapes() -> dict[tuple[int, int, int, int, int], int]:
    """How often `portrait` has a depthwise convolution of (channels, side, stride, height, width)
    at 512x320."""
    from train import model  # which imports this module

    counts = {}

    def note(conv: nn.Conv2d, inputs: tuple[Tensor, ...], _: Tensor) -> None:
        key = (conv.in_channels, conv.kernel_size[0], conv.stride[0], *inputs[0].shape[2:])
        counts[key] = counts.get(key, 0) + 1

    net = model.UNet(*model.ARCHITECTURES["portrait"]).eval()
    for block in net.modules():
        if isinstance(block, model.Bottleneck):
            block.conv2.register_forward_hook(note)
    with torch.no_grad():
        net(torch.zeros(1, 3, 320, 512))
    return counts


def time_kernel(
    kind: type[torch.autograd.Function], x: Tensor, weight: Tensor, stride: int, slope: Tensor
) -> tuple[float, float]:
    """Median milliseconds of forward and backward."""
    bench = triton.testing.do_bench
    forward = bench(lambda: kind.apply(x, weight, stride), return_mode="median")
    y = kind.apply(x, weight, stride)
    backward = bench(
        lambda: torch.autograd.grad(y, (x, weight), slope, retain_graph=True),
        return_mode="median",
    )
    return forward, backward


def main() -> None:
    """Times 6 megapixels of 512x320 through each depthwise convolution of `portrait`, and prints
    the relative differences of the results."""
    totals = [0.0, 0.0]
    for (channels, side, stride, height, width), count in layer_shapes().items():
        x = torch.randn(36, channels, height, width, device="cuda", dtype=torch.bfloat16)
        x = channels_last(x).requires_grad_()
        weight = torch.randn(channels, 1, side, side, device="cuda", requires_grad=True)
        slope, results, times = None, [], []
        for i, kind in enumerate((TritonDepthwise, PyTorchDepthwise)):
            y = kind.apply(x, weight, stride)
            slope = torch.randn_like(y) if slope is None else slope
            results.append((y, *torch.autograd.grad(y, (x, weight), slope)))
            times += time_kernel(kind, x, weight, stride, slope)
            totals[i] += count * sum(times[-2:])
        ours, theirs = ([t.float() for t in tensors] for tensors in results)
        differences = [float((a - b).norm() / b.norm()) for a, b in zip(ours, theirs)]
        print(
            f"{count} x {channels} channels {side}x{side} by {stride}, {height}x{width}: "
            f"forward and backward {times[0]:.3f} {times[1]:.3f} ms, "
            f"PyTorch's {times[2]:.3f} {times[3]:.3f}; "
            f"difference {' '.join(f'{d:.1e}' for d in differences)}"
        )
    print(f"all: {totals[0]:.2f} ms a step, PyTorch's {totals[1]:.2f}")


if __name__ == "__main__":
    main()
