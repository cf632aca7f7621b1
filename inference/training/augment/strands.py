# SPDX-License-Identifier: Apache-2.0
"""Hair, fur, knit and fringe on the outlines of people, with true alpha: curves narrower than a
pixel, straight, wavy or curled, alone or in locks, in the wind. A pixel's alpha is one minus the
light that passes all strands, as if they lay independently of each other; its colour is the mean of
theirs."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from augment.camera import gaussian_blur
from augment.motion import follow
from augment.sampling import RandomGenerator, per_image, to_device

STRAND_RATE = 0.4  # of scenes
STRANDS = 900  # of a scene
LOCKS = 40  # of a scene, at most
SEGMENTS, SAMPLES = 20, 120  # of a strand: straight pieces, and points at which it is drawn
ALL_ROUND_RATE = 0.2  # of scenes with strands along the whole outline: fur, knit, fringe
UPPER_SHARE = 0.3  # of the person's area: where hair grows otherwise


def find_roots(person: Tensor, rng: RandomGenerator, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """`count` points on the outline of people [n, 1, H, W], drawn at random; most on the upper part
    of them.

    Returns positions in pixels from the middle of the frame and outward unit normals, both [n,
    count, 2] as (x, y), and whether the person has an outline, bool [n]."""
    n, _, height, width = person.shape
    inside = (person > 0.5).float()
    edge = inside - (1 - F.max_pool2d(1 - inside, 3, stride=1, padding=1))
    # The border of the frame is no outline.
    edge[:, :, [0, -1]] = 0
    edge[:, :, :, [0, -1]] = 0
    rows = inside.sum(3, keepdim=True)
    upper = (rows.cumsum(2) < UPPER_SHARE * rows.sum(2, keepdim=True)).float()
    everywhere = per_image(rng.bernoulli(ALL_ROUND_RATE, n)).float()
    likelihood = (edge * torch.maximum(upper, everywhere)).flatten(1)
    cumulative = likelihood.cumsum(1)
    total = cumulative[:, -1:]
    drawn = torch.searchsorted(cumulative, rng.uniform(0, 1, n, count) * total)
    drawn = drawn.clamp_max(height * width - 1)
    column, row = drawn % width, torch.div(drawn, width, rounding_mode="floor")
    smooth = gaussian_blur(person, max(1.0, 0.012 * max(height, width))).flatten(1)

    def at(dx: int, dy: int) -> Tensor:
        x, y = (column + dx).clamp(0, width - 1), (row + dy).clamp(0, height - 1)
        return smooth.gather(1, y * width + x)

    slope = torch.stack([at(-2, 0) - at(2, 0), at(0, -2) - at(0, 2)], 2)
    normal = slope / slope.norm(dim=2, keepdim=True).clamp_min(1e-4)
    place = torch.stack([column + 0.5 - width / 2, row + 0.5 - height / 2], 2)
    return place, normal, total.squeeze(1) > 20


def grow_strands(
    roots: Tensor, normals: Tensor, scale: Tensor, rng: RandomGenerator
) -> tuple[Tensor, Tensor]:
    """Curves from `roots` [n, s, 2]; `scale` [n] is the size of the person in pixels.

    Each scene has one style: length, weight, waves, curls, how far locks hold together. Returns
    points [n, s, SEGMENTS + 1, 2] and the segments' length [n, s]."""
    n, count = roots.shape[:2]
    # Strands of a lock begin near each other and go the same way.
    lock = (rng.uniform(0, LOCKS, n, count)).long().clamp_max(LOCKS - 1)
    in_locks = rng.bernoulli(0.6, n).view(-1, 1, 1).float()
    spread = rng.uniform(0.01, 0.08, n).view(-1, 1, 1) * scale.view(-1, 1, 1)

    def of_lock(values: Tensor) -> Tensor:
        return values.gather(1, lock.unsqueeze(2).expand(-1, -1, values.shape[2]))

    near = of_lock(roots[:, :LOCKS]) + spread * rng.normal(0.5, n, count, 2)
    roots = torch.lerp(roots, near, in_locks)
    normals = torch.lerp(normals, of_lock(normals[:, :LOCKS]), in_locks)
    style = torch.exp(rng.uniform(math.log(0.02), math.log(0.4), n, 1))  # length
    by_lock = of_lock(torch.exp(rng.normal(0.35, n, LOCKS, 1))).squeeze(2)
    length = style * scale.view(-1, 1) * by_lock * torch.exp(rng.normal(0.3, n, count))
    step = length / SEGMENTS
    ruffled = rng.uniform(0.1, 0.8, n, 1)
    angle = torch.atan2(normals[..., 1], normals[..., 0])
    lock_angle = of_lock(rng.normal(0.5, n, LOCKS, 1)).squeeze(2)
    angle = angle + lock_angle * rng.uniform(0, 1, n, 1) + ruffled * rng.normal(1, n, count)
    along = torch.linspace(0, 1, SEGMENTS, device=roots.device)
    # Waves and curls: the direction swings about the strand's own; a bend for each lock.
    swing = rng.uniform(0, 1.3, n, 1, 1) * rng.bernoulli(0.6, n).view(-1, 1, 1).float()
    waves = torch.exp(rng.uniform(math.log(0.7), math.log(6), n, 1, 1))
    phase = of_lock(rng.uniform(0, 2 * math.pi, n, LOCKS, 1)) + rng.normal(0.5, n, count, 1)
    bend = of_lock(rng.normal(0.8, n, LOCKS, 1)) + rng.normal(0.3, n, count, 1)
    direction = angle.unsqueeze(2) + bend * along
    direction = direction + swing * torch.sin(2 * math.pi * waves * along + phase)
    # Wind: in each frame another bend, which grows towards the tip.
    wind = rng.each_frame.normal(0.25, n, 1, 1) * rng.bernoulli(0.5, n).view(-1, 1, 1).float()
    direction = direction + wind * along * (1 + rng.normal(0.3, n, count, 1))
    heavy = rng.uniform(0, 1.6, n, 1, 1) * rng.bernoulli(0.7, n).view(-1, 1, 1).float()
    dx, dy = direction.cos(), direction.sin() + heavy * along
    norm = torch.hypot(dx, dy).clamp_min(1e-3)
    steps = torch.stack([dx / norm, dy / norm], 3) * step.view(n, count, 1, 1)
    points = roots.unsqueeze(2) + F.pad(steps.cumsum(2), (0, 0, 1, 0))
    return points, step


