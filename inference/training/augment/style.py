# SPDX-License-Identifier: Apache-2.0
"""Augmentation of style: pictures in the colours of another picture, people in a few flat colours.
What is a person must not depend on either."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from augment.scene import RandomGenerator, per_image, sample_backgrounds
from train.data import PhotoSet

COLOUR_TRANSFER_RATE = 0.12  # of pictures
CARTOON_RATE = 0.06  # of pictures


def transfer_colour(image: Tensor, backgrounds: PhotoSet, rng: RandomGenerator) -> Tensor:
    """Moves mean and deviation of each channel of some pictures [n, 3, H, W] towards those of a
    photo of a room (after Reinhard et al., "Color Transfer between Images", 2001, in RGB)."""
    chosen = rng.subset(COLOUR_TRANSFER_RATE, image.shape[0])
    n = len(chosen)
    if not n:
        return image
    source, target = image[chosen], sample_backgrounds(backgrounds, n, (64, 64), rng, 1.0)
    share = rng.uniform(0.3, 1, n, 1, 1, 1)
    mean, target_mean = (planes.mean((2, 3), keepdim=True) for planes in (source, target))
    std, target_std = (planes.std((2, 3), keepdim=True) + 0.02 for planes in (source, target))
    contrast = torch.lerp(torch.ones_like(std), (target_std / std).clamp(0.4, 2), share)
    result = torch.lerp(mean, target_mean, share) + (source - mean) * contrast
    return image.index_copy(0, chosen, result.clamp(0, 1))


def cartoonise(image: Tensor, alpha: Tensor, rng: RandomGenerator) -> Tensor:
    """Shows the people of some pictures [n, 3, H, W], and in half of those the background too, in
    smooth areas of few colours: cartoons, avatars, posters. The outlines of `alpha` [n, 1, H, W]
    stay as sharp as they were."""
    chosen = rng.subset(CARTOON_RATE, image.shape[0])
    n = len(chosen)
    if not n:
        return image
    person, photo = alpha[chosen], image[chosen]
    # Details smaller than this are lost, in pixels of a frame of 384.
    detail = math.exp(rng.scalar(math.log(4), math.log(24)))
    longest = max(image.shape[2:])
    small = [max(2, round(side * 384 / longest / detail)) for side in image.shape[2:]]
    levels = rng.scalar(3, 12)  # of each channel

    def flatten(mask: Tensor) -> Tensor:
        inside = F.adaptive_avg_pool2d(mask, small) + 1e-3
        colours = F.adaptive_avg_pool2d(photo * mask + 1e-3 * photo, small) / inside
        smooth = F.interpolate(colours, size=image.shape[2:], mode="bilinear", align_corners=False)
        return torch.round(smooth * levels) / levels

    background = torch.where(per_image(rng.bernoulli(0.5, n)), flatten(1 - person), photo)
    return image.index_copy(0, chosen, torch.lerp(background, flatten(person), person).clamp(0, 1))
