# SPDX-License-Identifier: Apache-2.0
"""Losses of training. Mattes labelled by people are right about what is a person, and softened at
its edge; pseudo-labels are soft at the edge and doubtful where the models that made them
disagree."""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

# Weight of pseudo-labels that are neither 0 nor 1 over an area too broad for hair.
AMBIGUOUS_WEIGHT = 0.25


def separable_pool(
    pool: Callable[..., Tensor], plane: Tensor, radius: int, **options: bool
) -> Tensor:
    """`plane` pooled over windows of 2 `radius` + 1 pixels a side, across and then down: a tenth of
    the work where windows are wide."""
    across = pool(plane, (1, 2 * radius + 1), stride=1, padding=(0, radius), **options)
    return pool(across, (2 * radius + 1, 1), stride=1, padding=(radius, 0), **options)


def local_range(alpha: Tensor, radius: int) -> Tensor:
    """Greatest difference of `alpha` [n, 1, H, W] within `radius` pixels."""
    greatest = separable_pool(F.max_pool2d, alpha, radius)
    return greatest + separable_pool(F.max_pool2d, -alpha, radius)


def confidence_weights(alpha: Tensor, pseudo: Tensor) -> tuple[Tensor, Tensor]:
    """Pixel weights of the classification and of the matte losses, each [n, 1, H, W].

    `alpha` [n, 1, H, W] is the target; `pseudo`, bool [n], tells which targets are
    pseudo-labels."""
    radius = max(2, round(max(alpha.shape[2:]) / 160))
    pseudo = pseudo.view(-1, 1, 1, 1)
    edge = local_range(alpha, radius)
    grey = separable_pool(
        F.avg_pool2d, 4 * alpha * (1 - alpha), 2 * radius, count_include_pad=False
    )
    ambiguous = ((grey - 0.35) / 0.3).clamp(0, 1) * pseudo
    confidence = 1 - (1 - AMBIGUOUS_WEIGHT) * ambiguous
    matte = torch.where(pseudo, 1 + 2 * edge, torch.ones_like(edge))
    return confidence * (1 + edge), confidence * matte


def weighted_mean(values: Tensor, weight: Tensor) -> Tensor:
    """Mean of `values` by `weight` of the same shape, a scalar."""
    return (values * weight).sum() / weight.sum().clamp_min(1e-6)


def upsample_2x(plane: Tensor) -> Tensor:
    """[n, c, H, W] -> [n, c, 2H, 2W] by linear interpolation, as F.interpolate does it.

    Sums of slices, whose gradient is deterministic; that of F.interpolate is not on a GPU."""
    for dim in (2, 3):
        size = plane.shape[dim]
        before = torch.cat([plane.narrow(dim, 0, 1), plane.narrow(dim, 0, size - 1)], dim)
        after = torch.cat([plane.narrow(dim, 1, size - 1), plane.narrow(dim, size - 1, 1)], dim)
        pairs = [0.75 * plane + 0.25 * before, 0.75 * plane + 0.25 * after]
        plane = torch.stack(pairs, dim + 1).flatten(dim, dim + 1)
    return plane


def laplacian_loss(alpha: Tensor, target: Tensor, weight: Tensor, levels: int = 4) -> Tensor:
    """L1 between Laplacian pyramids (after Bojanowski et al., 2018), each level weighted by its
    pixel size. Stops at a level with an odd or tiny side.

    The pyramid of the difference is the difference of the pyramids, for half of the work."""
    total, difference = 0, alpha - target
    for level in range(levels):
        sides = difference.shape[2:]
        if min(sides) < 4 or any(side % 2 for side in sides):
            break
        lower = F.avg_pool2d(difference, 2)
        total = total + 2**level * weighted_mean((difference - upsample_2x(lower)).abs(), weight)
        difference, weight = lower, F.avg_pool2d(weight, 2)
    return total


def soft_iou_loss(alpha: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    """1 - soft IoU of the person plus that of the background, by picture, in the mean."""
    intersection = (torch.minimum(alpha, target) * weight).sum((1, 2, 3))
    union = (torch.maximum(alpha, target) * weight).sum((1, 2, 3))
    whole = weight.sum((1, 2, 3))
    smooth = 0.005 * alpha[0].numel()  # a picture with hardly any of a class says little
    person = (intersection + smooth) / (union + smooth)
    background = (whole - union + smooth) / (whole - intersection + smooth)
    return (1 - person).mean() + (1 - background).mean()


def matte_loss(
    logits: Tensor, auxiliary: Sequence[Tensor], target: Tensor, pseudo: Tensor
) -> dict[str, Tensor]:
    """The losses by name, scalars.

    `logits` and `target` are [n, 1, H, W], `auxiliary` the logits of the auxiliary heads at lower
    resolutions, `pseudo`, bool [n], tells which targets are pseudo-labels."""
    logits = logits.float()
    alpha = torch.sigmoid(logits)
    class_weight, matte_weight = confidence_weights(target, pseudo)
    bce = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    terms = {
        "bce": weighted_mean(bce, class_weight),
        "l1": weighted_mean((alpha - target).abs(), matte_weight),
        "laplacian": laplacian_loss(alpha, target, matte_weight),
        "soft_iou": soft_iou_loss(alpha, target, matte_weight.clamp_max(1)),
    }
    if auxiliary:
        targets = [F.adaptive_avg_pool2d(target, head.shape[2:]) for head in auxiliary]
        by_head = (
            F.binary_cross_entropy_with_logits(head.float(), small)
            for head, small in zip(auxiliary, targets)
        )
        terms["auxiliary"] = sum(by_head) / len(auxiliary)
    return terms


def temporal_loss(alpha: Tensor, target: Tensor, frames: int) -> Tensor:
    """Mean absolute difference of the changes from frame to frame of alpha and `target` [n *
    frames, 1, H, W] (after Lin et al., "Robust High-Resolution Video Matting with Temporal
    Guidance", 2021), relative to a tenth of the frame. A scalar."""
    error = (alpha - target).unflatten(0, (-1, frames))
    return 10 * (error[:, 1:] - error[:, :-1]).abs().mean()


def weighted_sum(terms: Mapping[str, Tensor], weights: Mapping[str, float | Tensor]) -> Tensor:
    """The sum of all losses, each times its weight, a number or a scalar tensor."""
    return sum(weights[name] * value for name, value in terms.items())