def draw_strands(
    points: Tensor, step: Tensor, width: Tensor, colour: Tensor, size: tuple[int, int]
) -> tuple[Tensor, Tensor]:
    """Draws curves into frames of `size` (H, W).

    `points` [n, s, p, 2] are in pixels from the middle of the frame, `step` [n, s] is the length of
    a segment, `width` [n, s] that of the strand at its root, in pixels, `colour` [n, s, 3]. Returns
    RGB [n, 3, H, W] and alpha [n, 1, H, W]."""
    (n, _, p, _), (height, columns) = points.shape, size
    at = torch.linspace(0, p - 1, SAMPLES, device=points.device)
    left = at.long().clamp_max(p - 2)
    place = torch.lerp(points[:, :, left], points[:, :, left + 1], (at - left).view(1, 1, -1, 1))
    taper = (1 - torch.linspace(0, 1, SAMPLES, device=points.device) ** 3).view(1, 1, -1)
    spacing = step * (p - 1) / SAMPLES
    cover = (width * spacing).unsqueeze(2) * taper
    x, y = place[..., 0] + columns / 2 - 0.5, place[..., 1] + height / 2 - 0.5
    x0, y0 = x.floor(), y.floor()
    fx, fy = x - x0, y - y0
    frame = torch.arange(n, device=points.device).view(n, 1, 1) * (height * columns)
    values = torch.cat([colour, torch.ones_like(colour[..., :1])], 2).unsqueeze(2)
    planes = torch.zeros(n * height * columns, 4, device=points.device)
    for dx, dy in ((0, 0), (1, 0), (0, 1), (1, 1)):
        weight = cover * (fx if dx else 1 - fx) * (fy if dy else 1 - fy)
        column, row = x0.long() + dx, y0.long() + dy
        visible = (column >= 0) & (column < columns) & (row >= 0) & (row < height)
        index = frame + row.clamp(0, height - 1) * columns + column.clamp(0, columns - 1)
        amount = (weight * visible).unsqueeze(3) * values
        planes.index_add_(0, index.flatten(), amount.flatten(0, 2))
    planes = planes.view(n, height, columns, 4).permute(0, 3, 1, 2)
    thickness = planes[:, 3:]
    return (planes[:, :3] / thickness.clamp_min(1e-4)).clamp(0, 1), 1 - torch.exp(-thickness)


def add_strands(
    image: Tensor,
    alpha: Tensor,
    motion: Tensor,
    rng: RandomGenerator,
    rate: float = STRAND_RATE,
) -> tuple[Tensor, Tensor]:
    """Adds strands to people of scenes at `rate`. They follow the person's `motion` [n, 2, 3].

    Takes and returns RGB [n, 3, H, W] and mattes [n, c, H, W], the first of which tells where
    people are; the strands join all."""
    chosen = rng.subset(rate, image.shape[0])
    n, size = len(chosen), image.shape[2:]
    if not n:
        return image, alpha
    first = rng.of_first_frame(chosen)
    person = alpha[first, :1]
    roots, normals, exists = find_roots(person, rng, STRANDS)
    # The hair's colour is that of the picture a little way inside.
    scale = person.mean((1, 2, 3)).sqrt() * math.sqrt(size[0] * size[1])
    inward = roots - normals * (0.03 * scale).view(-1, 1, 1)
    half = to_device(torch.tensor([size[1] / 2, size[0] / 2]), image.device)
    grid = (inward / half).unsqueeze(2)
    colour = F.grid_sample(image[first], grid, padding_mode="border", align_corners=False)
    colour = colour.squeeze(3).transpose(1, 2)
    mixed = rng.uniform(0, 1, n, 1, 1)
    colour = torch.lerp(colour, colour.mean(1, keepdim=True), mixed)
    shade = torch.exp(rng.normal(0.2, n, STRANDS, 1) + rng.normal(0.15, n, 1, 1))
    colour = (colour * shade).clamp(0, 1)
    points, step = grow_strands(roots, normals, scale, rng)
    points = follow(points, motion[first], motion[chosen])
    # Sensors see hairs of a tenth of a pixel to some pixels; the frame's size tells how far away
    # they are.
    width = torch.exp(rng.uniform(math.log(0.0006), math.log(0.004), n, 1)) * scale.view(-1, 1)
    density = rng.uniform(0.05, 1, n, 1).sqrt()
    drawn = (rng.uniform(0, 1, n, STRANDS) < density) & exists.view(-1, 1)
    width = width.clamp(0.2, 3) * torch.exp(rng.normal(0.3, n, STRANDS)) * drawn
    strands, cover = draw_strands(points, step, width, colour, size)
    image = image.index_copy(0, chosen, torch.lerp(image[chosen], strands, cover))
    joined = 1 - (1 - alpha[chosen]) * (1 - cover)
    return image, alpha.index_copy(0, chosen, joined)
