# SPDX-License-Identifier: Apache-2.0
"""Metrics of a matte against the true one, as inference/tools/evaluate defines them, for tensors
[1, 1, h, w] of 0 to 1 and masks of bool."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

FAST_METRICS = ("miou", "person", "mad", "mse", "boundary", "uncertain", "away")
SLOW_METRICS = ("gradient", "connectivity")  # Rhemann et al., CVPR 2009, in thousands of pixels
# In the unknown band, after Rhemann et al. too; all but the MSE in thousands of pixels.
BAND_METRICS = ("band_sad", "band_mse", "band_gradient", "band_connectivity", "hair_gradient")


def iou(a: Tensor, b: Tensor) -> float:
    """Intersection over union of two masks."""
    union = (a | b).sum()
    return float((a & b).sum() / union) if union else 1.0


def dilate(mask: Tensor, radius: int) -> Tensor:
    """The mask dilated by a square of 2 `radius` + 1 pixels a side."""
    return F.max_pool2d(mask.float(), 2 * radius + 1, stride=1, padding=radius) > 0


def boundary(person: Tensor) -> Tensor:
    """The pixels of the person that touch the background, also at a corner; the border of the
    picture is no boundary."""
    return person & dilate(~person, 1)


def boundary_f_score(predicted: Tensor, truth: Tensor, tolerance: int = 2) -> float:
    """F-score of a boundary, within `tolerance` pixels along either axis."""
    if not predicted.any() or not truth.any():
        return float(predicted.any() == truth.any())
    precision = float((predicted & dilate(truth, tolerance)).sum() / predicted.sum())
    recall = float((truth & dilate(predicted, tolerance)).sum() / truth.sum())
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def is_uncertain(alpha: Tensor) -> Tensor:
    """Mask of the pixels that are neither person nor background."""
    return (alpha > 0.05) & (alpha < 0.95)


def soft_pixels(truth: Tensor) -> Tensor:
    """Mask of the pixels of a true matte that are mixed."""
    return (truth > 0.02) & (truth < 0.98)


def is_soft(truth: Tensor, share: float = 0.01) -> bool:
    """Whether a matte is a true alpha and no label with a hard edge: more than `share` of its
    pixels are soft."""
    return int(soft_pixels(truth).sum()) > share * truth.numel()


def unknown_band(truth: Tensor) -> Tensor:
    """The soft pixels, dilated by a hundredth of the longest side, at least by 2 pixels."""
    return dilate(soft_pixels(truth), max(2, int(max(truth.shape[2:]) / 100 + 0.5)))


def hair_part(band: Tensor, truth: Tensor, share: float = 1 / 3, rounding: float = 1e-6) -> Tensor:
    """The rows of a band from the top to that in which `share` of the person's area is passed."""
    area = truth.double().sum(3, keepdim=True)  # by row
    before = area.cumsum(2) - area
    return band & (before < share * area.sum() - rounding)


def band_scores(
    difference: Tensor, truth: Tensor, gradient: Tensor, connectivity: Tensor
) -> dict[str, float]:
    """BAND_METRICS by name, of errors by pixel; none where nothing is soft."""
    band = unknown_band(truth)
    if not band.any():
        return {}
    values = (
        float(difference[band].abs().sum()) / 1000,
        float(difference[band].square().mean()),
        float(gradient[band].sum()) / 1000,
        float(connectivity[band].sum()) / 1000,
        float(gradient[hair_part(band, truth)].sum()) / 1000,
    )
    return dict(zip(BAND_METRICS, values))


def score(
    alpha: Tensor, truth: Tensor, full: bool = False, every_band: bool = False
) -> dict[str, float]:
    """All metrics by name; those of SLOW_METRICS only when `full`, and then those of BAND_METRICS
    where the truth is soft, or `every_band` is set."""
    predicted, person = alpha > 0.5, truth > 0.5
    edge = boundary(person)
    radius = max(2, int(max(truth.shape[2:]) / 50 + 0.5))
    near = dilate(edge | is_uncertain(truth), radius)
    person_iou = iou(predicted, person)
    difference = alpha.double() - truth.double()
    scores = {
        "miou": (person_iou + iou(~predicted, ~person)) / 2,
        "person": person_iou,
        "mad": float(difference.abs().mean()),
        "mse": float(difference.square().mean()),
        "boundary": boundary_f_score(boundary(predicted), edge),
        "uncertain": float(is_uncertain(alpha).double().mean()),
        "away": float((is_uncertain(alpha) & ~near).double().mean()),
    }
    if full:
        gradient, connectivity = gradient_errors(alpha, truth), connectivity_errors(alpha, truth)
        scores["gradient"] = float(gradient.sum()) / 1000
        scores["connectivity"] = float(connectivity.sum()) / 1000
        if every_band or is_soft(truth):
            scores |= band_scores(difference, truth, gradient, connectivity)
    return scores


