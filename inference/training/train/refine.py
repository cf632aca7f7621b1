# SPDX-License-Identifier: Apache-2.0
"""The engines' refinement of the network's matte: a guided filter along the edges of the picture
(He, Sun, Tang, "Guided Image Filtering", 2013), then 8 bits. The definitions of
inference/matting/guided_filter.cpp and inference/core/pixel_math.h, in double precision."""

import torch
from torch import Tensor
from torch.nn import functional as F

GRID_SIDE = 1024  # longest side of the grid on which the filter is fitted
EPSILON = 1e-4  # regularisation of variances
MIN_WEIGHT = 0.05  # of a pixel in the regression
CLIP_MARGIN = 1 / 256  # values so near to 0 or 1 become 0 or 1
WINDOW_RADIUS = 2  # of the filter, in pixels of the network's matte


def resampling_matrix(inputs: int, outputs: int, device: torch.device) -> Tensor:
    """The weights of inference/matting/resample.h, f64 [outputs, inputs]."""
    scale = inputs / outputs
    output = torch.arange(outputs, dtype=torch.float64, device=device).view(-1, 1)
    cell = torch.arange(inputs, dtype=torch.float64, device=device).view(1, -1)
    if scale > 1:
        end = torch.minimum((output + 1) * scale, cell + 1)
        return (end - torch.maximum(output * scale, cell)).clamp_min(0) / scale
    centre = ((output + 0.5) * scale - 0.5).clamp(0, inputs - 1)
    return (1 - (centre - cell).abs()).clamp_min(0)


def resample(planes: Tensor, height: int, width: int) -> Tensor:
    """[n, c, H, W] -> [n, c, height, width]: area averages when shrinking, linear interpolation
    when growing."""
    down, across = (
        resampling_matrix(n, m, planes.device).to(planes.dtype)
        for n, m in zip(planes.shape[2:], (height, width))
    )
    return down @ planes @ across.T


def box_mean(planes: Tensor, radius: int) -> Tensor:
    """Means of [n, c, H, W] over windows of (2 radius + 1)^2, cut at the border."""

    def along_rows(p: Tensor) -> Tensor:
        width = p.shape[3]
        sums = F.pad(p.cumsum(3), (1, 0))
        x = torch.arange(width, device=p.device)
        begin, end = (x - radius).clamp_min(0), (x + radius + 1).clamp_max(width)
        return (sums[..., end] - sums[..., begin]) / (end - begin)

    return along_rows(along_rows(planes).transpose(2, 3)).transpose(2, 3)


def weighted_moments(guide: Tensor, alpha: Tensor) -> Tensor:
    """Moments of each pixel [1, 15, h, w], of RGB [1, 3, h, w] and alpha [1, 1, h, w]. Pixels near
    0 and 1 weigh most: they tell which colours belong to whom."""
    weight = MIN_WEIGHT + (2 * alpha - 1) ** 2
    r, g, b = guide[:, 0:1], guide[:, 1:2], guide[:, 2:3]
    products = torch.cat([r * r, r * g, r * b, g * g, g * b, b * b], 1)
    values = [weight, weight * guide, weight * products, weight * alpha, weight * guide * alpha]
    return torch.cat([*values, weight * alpha * alpha], 1)


def fit_coefficients(sums: Tensor) -> Tensor:
    """The regression of alpha on colour in every window, from means of `weighted_moments`.

    Returns [1, 5, h, w]: slopes (3) and offset times the share of the variance of alpha that they
    explain, and that share."""
    m = sums / sums[:, :1]
    mean, square, p, along, second = m[:, 1:4], m[:, 4:10], m[:, 10:11], m[:, 11:14], m[:, 14:15]
    r, g, b = mean[:, 0:1], mean[:, 1:2], mean[:, 2:3]
    # The symmetric covariance of the colours, and that of colours and alpha.
    rr, rg, rb = square[:, 0:1] - r * r + EPSILON, square[:, 1:2] - r * g, square[:, 2:3] - r * b
    gg, gb = square[:, 3:4] - g * g + EPSILON, square[:, 4:5] - g * b
    bb = square[:, 5:6] - b * b + EPSILON
    pr, pg, pb = along[:, 0:1] - r * p, along[:, 1:2] - g * p, along[:, 2:3] - b * p
    # Its adjugate.
    crr, crg, crb = gg * bb - gb * gb, gb * rb - rg * bb, rg * gb - gg * rb
    cgg, cgb, cbb = rr * bb - rb * rb, rg * rb - rr * gb, rr * gg - rg * rg
    determinant = rr * crr + rg * crg + rb * crb
    slopes = [
        crr * pr + crg * pg + crb * pb,
        crg * pr + cgg * pg + cgb * pb,
        crb * pr + cgb * pg + cbb * pb,
    ]
    a = torch.cat(slopes, 1) / determinant
    explained = a[:, 0:1] * pr + a[:, 1:2] * pg + a[:, 2:3] * pb
    share = (explained / (second - p * p + EPSILON)).clamp(0, 1)
    offset = p - (a * mean).sum(1, keepdim=True)
    return torch.cat([share * a, share * offset, share], 1)


def refine(photo: Tensor, alpha: Tensor) -> Tensor:
    """RGB [1, 3, H, W] and the network's matte [1, 1, h, w] -> the engines' matte [1, 1, H, W], in
    multiples of 1/255."""
    height, width = photo.shape[2:]
    longest = max(height, width)
    grid = (height, width)
    if longest > GRID_SIDE:
        grid = tuple(max(1, int(side * GRID_SIDE / longest + 0.5)) for side in (height, width))
    guide = resample(photo.double(), *grid)
    target = resample(alpha.double(), *grid)
    radius = max(2, int(WINDOW_RADIUS * max(grid) / max(alpha.shape[2:]) + 0.5))
    fitted = fit_coefficients(box_mean(weighted_moments(guide, target), radius))
    fitted = box_mean(fitted, radius)
    # What the regression does not explain stays as the network has it.
    offset = fitted[:, 3:4] + (1 - fitted[:, 4:]) * target
    coefficients = resample(torch.cat([fitted[:, :3], offset], 1), height, width)
    refined = (coefficients[:, :3] * photo.double()).sum(1, keepdim=True) + coefficients[:, 3:]
    refined = ((refined - CLIP_MARGIN) / (1 - 2 * CLIP_MARGIN)).clamp(0, 1)
    return (torch.floor(refined * 255 + 0.5) / 255).float()
