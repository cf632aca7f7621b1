# SPDX-License-Identifier: Apache-2.0
"""Composition of training scenes: people cut out of their photos, cropped, rotated and placed
before other backgrounds, with furniture and other people, still or moving. Everything is a batch of
tensors on the accelerator."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from augment.motion import identity_motion, positions, random_motion, transform
from augment.sampling import RandomGenerator, per_image, to_device
from train.data import PhotoSet

EMPTY_RATE = 0.06  # of scenes without a person
REPLACED_RATE = 0.36  # of scenes with another background
MOVING_REPLACED_RATE = 0.6  # of moving scenes: before another background people move on their own
MAX_CLIP_STRIDE = 3  # of the frames that follow each other
CLIP_RATE = 0.1  # of moving scenes that are parts of clips
PHOTO_STILL_RATE, PHOTO_SPEED_LIMIT = 0.4, 0.015  # of photos that move as a whole
PERSON_STILL_RATE, CAMERA_STILL_RATE = (
    0.25,
    0.7,
)  # of moving people and backgrounds that stand still
EXTRA_PERSON_RATES = (0.14, 0.07, 0.05)  # drawn one after the other: up to three more people
FURNITURE_RATE = 0.20  # of scenes with blocks at the edges of the frame
LARGE_ROTATION_RATE = 0.12  # of scenes far from upright
PLAIN_RATE = 0.03  # of replaced backgrounds in one dark colour
HAIR_COLOUR_RATE = 0.25  # of replaced backgrounds in about the colour of the hair before them
# Least height, in frames, of a placed photo. Beside another person it is larger, because many
# labels leave out a passer-by far behind somebody.
MIN_HEIGHT_ALONE, MIN_HEIGHT_BESIDE = 0.3, 0.5
ASPECT_MISMATCH_WEIGHT = 0.4  # sampling weight of photos whose aspect ratio is not the frame's


def warp(
    photos: PhotoSet,
    index: Tensor,
    centre: Tensor,
    scale: Tensor,
    angle: Tensor,
    flip: Tensor,
    size: tuple[int, int],
    motion: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Samples photos through similarity transforms.

    Output pixel p shows the photo at centre + R(angle) (scale * (p - middle of the frame)), where
    p first goes through `motion` [n, 2, 3], a `random_motion`. `centre` and `scale` [n, 2] are
    (x, y) in pixels of the photo, `angle` [n] is in radians, `flip` [n] is -1 or 1, `size` is (H,
    W). Pixels beyond the photo repeat its border.

    Returns RGB and matte in 0 to 1 [n, 4, H, W], and whether a pixel lies in the photo [n, 1, H,
    W].
    """
    device = centre.device
    x, y = positions(size, device)
    if motion is not None:
        x, y = transform(motion, x, y)
    x = x * (scale[:, 0] * flip).view(-1, 1, 1)
    y = y * scale[:, 1].view(-1, 1, 1)
    cos, sin = torch.cos(angle).view(-1, 1, 1), torch.sin(angle).view(-1, 1, 1)
    position = torch.stack([cos * x - sin * y, sin * x + cos * y], -1) + centre.view(-1, 1, 1, 2)
    extent = photos.sizes[to_device(index, device)].view(-1, 1, 1, 2)
    inside = ((position >= 0) & (position <= extent)).all(-1).unsqueeze(1)
    position = torch.minimum(position.clamp_min(0.5), extent - 0.5)
    source = photos.pixels[to_device(index, device)].float() / 255
    grid = position * (2 / source.shape[-1]) - 1
    sampled = F.grid_sample(
        source, grid, mode="bilinear", padding_mode="border", align_corners=False
    )
    return sampled, inside