def mean_scores(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """Means over the photos, those of BAND_METRICS over the photos that have them; `worst` is the
    mean miou of the worst tenth."""
    names = {name: None for row in rows for name in row}  # in order
    values = {name: [row[name] for row in rows if name in row] for name in names}
    means = {name: sum(column) / len(column) for name, column in values.items()}
    worst = sorted(values["miou"])[: max(1, len(rows) // 10)]
    bands = len(values.get(BAND_METRICS[0], ()))
    return {**means, "worst": sum(worst) / len(worst), "photos": len(rows), "bands": bands}


def gradient_magnitude(alpha: Tensor, sigma: float = 1.4, radius: int = 4) -> Tensor:
    """Magnitude of the gradient by derivatives of a Gaussian, f64 [1, 1, h, w]."""
    x = torch.arange(-radius, radius + 1, dtype=torch.float64, device=alpha.device)
    smooth = torch.exp(-x * x / (2 * sigma * sigma))
    slope = -x * smooth
    smooth, slope = smooth / smooth.norm(), slope / slope.norm()
    padded = F.pad(alpha.double(), (radius,) * 4, mode="replicate")

    def filter_separably(across: Tensor, down: Tensor) -> Tensor:
        return F.conv2d(F.conv2d(padded, across.view(1, 1, 1, -1)), down.view(1, 1, -1, 1))

    return torch.hypot(filter_separably(slope, smooth), filter_separably(smooth, slope))


def gradient_errors(alpha: Tensor, truth: Tensor) -> Tensor:
    """Squared differences of the gradient magnitudes, f64 [1, 1, h, w]."""
    return (gradient_magnitude(alpha) - gradient_magnitude(truth)).square()


def largest_component(mask: Tensor) -> Tensor:
    """The largest 4-connected component of a mask [h, w], the first of several as large. Runs along
    rows are joined where they touch (union-find)."""
    parent, size, runs = [], [], []

    def find(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    above = []
    padded = F.pad(mask.to(torch.int8), (1, 1)).diff(dim=1)
    for y, row in enumerate(padded):
        begins, ends = ((row == step).nonzero().flatten().tolist() for step in (1, -1))
        here, first = [], 0
        for begin, end in zip(begins, ends):
            run = len(parent)
            parent.append(run)
            size.append(end - begin)
            runs.append((y, begin, end))
            while first < len(above) and runs[above[first]][2] <= begin:
                first += 1
            k = first
            while k < len(above) and runs[above[k]][1] < end:
                a, b = find(above[k]), find(run)
                if a != b:
                    a, b = min(a, b), max(a, b)  # the earliest run stands for the component
                    parent[b] = a
                    size[a] += size[b]
                k += 1
            here.append(run)
        above = here
    component = torch.zeros_like(mask)
    if parent:
        roots = [i for i in range(len(parent)) if parent[i] == i]
        best = max(roots, key=lambda i: (size[i], -i))
        for i, (y, begin, end) in enumerate(runs):
            if find(i) == best:
                component[y, begin:end] = True
    return component


def connectivity_errors(
    alpha: Tensor, truth: Tensor, steps: int = 10, tolerance: float = 0.15, rounding: float = 1e-6
) -> Tensor:
    """Absolute differences of the degrees of connectedness, f64 [1, 1, h, w]."""
    device = alpha.device
    alpha, truth = alpha[0, 0].double().cpu(), truth[0, 0].double().cpu()
    level = torch.full_like(truth, -1)
    for step in range(1, steps + 1):
        threshold = step / steps - rounding
        inside = largest_component((alpha >= threshold) & (truth >= threshold))
        level[(level < 0) & ~inside] = (step - 1) / steps
    level[level < 0] = 1

    def connectedness(matte: Tensor) -> Tensor:
        distance = matte - level
        return torch.where(
            distance >= tolerance - rounding, 1 - distance, torch.ones_like(distance)
        )

    return (connectedness(alpha) - connectedness(truth)).abs()[None, None].to(device)
