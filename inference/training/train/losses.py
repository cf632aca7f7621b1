# SPDX-License-Identifier: Apache-2.0
"""What training minimises. Human mattes are right about what is a person and too hard at its edge; the models' mattes are soft at the edge and doubtful where they disagree."""
import torch
from torch.nn import functional as F

HUMAN_EDGE = 0.4  # trust in a human matte within a few pixels of its edge, for the losses about softness
DOUBT = 0.25  # trust in a model's matte where it is neither 0 nor 1 over an area too broad for hair


def pooled(pool, plane, radius, **options):
    """`plane` by `pool` over windows of 2 `radius` + 1 pixels a side, across and then down: a tenth of the work where they are wide."""
    across = pool(plane, (1, 2 * radius + 1), stride=1, padding=(0, radius), **options)
    return pool(across, (2 * radius + 1, 1), stride=1, padding=(radius, 0), **options)


def spread(alpha, radius):
    """Where alpha changes within `radius` pixels, 0 to 1."""
    return pooled(F.max_pool2d, alpha, radius) + pooled(F.max_pool2d, -alpha, radius)


def trust(alpha, soft):
    """(for what is a person, for softness), each [n, 1, H, W]; soft bool [n] says which mattes models made."""
    radius = max(2, round(max(alpha.shape[2:]) / 160))
    soft = soft.view(-1, 1, 1, 1)
    edge = spread(alpha, radius)
    grey = pooled(F.avg_pool2d, 4 * alpha * (1 - alpha), 2 * radius, count_include_pad=False)
    doubt = ((grey - 0.35) / 0.3).clamp(0, 1) * soft
    sure = 1 - (1 - DOUBT) * doubt
    return sure * (1 + edge), sure * torch.where(soft, 1 + 2 * edge, 1 - (1 - HUMAN_EDGE) * edge)


def weighted_mean(values, weight):
    return (values * weight).sum() / weight.sum().clamp_min(1e-6)


def doubled(plane):
    """[n, c, 2H, 2W] by linear interpolation, as F.interpolate does it, in sums of slices: their gradient comes out the same each time, F.interpolate's does not on a GPU."""
    for dim in (2, 3):
        size = plane.shape[dim]
        before = torch.cat([plane.narrow(dim, 0, 1), plane.narrow(dim, 0, size - 1)], dim)
        after = torch.cat([plane.narrow(dim, 1, size - 1), plane.narrow(dim, size - 1, 1)], dim)
        plane = torch.stack([0.75 * plane + 0.25 * before, 0.75 * plane + 0.25 * after], dim + 1).flatten(dim, dim + 1)
    return plane


def pyramid(alpha, target, weight, levels=4):
    """L1 between Laplacian pyramids (after Bojanowski et al., 2018), each level weighted by its size in pixels of the first. Ends where a side is odd or tiny. The pyramid of a
    difference is the difference of the pyramids, for half the work."""
    total, difference = 0, alpha - target
    for level in range(levels):
        if min(difference.shape[2:]) < 4 or any(side % 2 for side in difference.shape[2:]):
            break
        lower = F.avg_pool2d(difference, 2)
        total = total + 2**level * weighted_mean((difference - doubled(lower)).abs(), weight)
        difference, weight = lower, F.avg_pool2d(weight, 2)
    return total


def overlap(alpha, target, weight):
    """1 - soft IoU, of the person and of the background, by picture: the numbers that models are judged by."""
    common = (torch.minimum(alpha, target) * weight).sum((1, 2, 3))
    either = (torch.maximum(alpha, target) * weight).sum((1, 2, 3))
    whole = weight.sum((1, 2, 3))
    slack = 0.005 * alpha[0].numel()  # a picture with hardly any of this class says little
    person, background = (common + slack) / (either + slack), (whole - either + slack) / (whole - common + slack)
    return (1 - person).mean() + (1 - background).mean()


def matte_loss(logits, aux, target, soft):
    """All terms between logits [n, 1, H, W] (and those of the heads for training) and the matte, by name."""
    logits = logits.float()
    alpha = torch.sigmoid(logits)
    person, softness = trust(target, soft)
    terms = {
        "bce": weighted_mean(F.binary_cross_entropy_with_logits(logits, target, reduction="none"), person),
        "l1": weighted_mean((alpha - target).abs(), softness),
        "pyramid": pyramid(alpha, target, softness),
        "overlap": overlap(alpha, target, softness.clamp_max(1)),
    }
    small = [F.adaptive_avg_pool2d(target, head.shape[2:]) for head in aux]
    if aux:
        terms["aux"] = sum(F.binary_cross_entropy_with_logits(a.float(), t) for a, t in zip(aux, small)) / len(aux)
    return terms


def total(terms, weights):
    """The sum of all terms, each times its weight, a number or a tensor of one."""
    return sum(weights[name] * value for name, value in terms.items())
