# SPDX-License-Identifier: Apache-2.0
"""Motion of people, cameras and things in sequences of pictures."""

import math

import torch
from torch import Tensor

from augment.sampling import RandomGenerator, to_device


def identity_motion(n: int, device: torch.device | str) -> Tensor:
    """The motion [n, 2, 3] of what stands still."""
    motion = torch.zeros(n, 2, 3, device=device)
    motion[:, 0, 0] = motion[:, 1, 1] = 1
    return motion


def random_motion(
    n: int,
    size: tuple[int, int],
    rng: RandomGenerator,
    still_rate: float,
    speed_limit: float = 0.05,
) -> Tensor:
    """How things move in sequences of frames of `size` (H, W): for each picture an affine map [n,
    2, 3] from the position in it, in pixels from the middle of the frame, to that in a picture
    where the thing stands as it was put.

    A straight way with zoom, rotation and a lean, from a two-thousandth of the frame a picture to
    `speed_limit` of it, there and back for some, and the trembling of a hand or a desk."""
    if rng.frames == 1:
        return identity_motion(n, rng.device)
    side, frames = max(size), rng.frames
    sequences, each = rng.sequences(n), rng.each_frame
    time = torch.arange(frames).float().view(1, frames, 1)
    start = torch.rand(sequences, 1, 1, generator=rng.generator) * (frames - 1)
    turning = torch.rand(sequences, 1, 1, generator=rng.generator) < 0.3
    time = time - start
    time = torch.where(turning, 2.5 * torch.sin(time / 2.5), time)
    time = to_device(time.flatten(0, 1), rng.device)
    speed = torch.exp(rng.uniform(math.log(0.0005), math.log(speed_limit), n, 1))
    speed = speed * (1 - rng.bernoulli(still_rate, n).float()).view(-1, 1)
    direction = rng.uniform(0, 2 * math.pi, n, 1)
    along = torch.cat([direction.cos(), 0.6 * direction.sin()], 1)
    tremble = each.normal(0.0007, n, 2) * rng.bernoulli(0.5, n).float().view(-1, 1)
    shift = side * (speed * time * along + tremble)
    rates = rng.normal(0.5, n, 3) * speed * time  # of zoom, rotation and lean
    zoom, angle, lean = torch.exp(rates[:, 0].clamp(-0.4, 0.4)), rates[:, 1], rates[:, 2]
    motion = torch.empty(n, 2, 3, device=shift.device)
    motion[:, 0, 0], motion[:, 1, 1] = zoom * angle.cos(), zoom * angle.cos()
    motion[:, 0, 1], motion[:, 1, 0] = lean - zoom * angle.sin(), zoom * angle.sin()
    motion[:, :, 2] = -shift
    return motion


def positions(size: tuple[int, int], device: torch.device | str) -> tuple[Tensor, Tensor]:
    """x [1, 1, W] and y [1, H, 1] of the pixels of a frame of `size` (H, W), from its middle."""
    height, width = size
    x = torch.arange(width, device=device) + 0.5 - width / 2
    y = torch.arange(height, device=device) + 0.5 - height / 2
    return x.view(1, 1, width), y.view(1, height, 1)


def transform(motion: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Where `motion` [n, 2, 3] leads positions x and y, which broadcast to [n, rows, columns]."""
    m = motion.unsqueeze(-1).unsqueeze(-1)
    return (m[:, i, 0] * x + m[:, i, 1] * y + m[:, i, 2] for i in (0, 1))


def inverse_motion(motion: Tensor) -> Tensor:
    """The inverse of affine maps [n, 2, 3]."""
    a, b, c, d = motion[:, 0, 0], motion[:, 0, 1], motion[:, 1, 0], motion[:, 1, 1]
    determinant = a * d - b * c
    linear = torch.stack([torch.stack([d, -b], 1), torch.stack([-c, a], 1)], 1)
    linear = linear / determinant.view(-1, 1, 1)
    return torch.cat([linear, -linear @ motion[:, :, 2:]], 2)


def follow(points: Tensor, first: Tensor, motion: Tensor) -> Tensor:
    """Where points [n, ..., 2] of the first picture, in pixels from the middle of the frame, are in
    each picture. `first` [n, 2, 3] is the thing's motion in the first picture, `motion` in each."""
    for affine in (first, inverse_motion(motion)):
        m = affine.view(len(affine), *([1] * (points.ndim - 2)), 2, 3)
        points = (m[..., :2] @ points.unsqueeze(-1)).squeeze(-1) + m[..., 2]
    return points
