# SPDX-License-Identifier: Apache-2.0
"""Objects in scenes of people. Held objects belong to the person's matte; objects near people,
behind their heads and shoulders, and clothes that nobody wears do not. All but the clothes are
rendered alike, so that only the position tells which is which."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from augment import scene
from augment.motion import follow, identity_motion, random_motion
from augment.sampling import RandomGenerator, per_image, to_device
from train.data import PhotoSet

HELD_RATE = 0.15  # of scenes with an object in somebody's hands
NEARBY_RATE = 0.15  # of scenes, also empty ones, with an object behind or beside people
BACKREST_RATE = 0.12  # of scenes with an object as large as the person behind head and shoulders
CLOTHES_RATE = 0.12  # of scenes, also empty ones, with clothes that nobody wears
CLOTHED_ROWS = (0.25, 0.7)  # of a person from head to foot, by area: where the upper clothes are
STANDING_RATE, MAX_SWING = 0.6, 0.01  # of objects behind people; the others' speed
GRID = 24  # positions are drawn on a grid of GRID x GRID cells


def object_shape(
    area: Tensor, sizes: tuple[float, float], rng: RandomGenerator
) -> tuple[list[Tensor], Tensor]:
    """Half sides (x, y) and corner radii of objects, from boxes to ellipses.

    `area` [n, 1, 1, 1] is a part of the frame, `sizes` the least and the greatest half side in
    units of the side of a square of that area."""
    n, (least, greatest) = len(area), sizes
    half = []
    for _ in range(2):
        factor = torch.exp(rng.uniform(math.log(least), math.log(greatest), n, 1, 1, 1))
        half.append(area.clamp_min(0.01).sqrt() * factor)
    return half, torch.minimum(*half) * rng.uniform(0, 1, n, 1, 1, 1) ** 0.5


def render_objects(
    likelihood: Tensor,
    area: Tensor,
    sizes: tuple[float, float],
    size: tuple[int, int],
    backgrounds: PhotoSet,
    rng: RandomGenerator,
    strength: float,
    moves: tuple[Tensor, Tensor],
) -> tuple[Tensor, Tensor]:
    """Objects at positions drawn by `likelihood` [n, 1, GRID, GRID] in the first picture of a
    sequence, in frames of `size` (H, W), where they follow `moves`: a motion in the first picture
    and in each.

    An object has the texture of a photo or one colour, light from one side, and sometimes folds.
    Returns RGB [n, 3, H, W] and coverage [n, 1, H, W]."""
    n = len(likelihood)
    cell = (likelihood * rng.uniform(0.2, 1, n, 1, GRID, GRID)).flatten(1).argmax(1)
    column, row = cell % GRID, torch.div(cell, GRID, rounding_mode="floor")
    extent = to_device(torch.tensor([size[1] / 2, size[0] / 2]), likelihood.device)
    centre = (torch.stack([column, row], 1) + 0.5) * (2 / GRID) - 1
    centre = follow(centre * extent, *moves) / extent
    centre = [per_image(position) for position in centre.unbind(1)]
    half, radius = object_shape(area, sizes, rng)
    angle, blur = rng.normal(0.5, n, 1, 1, 1), rng.uniform(0.001, 0.005, n, 1, 1, 1)
    cover, u, v = scene.rounded_rectangle(size, centre, angle, half, radius, blur)
    is_grey = per_image(rng.bernoulli(0.5, n))
    grey = rng.uniform(0, 1, n, 1, 1, 1) + rng.normal(0.03, n, 3, 1, 1)
    plain = torch.where(is_grey, grey, rng.uniform(0, 1, n, 3, 1, 1))
    is_textured = per_image(rng.bernoulli(0.5, n))
    texture = scene.sample_backgrounds(backgrounds, n, size, rng, strength)
    colour = torch.where(is_textured, texture, plain)
    light = 1 + rng.normal(0.2, n, 1, 1, 1) * u + rng.normal(0.2, n, 1, 1, 1) * v
    light = light - rng.uniform(0, 0.4, n, 1, 1, 1) * (u * u + v * v) / 2
    folds = F.interpolate(
        rng.normal(0.5, n, 1, 9, 7), size=size, mode="bicubic", align_corners=False
    )
    folds = folds * rng.uniform(-0.3, 0.3, n, 1, 1, 1).clamp_min(0)
    return (colour * (light + folds)).clamp(0, 1), cover


def add_held_objects(
    image: Tensor,
    alpha: Tensor,
    backgrounds: PhotoSet,
    motion: Tensor,
    rng: RandomGenerator,
    strength: float,
) -> tuple[Tensor, Tensor]:
    """Adds an object before a person to some scenes, below the head and partly behind an arm.

    The object follows the person's `motion` [n, 2, 3] and joins every matte of `alpha` [n, any, H,
    W], the first of which tells where people are: labels disagree about what is held, users do not.
    Takes and returns RGB [n, 3, H, W] and mattes."""
    chosen = rng.subset(HELD_RATE, image.shape[0])
    n, size = len(chosen), image.shape[2:]
    if not n:
        return image, alpha
    person, first = alpha[chosen, :1], rng.of_first_frame(chosen)
    coarse = F.adaptive_avg_pool2d(alpha[first, :1], GRID)
    rows, area = coarse.sum(3, keepdim=True), coarse.mean((1, 2, 3), keepdim=True)
    body = coarse * (rows.cumsum(2) > 0.5 * rows.sum(2, keepdim=True))
    # Positions at the outline are preferred.
    interior = F.avg_pool2d(coarse, 5, stride=1, padding=2, count_include_pad=False)
    likelihood = body * (1.2 - 0.8 * interior)
    moves = motion[first], motion[chosen]
    colour, cover = render_objects(
        likelihood, area, (0.1, 0.55), size, backgrounds, rng, strength, moves
    )
    cover = cover * (area > 0.01)
    arm = F.interpolate(rng.normal(1, n, 1, 5, 5), size=size, mode="bilinear", align_corners=False)
    visible = cover * (1 - person * torch.sigmoid(20 * (arm - 0.4)))
    image = image.index_copy(0, chosen, torch.lerp(image[chosen], colour, visible))
    return image, alpha.index_copy(0, chosen, torch.maximum(alpha[chosen], cover))


def composite_behind(
    image: Tensor, alpha: Tensor, chosen: Tensor, colour: Tensor, cover: Tensor
) -> tuple[Tensor, Tensor]:
    """Shows `colour` where `cover` is, behind the people of the `chosen` scenes, and removes it
    from their mattes."""
    cover = cover * (1 - alpha[chosen, :1])
    image = image.index_copy(0, chosen, torch.lerp(image[chosen], colour, cover))
    return image, alpha.index_copy(0, chosen, alpha[chosen] * (1 - cover))


def add_objects_behind(
    image: Tensor,
    alpha: Tensor,
    chosen: Tensor,
    likelihood: Callable[[Tensor], Tensor],
    sizes: tuple[float, float],
    backgrounds: PhotoSet,
    rng: RandomGenerator,
    strength: float,
) -> tuple[Tensor, Tensor]:
    """Adds an object behind the people of the `chosen` scenes, at a position drawn by `likelihood`
    of their matte [n, 1, GRID, GRID]. `alpha` is as in `add_held_objects`."""
    if not len(chosen):
        return image, alpha
    coarse = F.adaptive_avg_pool2d(alpha[rng.of_first_frame(chosen), :1], GRID)
    area = coarse.mean((1, 2, 3), keepdim=True).clamp_min(0.05)
    size = image.shape[2:]
    # A chair stands, or swings a little.
    swing = random_motion(len(chosen), size, rng, STANDING_RATE, MAX_SWING)
    moves = identity_motion(len(chosen), image.device), swing
    colour, cover = render_objects(
        likelihood(coarse), area, sizes, size, backgrounds, rng, strength, moves
    )
    return composite_behind(image, alpha, chosen, colour, cover)


def add_nearby_objects(
    image: Tensor, alpha: Tensor, backgrounds: PhotoSet, rng: RandomGenerator, strength: float
) -> tuple[Tensor, Tensor]:
    """Adds an object behind people to some scenes, most often one that touches their outline."""
    chosen = rng.subset(NEARBY_RATE, image.shape[0])

    def outside(person: Tensor) -> Tensor:
        return F.max_pool2d(person, 5, stride=1, padding=2) - person + 0.05

    return add_objects_behind(
        image, alpha, chosen, outside, (0.25, 1.2), backgrounds, rng, strength
    )


def add_backrests(
    image: Tensor,
    alpha: Tensor,
    backgrounds: PhotoSet,
    rng: RandomGenerator,
    strength: float,
    rate: float = BACKREST_RATE,
) -> tuple[Tensor, Tensor]:
    """Adds a pillow, a chair's back or a sofa to scenes at `rate`: an object behind head and
    shoulders, about as large as the person or larger."""
    chosen = rng.subset(rate, image.shape[0])

    def upper_body(person: Tensor) -> Tensor:
        rows = person.sum(3, keepdim=True)
        return person * (rows.cumsum(2) < 0.6 * rows.sum(2, keepdim=True)) + 0.01

    return add_objects_behind(
        image, alpha, chosen, upper_body, (0.6, 1.8), backgrounds, rng, strength
    )


def add_hanging_clothes(
    image: Tensor, alpha: Tensor, people: PhotoSet, rng: RandomGenerator
) -> tuple[Tensor, Tensor]:
    """Adds clothes that nobody wears to some scenes: the clothed part of a person of another photo,
    without the head, more often dark, behind people or alone."""
    chosen = rng.subset(CLOTHES_RATE, image.shape[0])
    n, size = len(chosen), image.shape[2:]
    if not n or not len(people.full_body):
        return image, alpha
    index = rng.choice(people.full_body, n)
    own = to_device(index, image.device)
    extent = people.sizes[own]
    frame = to_device(torch.tensor([size[1], size[0]]).float(), image.device)
    height = rng.uniform(0.8, 2.5, n)  # of the photo, in frames
    narrow = rng.uniform(1, 2, n)  # clothes are narrower than the person who wears them
    scale = (extent[:, 1] / (height * size[0])).view(-1, 1)
    scale = scale * torch.stack([narrow, torch.ones_like(narrow)], 1)
    # Offset of the middle of the photo from that of the frame.
    offset = torch.stack([rng.uniform(-0.5, 0.5, n), rng.uniform(-0.15, 0.4, n)], 1) * frame
    centre = extent / 2 - scale * offset
    upright = torch.zeros_like(narrow)
    pixels, inside = scene.warp(people, index, centre, scale, upright, rng.sign(n), size)
    area = people.pixels[own, 3].sum(2, dtype=torch.float32).cumsum(1)
    first, last = (  # rows of the photo
        (area < share * area[:, -1:]).sum(1, keepdim=True) for share in CLOTHED_ROWS
    )
    rows = torch.arange(size[0], device=image.device) + 0.5 - size[0] / 2
    row = centre[:, 1:] + rows * scale[:, 1:]
    between = ((row - first) / scale[:, 1:]).clamp(0, 1) * ((last - row) / scale[:, 1:]).clamp(0, 1)
    cover = pixels[:, 3:] * inside * between.view(n, 1, -1, 1)
    is_dark = per_image(rng.bernoulli(0.6, n))
    dark, light = rng.uniform(0.05, 0.4, n, 1, 1, 1), rng.uniform(0.4, 1, n, 1, 1, 1)
    brightness = torch.where(is_dark, dark, light)
    return composite_behind(image, alpha, chosen, pixels[:, :3] * brightness, cover)
