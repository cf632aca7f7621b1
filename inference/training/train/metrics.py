# SPDX-License-Identifier: Apache-2.0
"""How far a matte is from the true one: the definitions of inference/evaluate, for tensors [1, 1, h, w] of 0 to 1."""
import math

import torch
from torch.nn import functional as F

QUICK = ("miou", "person", "mad", "mse", "boundary", "uncertain", "away")
SLOW = ("gradient", "connectivity")  # Rhemann et al., CVPR 2009, in thousands of pixels


def iou(a, b):
    either = (a | b).sum()
    return float((a & b).sum() / either) if either else 1.0


def grown(mask, radius):
    """What lies within `radius` of something set, along both axes."""
    return F.max_pool2d(mask.float(), 2 * radius + 1, stride=1, padding=radius) > 0


def outline(person):
    """The person's pixels that touch the background, also at a corner; the picture's edge is no outline."""
    return person & grown(~person, 1)


def boundary_f(found, truth, tolerance=2):
    """F-score of one outline by another, `tolerance` pixels off allowed along either axis."""
    if not found.any() or not truth.any():
        return float(found.any() == truth.any())
    precision = float((found & grown(truth, tolerance)).sum() / found.sum())
    recall = float((truth & grown(found, tolerance)).sum() / truth.sum())
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def uncertain(alpha):
    return (alpha > 0.05) & (alpha < 0.95)


def score(alpha, truth, full=False):
    """All measures by name; those of SLOW only when `full`."""
    found, person = alpha > 0.5, truth > 0.5
    edge = outline(person)
    near = grown(edge | uncertain(truth), max(2, int(max(truth.shape[2:]) / 50 + 0.5)))
    inner = iou(found, person)
    difference = alpha.double() - truth.double()
    scores = {
        "miou": (inner + iou(~found, ~person)) / 2,
        "person": inner,
        "mad": float(difference.abs().mean()),
        "mse": float(difference.square().mean()),
        "boundary": boundary_f(outline(found), edge),
        "uncertain": float(uncertain(alpha).double().mean()),
        "away": float((uncertain(alpha) & ~near).double().mean()),
    }
    if full:
        scores["gradient"] = gradient_error(alpha, truth)
        scores["connectivity"] = connectivity_error(alpha, truth)
    return scores


def mean_scores(rows):
    """Means by photo; worst: mean miou of the worst tenth."""
    means = {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}
    worst = sorted(row["miou"] for row in rows)[: max(1, len(rows) // 10)]
    return {**means, "worst": sum(worst) / len(worst), "photos": len(rows)}


def gradient_length(alpha, sigma=1.4, radius=4):
    x = torch.arange(-radius, radius + 1, dtype=torch.float64, device=alpha.device)
    smooth = torch.exp(-x * x / (2 * sigma * sigma))
    slope = -x * smooth
    smooth, slope = smooth / smooth.norm(), slope / slope.norm()
    padded = F.pad(alpha.double(), (radius,) * 4, mode="replicate")

    def filtered(across, down):
        return F.conv2d(F.conv2d(padded, across.view(1, 1, 1, -1)), down.view(1, 1, -1, 1))

    return torch.hypot(filtered(slope, smooth), filtered(smooth, slope))


def gradient_error(alpha, truth):
    return float((gradient_length(alpha) - gradient_length(truth)).square().sum()) / 1000


def largest_region(mask):
    """bool [h, w]: the largest region (the first of those as large) of pixels that are neighbours along an axis. Runs along rows are joined where they touch."""
    parent, size, runs = [], [], []

    def root(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    above = []
    padded = F.pad(mask.to(torch.int8), (1, 1)).diff(dim=1)
    for y, row in enumerate(padded):
        begins, ends = (row == 1).nonzero().flatten().tolist(), (row == -1).nonzero().flatten().tolist()
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
                a, b = root(above[k]), root(run)
                if a != b:
                    a, b = min(a, b), max(a, b)  # the earliest run stands for the region
                    parent[b] = a
                    size[a] += size[b]
                k += 1
            here.append(run)
        above = here
    region = torch.zeros_like(mask)
    if parent:
        best = max((i for i in range(len(parent)) if parent[i] == i), key=lambda i: (size[i], -i))
        for i, (y, begin, end) in enumerate(runs):
            if root(i) == best:
                region[y, begin:end] = True
    return region


def connectivity_error(alpha, truth, steps=10, tolerance=0.15, rounding=1e-6):
    alpha, truth = alpha[0, 0].double().cpu(), truth[0, 0].double().cpu()
    level = torch.full_like(truth, -1)
    for step in range(1, steps + 1):
        threshold = step / steps - rounding
        inside = largest_region((alpha >= threshold) & (truth >= threshold))
        level[(level < 0) & ~inside] = (step - 1) / steps
    level[level < 0] = 1

    def connectedness(matte):
        distance = matte - level
        return torch.where(distance >= tolerance - rounding, 1 - distance, torch.ones_like(distance))

    return float((connectedness(alpha) - connectedness(truth)).abs().sum()) / 1000
