# SPDX-License-Identifier: Apache-2.0
"""What the engines make of the network's matte: a guided filter along the picture's edges, then 8 bits. The definitions of inference/matting/refine.cpp and
inference/core/pixel_math.h (He, Sun, Tang, "Guided Image Filtering", 2013), in double precision."""
import math

import torch
from torch.nn import functional as F

GRID = 1024  # longest side of the grid on which the filter is fitted
FLATNESS = 1e-4
UNSURE = 0.05
CERTAIN = 1 / 256  # so near to 0 or 1 the edge of a new look lets the matte be
WINDOW = 2  # half the filter's window in the network's pixels


def taps(inputs, outputs, device):
    """The matrix [outputs, inputs] of inference/matting/resample.h: what share of each input an output takes."""
    scale = inputs / outputs
    at = torch.arange(outputs, dtype=torch.float64, device=device).view(-1, 1)
    cell = torch.arange(inputs, dtype=torch.float64, device=device).view(1, -1)
    if scale > 1:
        covered = torch.minimum((at + 1) * scale, cell + 1) - torch.maximum(at * scale, cell)
        return covered.clamp_min(0) / scale
    centre = ((at + 0.5) * scale - 0.5).clamp(0, inputs - 1)
    return (1 - (centre - cell).abs()).clamp_min(0)


def resample(planes, height, width):
    """Exact area averages when shrinking, linear interpolation when growing."""
    down, across = (taps(n, m, planes.device).to(planes.dtype) for n, m in zip(planes.shape[2:], (height, width)))
    return down @ planes @ across.T


def window_means(planes, radius):
    """Means over windows of (2 radius + 1)^2, cut at the borders."""

    def along_rows(p):
        width = p.shape[3]
        sums = F.pad(p.cumsum(3), (1, 0))
        x = torch.arange(width, device=p.device)
        begin, end = (x - radius).clamp_min(0), (x + radius + 1).clamp_max(width)
        return (sums[..., end] - sums[..., begin]) / (end - begin)

    return along_rows(along_rows(planes).transpose(2, 3)).transpose(2, 3)


def moments(guide, alpha):
    """Weighted moments of a pixel [1, 15, h, w]: sure pixels tell which colours are whose."""
    weight = UNSURE + (2 * alpha - 1) ** 2
    r, g, b = guide[:, 0:1], guide[:, 1:2], guide[:, 2:3]
    products = torch.cat([r * r, r * g, r * b, g * g, g * b, b * b], 1)
    return torch.cat([weight, weight * guide, weight * products, weight * alpha, weight * guide * alpha, weight * alpha * alpha], 1)


def solve(sums):
    """Regression of alpha on colour in every window [1, 5, h, w]: the model (3 and 1) times the share of alpha's variance that it explains, and that share."""
    m = sums / sums[:, :1]
    mean, square, p, along, second = m[:, 1:4], m[:, 4:10], m[:, 10:11], m[:, 11:14], m[:, 14:15]
    r, g, b = mean[:, 0:1], mean[:, 1:2], mean[:, 2:3]
    rr, rg, rb = square[:, 0:1] - r * r + FLATNESS, square[:, 1:2] - r * g, square[:, 2:3] - r * b
    gg, gb, bb = square[:, 3:4] - g * g + FLATNESS, square[:, 4:5] - g * b, square[:, 5:6] - b * b + FLATNESS
    pr, pg, pb = along[:, 0:1] - r * p, along[:, 1:2] - g * p, along[:, 2:3] - b * p
    crr, crg, crb = gg * bb - gb * gb, gb * rb - rg * bb, rg * gb - gg * rb
    cgg, cgb, cbb = rr * bb - rb * rb, rg * rb - rr * gb, rr * gg - rg * rg
    determinant = rr * crr + rg * crg + rb * crb
    a = torch.cat([crr * pr + crg * pg + crb * pb, crg * pr + cgg * pg + cgb * pb, crb * pr + cgb * pg + cbb * pb], 1) / determinant
    explained = a[:, 0:1] * pr + a[:, 1:2] * pg + a[:, 2:3] * pb
    share = (explained / (second - p * p + FLATNESS)).clamp(0, 1)
    return torch.cat([share * a, share * (p - (a * mean).sum(1, keepdim=True)), share], 1)


def refined(photo, alpha):
    """RGB [1, 3, H, W] and the network's matte [1, 1, h, w] -> the engines' matte [1, 1, H, W], a multiple of 1/255."""
    height, width = photo.shape[2:]
    longest = max(height, width)
    grid = (height, width)
    if longest > GRID:
        grid = tuple(max(1, int(side * GRID / longest + 0.5)) for side in (height, width))
    guide = resample(photo.double(), *grid)
    target = resample(alpha.double(), *grid)
    radius = max(2, int(WINDOW * max(grid) / max(alpha.shape[2:]) + 0.5))
    model = window_means(solve(window_means(moments(guide, target), radius)), radius)
    field = resample(torch.cat([model[:, :3], model[:, 3:4] + (1 - model[:, 4:]) * target], 1), height, width)
    found = (field[:, :3] * photo.double()).sum(1, keepdim=True) + field[:, 3:]
    found = ((found - CERTAIN) / (1 - 2 * CERTAIN)).clamp(0, 1)
    return (torch.floor(found * 255 + 0.5) / 255).float()
