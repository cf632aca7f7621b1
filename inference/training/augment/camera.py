# SPDX-License-Identifier: Apache-2.0
"""Augmentation of light and of cameras: colour, darkness, shadows, blur, noise, compression, and
the motion from one frame to the next. Pictures are RGB in 0 to 1 [n, 3, H, W], mattes [n, c, H,
W]."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from augment.sampling import RandomGenerator, per_image

LUMA = (0.299, 0.587, 0.114)
BACKLIGHT_RATE = 0.15  # of pictures with other light behind the people than on them
SHADOW_RATE = 0.15  # of pictures in which people cast shadows that their photos do not have
# Of pictures sharpened by the camera: many cameras sharpen, and a small photo in a large frame has
# blurred edges where those of a camera are sharp.
SHARPEN_RATE = 0.3


def change_backlight(image: Tensor, alpha: Tensor, rng: RandomGenerator) -> Tensor:
    """Changes the light behind the people of some pictures: a window, up to twelve times as bright,
    whose light spreads over them in the lens, or a dark room around somebody before a screen.
    Values above 1 are clipped, as in a camera."""
    chosen = rng.subset(BACKLIGHT_RATE, image.shape[0])
    n = len(chosen)
    if not n:
        return image
    # Logarithms of light.
    on_people, on_background = (
        rng.uniform(-0.9, 0.3, n, 1, 1, 1),
        rng.uniform(-1.2, 1.6, n, 1, 1, 1),
    )
    tint = rng.normal(0.12, n, 3, 1, 1)
    mask = gaussian_blur(alpha[chosen], rng.scalar(0.5, 3.0))
    lit = image[chosen] * torch.exp(torch.lerp(on_background + tint, on_people, mask))
    glare = F.adaptive_avg_pool2d((lit - 1).clamp_min(0), 12)
    glare = F.interpolate(glare, size=image.shape[2:], mode="bilinear", align_corners=False)
    lit = lit + rng.uniform(0, 0.25, n, 1, 1, 1) * glare
    return image.index_copy(0, chosen, lit.clamp(0, 1))


def cast_shadows(people: Tensor, rng: RandomGenerator) -> Tensor:
    """Shadows of the mattes `people` [n, 1, H, W]: shifted and enlarged on a wall behind them, or
    long and slanted on the ground from their feet, away from the camera or towards it."""
    n, _, height, width = people.shape
    across, down = (
        2 * torch.arange(0.5, side, device=people.device) / side - 1 for side in (width, height)
    )
    mass = people.sum((1, 2)) + 1e-6
    lowest = torch.where(people.amax((1, 3)) > 0.5, down, -1.0).amax(1)
    feet = torch.stack([(mass * across).sum(1) / mass.sum(1), lowest], 1)
    on_ground = rng.bernoulli(0.4, n).float()
    # Length on the ground, in heights of the person; towards the camera where negative.
    length = rng.uniform(0.15, 1, n) * (1 - 2 * rng.bernoulli(0.3, n).float())
    enlargement = rng.uniform(0.95, 1.4, n)
    offset = torch.stack([rng.normal(0.2, n), rng.normal(0.1, n)], 1) * (1 - on_ground).view(-1, 1)
    # The affine map from a position in the shadow to the one that casts it.
    inverse = torch.zeros(n, 2, 3, device=people.device)
    inverse[:, 0, 0] = torch.lerp(1 / enlargement, torch.ones_like(enlargement), on_ground)
    inverse[:, 1, 1] = torch.lerp(1 / enlargement, 1 / length, on_ground)
    inverse[:, 0, 1] = rng.normal(0.8, n) * on_ground * inverse[:, 1, 1]
    inverse[:, :, 2] = feet - (inverse[:, :, :2] @ (feet + offset).unsqueeze(2)).squeeze(2)
    grid = F.affine_grid(inverse, people.shape, align_corners=False)
    return F.grid_sample(people, grid, mode="bilinear", padding_mode="border", align_corners=False)


def add_shadows(image: Tensor, alpha: Tensor, rng: RandomGenerator) -> Tensor:
    """Adds hard or soft shadows of the people of `alpha` [n, 1, H, W] to the background of some
    pictures."""
    chosen = rng.subset(SHADOW_RATE, image.shape[0])
    n = len(chosen)
    if not n:
        return image
    people = alpha[chosen]
    shadow = cast_shadows(people, rng)
    softness = math.exp(rng.scalar(math.log(0.001), math.log(0.02)))
    shadow = gaussian_blur(shadow, max(image.shape[2:]) * softness)
    # The light that is left in the shadow.
    light = rng.uniform(0.15, 0.75, n, 1, 1, 1) * torch.exp(rng.normal(0.06, n, 3, 1, 1))
    factor = torch.lerp(torch.ones_like(light), light, shadow * (1 - people)).clamp(0, 1)
    return image.index_copy(0, chosen, image[chosen] * factor)


def luma(image: Tensor) -> Tensor:
    """[n, 3, H, W] -> [n, 1, H, W]."""
    return sum(share * image[:, i : i + 1] for i, share in enumerate(LUMA))


def jitter_colour(image: Tensor, rng: RandomGenerator, strength: float) -> Tensor:
    """Changes exposure, gamma, contrast, saturation and white balance; some pictures get coloured
    light, uneven light, near darkness or no colour at all."""
    n = image.shape[0]
    # Deviation of the white balance, larger for coloured light.
    tint = 0.07 + 0.2 * per_image(rng.bernoulli(0.15, n).float())
    exposure = rng.normal(0.20 * strength, n, 1, 1, 1)
    gain = torch.exp(exposure + tint * rng.normal(strength, n, 3, 1, 1))
    gamma = torch.exp(rng.normal(0.22 * strength, n, 1, 1, 1))
    contrast = torch.exp(rng.normal(0.18 * strength, n, 1, 1, 1))
    saturation = torch.exp(rng.normal(0.25 * strength, n, 1, 1, 1))
    saturation = saturation * (1 - per_image(rng.bernoulli(0.04 * strength, n).float()))
    dark = per_image(rng.bernoulli(0.12 * strength, n).float()) * rng.uniform(0.3, 0.85, n, 1, 1, 1)
    image = image * gain
    uneven = rng.subset(0.2, n)
    if len(uneven):
        light = rng.normal(0.8 * strength, len(uneven), 1, 3, 3)  # logarithms
        light = F.interpolate(light, size=image.shape[2:], mode="bilinear", align_corners=False)
        image[uneven] *= torch.exp(light)
    image = image.clamp(1e-4, 1) ** gamma * (1 - dark)
    mean = image.mean((1, 2, 3), keepdim=True)
    image = mean + (image - mean) * contrast
    return torch.lerp(luma(image), image, saturation).clamp(0, 1)


def gaussian_blur(image: Tensor, sigma: float) -> Tensor:
    """`image` [n, c, H, W] blurred by `sigma` pixels."""
    radius = max(1, math.ceil(2.5 * sigma))
    position = torch.arange(-radius, radius + 1, device=image.device).float()
    taps = torch.exp(-0.5 * (position / sigma) ** 2)
    return separable_filter(image, taps / taps.sum())


def separable_filter(image: Tensor, taps: Tensor) -> Tensor:
    """`image` [n, c, H, W] filtered by `taps` [odd] along both axes, its border repeated."""
    channels, radius = image.shape[1], len(taps) // 2
    row = taps.to(image.dtype).view(1, 1, 1, -1).expand(channels, 1, 1, -1)
    padded = F.pad(image, (radius, radius, 0, 0), mode="replicate")
    image = F.conv2d(padded, row, groups=channels)
    padded = F.pad(image, (0, 0, radius, radius), mode="replicate")
    return F.conv2d(padded, row.transpose(2, 3), groups=channels)


def motion_blur(image: Tensor, length: float, angle: float) -> Tensor:
    """`image` [n, c, H, W] averaged along a line of `length` pixels at `angle` radians."""
    radius = max(1, round(length / 2))
    kernel = torch.zeros(2 * radius + 1, 2 * radius + 1)
    for i in range(4 * radius + 1):
        t = i / 2 - radius
        kernel[round(radius + t * math.sin(angle)), round(radius + t * math.cos(angle))] += 1
    kernel = (kernel / kernel.sum()).to(image, non_blocking=True)
    kernel = kernel.expand(image.shape[1], 1, -1, -1)
    padded = F.pad(image, (radius,) * 4, mode="replicate")
    return F.conv2d(padded, kernel, groups=image.shape[1])


def apply_optics(
    image: Tensor, alpha: Tensor, rng: RandomGenerator, strength: float
) -> tuple[Tensor, Tensor]:
    """Applies motion blur (to mattes as well), defocus, low resolution and sharpening, each to some
    pictures, in place."""
    n, _, height, width = image.shape
    moving = rng.subset(0.08 * strength, n)
    if len(moving):
        both = torch.cat([image[moving], alpha[moving]], 1)
        length, angle = rng.scalar(2, 0.035 * max(height, width)), rng.scalar(0, math.pi)
        both = motion_blur(both, length, angle)
        image[moving], alpha[moving] = both[:, :3], both[:, 3:]
    defocused = rng.subset(0.15 * strength, n)
    if len(defocused):
        image[defocused] = gaussian_blur(image[defocused], rng.scalar(0.4, 2.0))
    coarse = rng.subset(0.12 * strength, n)
    if len(coarse):
        factor = rng.scalar(0.35, 0.8)
        size = [int(height * factor), int(width * factor)]
        small = F.interpolate(
            image[coarse], size=size, mode="bilinear", align_corners=False, antialias=True
        )
        image[coarse] = F.interpolate(
            small, size=(height, width), mode="bicubic", align_corners=False
        ).clamp(0, 1)
    sharpened = rng.subset(SHARPEN_RATE, n)
    if len(sharpened):
        detail = image[sharpened] - gaussian_blur(image[sharpened], rng.scalar(0.5, 2.0))
        amount = rng.uniform(0.3, 1.5, len(sharpened), 1, 1, 1)
        image[sharpened] = (image[sharpened] + amount * detail).clamp(0, 1)
    return image, alpha


def add_noise(image: Tensor, rng: RandomGenerator, strength: float) -> Tensor:
    """Adds shot and read noise, strong in few pictures: fine or, as after a camera's own scaling,
    coarse; in colour or grey."""
    n, _, height, width = image.shape
    std = rng.uniform(0, 1, n, 1, 1, 1) ** 3 * 0.09 * strength + 0.003
    fine = torch.randn_like(image)
    coarse = torch.randn(n, 3, height // 2, width // 2, device=image.device)
    coarse = F.interpolate(coarse, size=(height, width), mode="bilinear", align_corners=False)
    noise = torch.lerp(fine, 1.4 * coarse, rng.uniform(0, 1, n, 1, 1, 1))
    grey = noise.mean(1, keepdim=True) * 1.6
    noise = torch.lerp(noise, grey, rng.uniform(0, 1, n, 1, 1, 1))
    return (image + noise * std * (0.4 + image.clamp_min(0).sqrt())).clamp(0, 1)


def dct_matrix(device: torch.device | str) -> Tensor:
    """The 8-point orthonormal DCT-II, [8, 8]."""
    k = torch.arange(8.0, device=device).view(8, 1)
    x = torch.arange(8.0, device=device).view(1, 8)
    basis = torch.cos(math.pi / 8 * (x + 0.5) * k) * 0.5
    basis[0] *= math.sqrt(0.5)
    return basis


def jpeg_compress(image: Tensor, rng: RandomGenerator) -> Tensor:
    """The loss of JPEG: the DCT of 8x8 blocks of luma and, at half size, of chroma, quantised with
    steps that grow with frequency."""
    n, _, height, width = image.shape
    y = luma(image)
    chroma = F.avg_pool2d(image - y, 2)
    basis = dct_matrix(image.device)
    k = torch.arange(8.0, device=image.device)
    growth = 1 + 0.9 * (k.view(8, 1) + k.view(1, 8))  # near the standard's table for luma

    def quantise(plane: Tensor, step: Tensor) -> Tensor:
        _, c, h, w = plane.shape
        rows, columns = h // 8 * 8, w // 8 * 8
        blocks = plane[:, :, :rows, :columns].reshape(n, c, h // 8, 8, w // 8, 8)
        spectrum = torch.einsum("ki,nchiwj,lj->nchwkl", basis, blocks, basis)
        table = growth * step.view(-1, 1, 1, 1, 1, 1)
        spectrum = torch.round(spectrum / table) * table
        blocks = torch.einsum("ki,nchwkl,lj->nchiwj", basis, spectrum, basis)
        result = plane.clone()
        result[:, :, :rows, :columns] = blocks.reshape(n, c, rows, columns)
        return result

    step = torch.exp(rng.uniform(math.log(0.01), math.log(0.12), n))
    chroma = quantise(chroma, 1.3 * step)
    chroma = F.interpolate(chroma, size=(height, width), mode="bilinear", align_corners=False)
    return (quantise(y, step) + chroma).clamp(0, 1)


def flicker(image: Tensor, rng: RandomGenerator) -> Tensor:
    """Another exposure for each picture of a sequence: a camera's control, and in a few sequences
    the light of a screen or a lamp."""
    n = image.shape[0]
    depth = torch.where(rng.bernoulli(0.08, n), rng.uniform(0.05, 0.3, n), rng.uniform(0, 0.03, n))
    change = rng.each_frame.normal(1, n, 3, 1, 1) * 0.3 + rng.each_frame.normal(1, n, 1, 1, 1)
    return (image * torch.exp(per_image(depth) * change)).clamp(0, 1)


def add_noise_and_compression(image: Tensor, rng: RandomGenerator, strength: float = 1.0) -> Tensor:
    """Applies what differs between two frames of a still scene: noise to all pictures, compression
    to some."""
    image = add_noise(image, rng, strength)
    compressed = rng.subset(0.35 * strength + 0.05, image.shape[0])
    if len(compressed):
        image[compressed] = jpeg_compress(image[compressed], rng)
    return image