def random_crop(
    photos: PhotoSet,
    index: Tensor,
    size: tuple[int, int],
    rng: RandomGenerator,
    strength: float,
    motion: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """A window of each photo, from half of it to all that fits, slightly stretched and rotated.

    Returns what `warp` returns."""
    n, extent = len(index), photos.sizes[to_device(index, photos.sizes.device)]
    frame = to_device(torch.tensor([size[1], size[0]]).float(), extent.device)
    fit = (extent / frame).amin(1, keepdim=True)
    zoom = 1 - rng.bernoulli(0.65, n) * rng.uniform(0, 0.15 + 0.4 * strength, n)
    stretch = torch.exp(rng.normal(0.08 * strength, n))
    scale = fit * zoom.view(-1, 1) * torch.stack([stretch, 1 / stretch], 1)
    # A photo with about the aspect ratio of the frame is shown whole, a little distorted, as the
    # program shows it to the network.
    whole = extent / frame
    similar = whole.amax(1) / whole.amin(1) < 1.25
    similar = similar & rng.bernoulli(0.4 + 0.4 * (1 - strength), n)
    scale = torch.where(similar.view(-1, 1), whole, scale)
    scale = torch.minimum(scale, whole)
    slack = (extent - scale * frame).clamp_min(0)
    centre = extent / 2 + slack * (rng.uniform(0, 1, n, 2) - 0.5)
    angle = rng.normal(math.radians(7) * strength, n) * rng.bernoulli(0.6, n)
    large = rng.normal(math.radians(35), n) * rng.bernoulli(LARGE_ROTATION_RATE * strength, n)
    angle = angle.clamp(-0.5, 0.5) + large
    return warp(photos, index, centre, scale, angle, rng.sign(n), size, motion)


def random_placement(
    photos: PhotoSet,
    index: Tensor,
    size: tuple[int, int],
    min_height: float,
    rng: RandomGenerator,
    strength: float,
    motion: Tensor,
) -> Tensor:
    """Each photo placed in a frame that may be larger than it, anywhere from left to right.

    The lower edge of the photo is at that of the frame or below it, or above it for full bodies.
    The photo is at least `min_height` frames high. Returns RGB and matte [n, 4, H, W]."""
    n, own = len(index), to_device(index, photos.sizes.device)
    extent, full_body = photos.sizes[own], photos.border_coverage[own, 3] < 0.01
    height, width = size
    share = torch.exp(rng.uniform(math.log(min_height), math.log(1.35), n))  # height in frames
    scale = extent[:, 1] / (share * height)
    x = extent[:, 0] / 2 + scale * width * rng.uniform(-0.4, 0.4, n)
    lowered = rng.uniform(0, 0.25, n) * rng.bernoulli(0.6, n)
    raised = rng.uniform(0, 0.6, n) * (1 - share).clamp_min(0) * full_body
    y = extent[:, 1] * (1 - lowered) + scale * height * (raised - 0.5)
    angle = rng.normal(math.radians(3) * strength, n)
    centre = torch.stack([x, y], 1)
    # A rotation about the lower edge would lift one of its corners into the frame.
    centre[:, 1] -= angle.abs() * scale * width / 2
    scales = torch.stack([scale, scale], 1)
    pixels, inside = warp(photos, index, centre, scales, angle, rng.sign(n), size, motion)
    return torch.cat([pixels[:, :3], pixels[:, 3:] * inside], 1)


def feather(alpha: Tensor, rng: RandomGenerator) -> Tensor:
    """`alpha` [n, 1, H, W], slightly eroded and softened, so that a cut-out has no rim of its old
    background."""
    erosion = rng.uniform(0.05, 0.25, alpha.shape[0], 1, 1, 1)
    alpha = ((alpha - erosion) / (1 - 1.6 * erosion)).clamp(0, 1)
    blurred = F.avg_pool2d(F.pad(alpha, (1, 1, 1, 1), mode="replicate"), 3, stride=1)
    return torch.lerp(alpha, blurred, rng.uniform(0, 1, alpha.shape[0], 1, 1, 1))


def synthetic_walls(n: int, size: tuple[int, int], rng: RandomGenerator) -> Tensor:
    """RGB [n, 3, H, W] of walls: a gradient across the frame, faint unevenness, some with
    panels."""
    corners = rng.uniform(0, 1, n, 3, 2, 2)
    mean = corners.mean((2, 3), keepdim=True)
    corners = torch.lerp(mean, corners, rng.uniform(0, 0.7, n, 1, 1, 1))
    uneven = rng.normal(0.1, n, 1, 6, 6) * rng.uniform(0, 1, n, 1, 1, 1) ** 2
    panels = rng.normal(0.25, n, 1, 4, 4) * per_image(rng.bernoulli(0.3, n))
    smooth = [
        F.interpolate(layer, size=size, mode="bilinear", align_corners=False)
        for layer in (corners, uneven)
    ]
    return (smooth[0] + smooth[1] + F.interpolate(panels, size=size, mode="nearest")).clamp(0, 1)


def sample_backgrounds(
    backgrounds: PhotoSet, n: int, size: tuple[int, int], rng: RandomGenerator, strength: float
) -> Tensor:
    """RGB [n, 3, H, W] of photographed rooms and synthetic walls, some out of focus."""
    index = rng.choice(torch.arange(len(backgrounds)), n)
    motion = random_motion(n, size, rng, CAMERA_STILL_RATE)
    image = random_crop(backgrounds, index, size, rng, strength, motion)[0][:, :3]
    walls = rng.subset(0.3, n)
    image[walls] = synthetic_walls(len(walls), size, rng)
    defocused = rng.subset(0.4, n)
    factor = rng.scalar(2, 10)
    small = F.adaptive_avg_pool2d(image[defocused], [max(2, int(v / factor)) for v in size])
    enlarged = F.interpolate(small, size=size, mode="bicubic", align_corners=False)
    image[defocused] = enlarged.clamp(0, 1)
    return image


def mean_colour(image: Tensor, weight: Tensor) -> Tensor:
    """Weighted mean of RGB [n, 3, H, W] by weight [n, 1, H, W]: [n, 3, 1, 1]."""
    return (image * weight).sum((2, 3), keepdim=True) / (weight.sum((2, 3), keepdim=True) + 1)


def harmonise(background: Tensor, person: Tensor, alpha: Tensor, rng: RandomGenerator) -> Tensor:
    """`background` [n, 3, H, W] with mean and contrast moved towards those of the person.

    Otherwise the light alone would tell a cut-out. Some backgrounds move most of the way to the
    colour of the uppermost tenth of the person instead: dark hair before a dark wall."""
    n = background.shape[0]
    rows = alpha.sum(3, keepdim=True)
    above = rows.cumsum(2) - rows
    hair = mean_colour(person, alpha * (above < 0.1 * rows.sum(2, keepdim=True)))
    use_hair = per_image(rng.bernoulli(HAIR_COLOUR_RATE, n))
    mean = background.mean((2, 3), keepdim=True)
    to_hair = (hair - mean) * rng.uniform(0.7, 1.0, n, 1, 1, 1)
    to_person = (mean_colour(person, alpha) - mean) * rng.uniform(-0.2, 0.8, n, 1, 1, 1)
    shift = torch.where(use_hair, to_hair, to_person)
    return (mean + shift + (background - mean) * rng.uniform(0.5, 1.2, n, 1, 1, 1)).clamp(0, 1)


def rounded_rectangle(
    size: tuple[int, int],
    centre: tuple[Tensor, Tensor],
    angle: Tensor,
    half: tuple[Tensor, Tensor],
    radius: Tensor,
    blur: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Coverage of rotated rectangles with rounded corners, and coordinates in them.

    Coordinates of the frame of `size` (H, W) go from -1 to 1. `centre` and `half`, the half sides,
    are (x, y); every tensor is [n, 1, 1, 1]. Returns the coverage and the coordinates across and
    down the rectangle, -1 to 1 between its sides, each [n, 1, H, W]."""
    device = angle.device
    x = torch.linspace(-1, 1, size[1], device=device).view(1, 1, 1, -1) - centre[0]
    y = torch.linspace(-1, 1, size[0], device=device).view(1, 1, -1, 1) - centre[1]
    u, v = x * angle.cos() - y * angle.sin(), x * angle.sin() + y * angle.cos()
    beyond_u = (u.abs() - half[0] + radius).clamp_min(0)
    beyond_v = (v.abs() - half[1] + radius).clamp_min(0)
    distance = torch.hypot(beyond_u, beyond_v) - radius
    return torch.sigmoid(-distance / blur), u / half[0], v / half[1]


def add_furniture(image: Tensor, alpha: Tensor, rng: RandomGenerator) -> tuple[Tensor, Tensor]:
    """One rounded block per scene that reaches in from an edge of the frame.

    Most blocks are dark and behind the people; some are narrow and in front of them. Takes and
    returns RGB [n, 3, H, W] and alpha [n, 1, H, W]."""
    n = image.shape[0]
    at_side = per_image(rng.bernoulli(0.6, n))
    along, edge = rng.uniform(-1, 1, n, 1, 1, 1), rng.uniform(0.85, 1.25, n, 1, 1, 1)
    edge = edge * per_image(rng.sign(n))
    centre = torch.where(at_side, edge, along), torch.where(at_side, along, edge)
    half = rng.uniform(0.08, 0.6, n, 1, 1, 1), rng.uniform(0.15, 1.0, n, 1, 1, 1)
    radius, blur = rng.uniform(0, 0.12, n, 1, 1, 1), rng.uniform(0.002, 0.02, n, 1, 1, 1)
    angle = rng.normal(0.12, n, 1, 1, 1)
    cover, u, v = rounded_rectangle(image.shape[2:], centre, angle, half, radius, blur)
    dark = rng.uniform(0, 0.2, n, 1, 1, 1) + rng.normal(0.02, n, 3, 1, 1)
    use_dark = per_image(rng.bernoulli(0.7, n))
    colour = torch.where(use_dark, dark, rng.uniform(0, 1, n, 3, 1, 1))
    shade = 1 + rng.uniform(-0.2, 0.2, n, 1, 1, 1) * u + rng.uniform(-0.3, 0.3, n, 1, 1, 1) * v
    in_front = per_image(rng.bernoulli(0.15, n)) * (half[0] < 0.3)
    cover = cover * torch.where(in_front, torch.ones_like(alpha), 1 - alpha)
    image = torch.lerp(image, (colour * shade).clamp(0, 1), cover)
    return image, alpha * torch.where(in_front, 1 - cover, torch.ones_like(alpha))


def estimate_foreground(image: Tensor, alpha: Tensor) -> Tensor:
    """The person's own colour [n, 3, H, W] where it is mixed with the background's: "blur fusion"
    in two passes (Forte, "Approximate Fast Foreground Colour Estimation", 2021)."""

    def mean(planes: Tensor, radius: int) -> Tensor:
        if radius >= 12:  # a smooth result, for a fraction of the work
            small = mean(F.avg_pool2d(planes, 4), radius // 4)
            return F.interpolate(small, size=planes.shape[2:], mode="bilinear", align_corners=False)
        across = F.avg_pool2d(planes, (1, 2 * radius + 1), 1, (0, radius), count_include_pad=False)
        return F.avg_pool2d(across, (2 * radius + 1, 1), 1, (radius, 0), count_include_pad=False)

    foreground, background = image, image
    for radius in (max(image.shape[2:]) // 12, max(2, max(image.shape[2:]) // 90)):
        planes = torch.cat([foreground * alpha, background * (1 - alpha), alpha], 1)
        sums = mean(planes, radius)
        share = sums[:, 6:]
        foreground = sums[:, :3] / (share + 1e-5)
        background = sums[:, 3:6] / (1 - share + 1e-5)
        rest = image - alpha * foreground - (1 - alpha) * background
        foreground = (foreground + alpha * rest).clamp(0, 1)
        background = (background + (1 - alpha) * rest).clamp(0, 1)
    return foreground


def sample_clips(
    clips: PhotoSet, n: int, size: tuple[int, int], rng: RandomGenerator, strength: float
) -> Tensor:
    """Windows of clips, forwards or backwards, RGB and matte [n, 4, H, W]."""
    frames = rng.frames
    longest = (int(clips.frames_left.max()) - 1) // (frames - 1)
    stride = min(longest, 1 + int(rng.scalar(0, MAX_CLIP_STRIDE)))
    reach = (frames - 1) * stride
    possible = torch.nonzero(clips.frames_left > reach).flatten()
    start = rng.each_frame.choice(possible, rng.sequences(n)).view(-1, 1)
    step = torch.arange(frames).view(1, -1) * stride
    backwards = torch.rand(len(start), 1, generator=rng.generator) < 0.5
    index = (start + torch.where(backwards, reach - step, step)).flatten()
    return random_crop(clips, index, size, rng, strength)[0]


def compose(
    people: PhotoSet,
    backgrounds: PhotoSet,
    n: int,
    size: tuple[int, int],
    rng: RandomGenerator,
    strength: float = 1.0,
    clips: PhotoSet | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """n scenes of `size` (H, W), in sequences of rng.frames; `strength`, 0 to 1, is that of the
    augmentation.

    Returns RGB [n, 3, H, W], alpha [n, 1, H, W], whether the matte is a pseudo-label, bool [n], and
    the motion of the person [n, 2, 3]."""
    similar = (people.log_aspect - math.log(size[0] / size[1])).abs() < math.log(1.4)
    weights = people.sampling_weight * torch.where(similar, 1.0, ASPECT_MISMATCH_WEIGHT)
    index = rng.multinomial(weights, n)
    moves = rng.frames > 1
    motion = random_motion(n, size, rng, PHOTO_STILL_RATE, PHOTO_SPEED_LIMIT)
    pixels, _ = random_crop(people, index, size, rng, strength, motion)
    image, alpha = pixels[:, :3], pixels[:, 3:]
    pseudo = people.pseudo[to_device(index, image.device)]

    if clips is not None and moves:
        filmed = rng.subset(CLIP_RATE, n)
        if len(filmed):
            pixels = sample_clips(clips, len(filmed), size, rng, strength)
            image[filmed], alpha[filmed] = pixels[:, :3], pixels[:, 3:]
            pseudo[filmed] = True
            motion[filmed] = identity_motion(len(filmed), image.device)

    replaced = rng.subset(MOVING_REPLACED_RATE if moves else REPLACED_RATE, n)
    if len(replaced):
        background = sample_backgrounds(backgrounds, len(replaced), size, rng, strength)
        cut, cut_alpha = image[replaced], alpha[replaced]
        placed = rng.half(len(replaced))
        if placed and len(people.placeable):
            chosen = rng.choice(people.placeable, placed)
            moving = random_motion(placed, size, rng, PERSON_STILL_RATE)
            pixels = random_placement(people, chosen, size, MIN_HEIGHT_ALONE, rng, strength, moving)
            cut[:placed], cut_alpha[:placed] = pixels[:, :3], pixels[:, 3:]
            pseudo[replaced[:placed]] = people.pseudo[to_device(chosen, image.device)]
            motion[replaced[:placed]] = moving
        plain = rng.subset(PLAIN_RATE, len(replaced))
        background[plain] = rng.uniform(0, 0.1, len(plain), 3, 1, 1)
        # Half of the cut-outs keep their soft edge with the colour that is theirs alone.
        soft = per_image(rng.bernoulli(0.5, len(replaced)))
        cut = torch.where(soft, estimate_foreground(cut, cut_alpha), cut)
        cut_alpha = torch.where(soft, cut_alpha, feather(cut_alpha, rng))
        background = harmonise(background, cut, cut_alpha, rng)
        image[replaced], alpha[replaced] = torch.lerp(background, cut, cut_alpha), cut_alpha

    empty = rng.subset(EMPTY_RATE, n)
    if len(empty):
        image[empty] = sample_backgrounds(backgrounds, len(empty), size, rng, strength)
        alpha[empty] = torch.zeros_like(alpha[empty])

    for rate in EXTRA_PERSON_RATES:
        scenes = rng.subset(rate, n)
        if len(scenes) and len(people.placeable):
            chosen = rng.choice(people.placeable, len(scenes))
            moving = random_motion(len(scenes), size, rng, PERSON_STILL_RATE)
            pixels = random_placement(
                people, chosen, size, MIN_HEIGHT_BESIDE, rng, strength, moving
            )
            other = feather(pixels[:, 3:], rng)
            image[scenes] = torch.lerp(image[scenes], pixels[:, :3], other)
            alpha[scenes] = 1 - (1 - alpha[scenes]) * (1 - other)

    for rate in (FURNITURE_RATE, FURNITURE_RATE / 2):
        scenes = rng.subset(rate, n)
        if len(scenes):
            image[scenes], alpha[scenes] = add_furniture(image[scenes], alpha[scenes], rng)
    return image, alpha, pseudo, motion
