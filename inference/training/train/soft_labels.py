# SPDX-License-Identifier: Apache-2.0
"""Soft mattes from hard labels: closed-form matting (Levin, Lischinski, Weiss, "A Closed-Form
Solution to Natural Image Matting", 2008) in a band around each label's edge, in agreement with the
matte of a network that knows hair. Batches on the accelerator: the product with the matting
Laplacian is taken by box filters (He, Sun, Tang, "Fast Matting Using Large Kernel Matting Laplacian
Matrices", 2010), and conjugate gradients solve for alpha."""

import torch
from torch import Tensor
from torch.nn import functional as F

BAND = 0.02  # half width of the band, in longest sides of the photo
HAIR_BAND = 0.035  # outside of the label, about its upper third
EPSILON = 1e-5  # regularisation of the colours' covariances
CONSTRAINT = 100.0  # weight of what is known
TOLERANCE = 0.25  # greatest difference of two mattes that agree
ITERATIONS = 120


def box_mean(planes: Tensor) -> Tensor:
    """Means of [n, c, H, W] over 3x3 windows, those at the border of what they hold."""
    return F.avg_pool2d(planes, 3, stride=1, padding=1, count_include_pad=False)


def box_sum(planes: Tensor) -> Tensor:
    """Sums of [n, c, H, W] over 3x3 windows."""
    return 9 * F.avg_pool2d(planes, 3, stride=1, padding=1)


class MattingLaplacian:
    """The matting Laplacian of RGB [n, 3, H, W] in 0 to 1, for windows of 3x3 pixels."""

    def __init__(self, image: Tensor) -> None:
        self.image, self.mean = image, box_mean(image)
        self.count = box_sum(torch.ones_like(image[:, :1]))
        products = torch.stack([image[:, i] * image[:, j] for i, j in self.pairs()], 1)
        means = torch.stack([self.mean[:, i] * self.mean[:, j] for i, j in self.pairs()], 1)
        covariance = box_mean(products) - means
        rr, rg, rb, gg, gb, bb = covariance.unbind(1)
        rr, gg, bb = rr + EPSILON, gg + EPSILON, bb + EPSILON
        adjugate = torch.stack(
            [
                gg * bb - gb * gb,
                gb * rb - rg * bb,
                rg * gb - gg * rb,
                rr * bb - rb * rb,
                rg * rb - rr * gb,
                rr * gg - rg * rg,
            ],
            1,
        )
        determinant = rr * adjugate[:, 0] + rg * adjugate[:, 1] + rb * adjugate[:, 2]
        self.inverse = adjugate / determinant.unsqueeze(1)

    @staticmethod
    def pairs() -> list[tuple[int, int]]:
        """The entries of a symmetric 3x3 matrix."""
        return [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]

    def solve(self, vector: Tensor) -> Tensor:
        """The product of each window's inverse covariance and `vector` [n, 3, H, W]."""
        a, b, c, d, e, f = self.inverse.unbind(1)
        x, y, z = vector.unbind(1)
        return torch.stack([a * x + b * y + c * z, b * x + d * y + e * z, c * x + e * y + f * z], 1)

    def __matmul__(self, alpha: Tensor) -> Tensor:
        """The product with alpha [n, 1, H, W]."""
        mean = box_mean(alpha)
        slope = self.solve(box_mean(self.image * alpha) - self.mean * mean)
        offset = mean - (slope * self.mean).sum(1, keepdim=True)
        explained = (box_sum(slope) * self.image).sum(1, keepdim=True) + box_sum(offset)
        return self.count * alpha - explained


def closed_form_matte(image: Tensor, known: Tensor, alpha: Tensor) -> Tensor:
    """Alpha [n, 1, H, W] of RGB [n, 3, H, W], where `alpha` is right wherever `known`, bool [n, 1,
    H, W]. Conjugate gradients, preconditioned by the diagonal."""
    laplacian, weight = MattingLaplacian(image), CONSTRAINT * known.float()

    def product(x: Tensor) -> Tensor:
        return laplacian @ x + weight * x

    def dot(a: Tensor, b: Tensor) -> Tensor:
        return (a * b).sum((1, 2, 3), keepdim=True)

    x = alpha.clone()
    diagonal = 1 + weight
    residual = weight * alpha - product(x)
    direction = residual / diagonal
    strength = dot(residual, direction)
    for _ in range(ITERATIONS):
        image_of_direction = product(direction)
        step = strength / dot(direction, image_of_direction).clamp_min(1e-12)
        x = x + step * direction
        residual = residual - step * image_of_direction
        preconditioned = residual / diagonal
        following = dot(residual, preconditioned)
        direction = preconditioned + following / strength.clamp_min(1e-12) * direction
        strength = following
    return torch.where(known, alpha, x.clamp(0, 1))


def known_pixels(alpha: Tensor, valid: Tensor, longest: float) -> Tensor:
    """Which pixels of labels [n, 1, H, W] are sure: those away from the edge, farther outside of
    the upper third of the person, where hair may be, and those beyond the photo, which are not
    `valid`. bool."""
    person = (alpha > 0.5).float()

    def grow(mask: Tensor, share: float) -> Tensor:
        radius = max(1, round(share * longest))
        grown = F.max_pool2d(mask, (2 * radius + 1, 1), stride=1, padding=(radius, 0))
        return F.max_pool2d(grown, (1, 2 * radius + 1), stride=1, padding=(0, radius))

    rows = person.sum(3, keepdim=True)
    upper = (rows.cumsum(2) < 0.33 * rows.sum(2, keepdim=True)).float()
    outside = torch.maximum(grow(person, BAND), grow(person * upper, HAIR_BAND))
    inside = 1 - grow((1 - person) * valid, BAND)
    return (inside > 0.5) | (outside < 0.5) | ~valid


@torch.no_grad()
def soften(image: Tensor, label: Tensor, other: Tensor, valid: Tensor) -> Tensor:
    """Soft mattes [n, 1, H, W] of RGB [n, 3, H, W] and labels [n, 1, H, W], all in 0 to 1, of the
    `valid` pixels, bool [n, 1, H, W].

    In the band around a label's edge the mean of the closed-form matte and of `other`, another
    network's, where these agree; the label everywhere else."""
    known = known_pixels(label, valid, max(image.shape[2:]))
    closed = closed_form_matte(image, known, label)
    agree = ~known & ((closed - other).abs() < TOLERANCE)
    return torch.where(agree, (closed + other) / 2, label)
