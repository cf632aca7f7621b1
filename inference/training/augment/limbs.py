# SPDX-License-Identifier: Apache-2.0
"""Raised arms and hands, bare or sleeved, as webcams show them before pale walls: forearms, palms
and fingers as capsules about their bones, which swing and bend from frame to frame."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from augment.motion import positions, transform
from augment.sampling import RandomGenerator, per_image, to_device

LIMB_RATES = (0.16, 0.05)  # of scenes with an arm; a second one
GRID = 24  # elbows are drawn on a grid of GRID x GRID cells
FINGERS = 5
# Skin in sRGB, from light to dark.
SKIN = (
    (0.96, 0.80, 0.72),
    (0.88, 0.67, 0.55),
    (0.76, 0.55, 0.42),
    (0.55, 0.37, 0.27),
    (0.30, 0.19, 0.14),
)


def capsule(
    x: Tensor, y: Tensor, begin: tuple[Tensor, Tensor], end: tuple[Tensor, Tensor], radii: tuple
) -> tuple[Tensor, Tensor, Tensor]:
    """The signed distance of positions to a capsule whose radius changes from one end to the other,
    the position along it, 0 to 1, and across it, -1 to 1; each [parts, n, 1, H, W]."""
    bx, by = end[0] - begin[0], end[1] - begin[1]
    px, py = x - begin[0], y - begin[1]
    square = (bx * bx + by * by).clamp_min(1e-6)
    along = ((px * bx + py * by) / square).clamp(0, 1)
    radius = radii[0] + (radii[1] - radii[0]) * along
    distance = torch.hypot(px - along * bx, py - along * by)
    across = (px * by - py * bx) / square.sqrt() / radius
    return distance - radius, along, across.clamp(-1, 1)


def draw_arm(
    elbow: tuple[Tensor, Tensor],
    length: Tensor,
    size: tuple[int, int],
    motion: Tensor,
    rng: RandomGenerator,
) -> tuple[Tensor, Tensor, Tensor]:
    """Forearms with hands, [n, 1, H, W] each: coverage, light, and how far along the arm a pixel
    is, 0 at the elbow and 1 from the wrist on.

    `elbow` (x, y) and `length` [n, 1, 1, 1] are in pixels, positions from the middle of the frame,
    before `motion`."""
    n = length.shape[0]
    x, y = transform(motion, *positions(size, length.device))
    x, y = x.unsqueeze(1), y.unsqueeze(1)
    time = (torch.arange(n, device=length.device) % rng.frames).float().view(n, 1, 1, 1)

    def swing(amplitude: float) -> Tensor:
        depth, speed, phase = rng.uniform(0, 1, n, 3, 1, 1).unsqueeze(2).unbind(1)
        return amplitude * depth * torch.sin((0.1 + 1.1 * speed) * time + 2 * math.pi * phase)

    def point(begin: tuple[Tensor, Tensor], angle: Tensor, reach: Tensor) -> tuple[Tensor, Tensor]:
        return begin[0] + reach * angle.cos(), begin[1] + reach * angle.sin()

    side = per_image(rng.sign(n))
    raised = -math.pi / 2 + rng.normal(0.6, n, 1, 1, 1) + swing(0.5)
    thick = length * rng.uniform(0.13, 0.19, n, 1, 1, 1)
    narrow = thick * rng.uniform(0.5, 0.7, n, 1, 1, 1)
    wrist = point(elbow, raised, length)
    angle = raised + rng.normal(0.35, n, 1, 1, 1) + swing(0.4)
    hand = length * rng.uniform(0.3, 0.42, n, 1, 1, 1)
    wide = hand * rng.uniform(0.24, 0.34, n, 1, 1, 1)  # half the palm
    knuckles = point(wrist, angle, 0.55 * hand)
    spread = rng.uniform(0.02, 0.28, n, 1, 1, 1) + swing(0.06)
    straight = 1 - 0.75 * per_image(rng.bernoulli(0.25, n)).float()
    # The fingers, then the thumb, from the wrist: [5, n, 1, 1, 1].
    across_hand = torch.tensor([-1.5, -0.5, 0.5, 1.5, 1.1], device=length.device)
    offset = across_hand.view(FINGERS, 1, 1, 1, 1) * side
    is_thumb = across_hand.view(FINGERS, 1, 1, 1, 1) == 1.1
    base = point(
        tuple(torch.where(is_thumb, w, k) for w, k in zip(wrist, knuckles)),
        angle + math.pi / 2,
        0.55 * wide * offset,
    )
    bent = rng.normal(0.06, n, FINGERS, 1, 1).transpose(0, 1).unsqueeze(2)
    reach = hand * (0.42 + 0.8 * bent) * torch.where(is_thumb, 1.0, straight)
    tip = point(base, angle + offset * torch.where(is_thumb, 0.7, spread) + bent, reach)
    thickness = (wide * rng.uniform(0.2, 0.27, n, 1, 1, 1)).expand_as(reach)

    def stacked(arm: Tensor, palm: Tensor, fingers: Tensor) -> Tensor:
        return torch.cat([torch.stack([arm, palm]), fingers])

    begins = tuple(stacked(*parts) for parts in zip(elbow, wrist, base))
    ends = tuple(stacked(*parts) for parts in zip(wrist, knuckles, tip))
    radii = stacked(thick, 0.75 * wide, thickness), stacked(narrow, wide, 0.8 * thickness)
    distances, along, across = capsule(x, y, begins, ends, radii)
    distance, nearest = distances.min(0, keepdim=True)
    across = across.gather(0, nearest)[0]
    along = torch.where(nearest[0] == 0, along[0], torch.ones_like(along[0]))
    cover = torch.sigmoid(-distance[0] / rng.uniform(0.35, 0.9, n, 1, 1, 1))
    from_left = rng.uniform(-0.3, 0.3, n, 1, 1, 1)
    light = 1 + from_left * across - rng.uniform(0.1, 0.4, n, 1, 1, 1) * across * across
    return cover, light, along


def skin_colour(n: int, rng: RandomGenerator) -> Tensor:
    """RGB [n, 3, 1, 1] between two neighbouring tones of SKIN."""
    tones = torch.tensor(SKIN)
    index = rng.choice(torch.arange(len(SKIN) - 1), n)
    low, high = (to_device(tones[index + i].view(-1, 3, 1, 1), rng.device) for i in (0, 1))
    return torch.lerp(low, high, rng.uniform(0, 1, n, 1, 1, 1))


def add_arms(
    image: Tensor, alpha: Tensor, motion: Tensor, rng: RandomGenerator
) -> tuple[Tensor, Tensor]:
    """Raises an arm, or two, of people of some scenes, before whatever is there.

    The elbow is in the lower part of the person or at the outline; it follows the person's `motion`
    [n, 2, 3]. Takes and returns RGB [n, 3, H, W] and mattes [n, c, H, W], the first of which tells
    where people are; the arm joins all."""
    for rate in LIMB_RATES:
        chosen = rng.subset(rate, image.shape[0])
        if len(chosen):
            image, alpha = add_arm(image, alpha, motion, chosen, rng)
    return image, alpha


def add_arm(
    image: Tensor, alpha: Tensor, motion: Tensor, chosen: Tensor, rng: RandomGenerator
) -> tuple[Tensor, Tensor]:
    """Raises an arm in the `chosen` scenes, as `add_arms` says."""
    n, (height, width) = len(chosen), image.shape[2:]
    first = rng.of_first_frame(chosen)
    coarse = F.adaptive_avg_pool2d(alpha[first, :1], GRID)
    rows = coarse.sum(3, keepdim=True)
    body = coarse * (rows.cumsum(2) > 0.35 * rows.sum(2, keepdim=True))
    interior = F.avg_pool2d(coarse, 5, stride=1, padding=2, count_include_pad=False)
    likelihood = body * (1.05 - interior) * rng.uniform(0.2, 1, n, 1, GRID, GRID)
    cell = likelihood.flatten(1).argmax(1)
    column, row = cell % GRID, torch.div(cell, GRID, rounding_mode="floor")
    x, y = ((c + 0.5) / GRID - 0.5 for c in (column, row))
    place = torch.stack([x * width, y * height], 1)
    # Where the elbow is before the person moves.
    m = motion[first]
    place = (m[:, :, :2] @ place.unsqueeze(2)).squeeze(2) + m[:, :, 2]
    elbow = per_image(place[:, 0]), per_image(place[:, 1])
    area = coarse.mean((1, 2, 3))
    scale = per_image((area * height * width).sqrt())
    length = scale * torch.exp(rng.uniform(math.log(0.35), math.log(0.95), n, 1, 1, 1))
    size = (height, width)
    cover, light, along = draw_arm(elbow, length.clamp_min(8), size, motion[chosen], rng)
    uneven = F.interpolate(
        rng.normal(0.06, n, 1, 12, 12), size=size, mode="bicubic", align_corners=False
    )
    tinted = 1 + rng.normal(0.05, n, 3, 1, 1)
    colour = skin_colour(n, rng) * tinted * rng.uniform(0.55, 1.1, n, 1, 1, 1)
    sleeve_end = rng.uniform(0, 0.9, n, 1, 1, 1) * per_image(rng.bernoulli(0.35, n))
    of_clothes = F.adaptive_avg_pool2d(image[first] * alpha[first, :1], GRID)
    of_clothes = of_clothes.flatten(2).gather(2, cell.view(-1, 1, 1).expand(-1, 3, 1))
    sleeve = (
        of_clothes / coarse.flatten(1).gather(1, cell.view(-1, 1)).view(-1, 1, 1).clamp_min(0.1)
    ).unsqueeze(3)
    colour = torch.where(along < sleeve_end, sleeve, colour)
    colour = (colour * light + uneven).clamp(0, 1)
    cover = cover * per_image(area > 0.02)
    image = image.index_copy(0, chosen, torch.lerp(image[chosen], colour, cover))
    return image, alpha.index_copy(0, chosen, torch.maximum(alpha[chosen], cover))
